#include "data/io/line_reader.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace elias {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOtherCompressions[] = {
    {"\xfd"
     "7zXZ",
     "xz"},
    {"\x28\xb5\x2f\xfd", "zstd"},
    {"BZh", "bzip2"}};

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source, size_t block_bytes, bool as_it_comes)
    : source_(std::move(source)),
      block_bytes_(block_bytes),
      next_block_bytes_(std::min(block_bytes, size_t{1} << 15)),
      as_it_comes_(as_it_comes) {}

const LineBlock& LineReader::peek() {
  if (!has_peeked_) has_peeked_ = read_block(peeked_);
  return peeked_;
}

bool LineReader::next(LineBlock& block) {
  if (!has_peeked_) return read_block(block);
  has_peeked_ = false;
  block = std::move(peeked_);
  peeked_ = {};
  return true;
}

std::string LineReader::take_all() {
  has_peeked_ = false;
  std::string bytes = std::move(peeked_.bytes) + carry_;
  return bytes + read_all(*source_);
}

bool LineReader::read_block(LineBlock& block) {
  block.bytes = std::move(carry_);
  carry_.clear();
  block.first_line = next_line_;
  size_t last_newline = std::string::npos;
  while (!ended_ && last_newline == std::string::npos && block.bytes.size() <= kLongestLine) {
    fill(block.bytes);
    last_newline = block.bytes.rfind('\n');
  }
  // No buffer is longer than this by more than a byte, so only the first line of a block can be.
  if (std::min(block.bytes.find('\n'), block.bytes.size()) > kLongestLine) {
    throw InputError(
        "{}: the line is longer than {} MiB: split it, or check that this is a text file with line "
        "ends",
        place(name(), next_line_), kLongestLine >> 20);
  }
  if (!ended_) {
    carry_.assign(block.bytes, last_newline + 1);
    block.bytes.resize(last_newline + 1);
  }
  next_line_ += static_cast<uint64_t>(std::count(block.bytes.begin(), block.bytes.end(), '\n'));
  return !block.bytes.empty();
}

void LineReader::fill(std::string& bytes) {
  size_t filled = bytes.size();
  bytes.resize(std::clamp(2 * filled, next_block_bytes_, kLongestLine + 1));
  next_block_bytes_ = std::min(2 * next_block_bytes_, block_bytes_);
  while (filled < bytes.size() && !ended_) {
    const size_t count = source_->read(bytes.data() + filled, bytes.size() - filled);
    filled += count;
    ended_ = count == 0;
    // What a source gives at once is what is there; another read might wait.
    const auto fresh = std::string_view(bytes).substr(filled - count, count);
    if (as_it_comes_ && fresh.find('\n') != std::string_view::npos) break;
  }
  bytes.resize(filled);
  if (!at_start_) return;
  at_start_ = false;
  for (const auto& [magic, program] : kOtherCompressions) {
    if (!bytes.starts_with(magic)) continue;
    throw InputError("{}: is compressed with {}: unpack it first (gzip is read as it is)", name(),
                     program);
  }
  if (bytes.starts_with("\xef\xbb\xbf")) {
    bytes.erase(0, 3);
  } else if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
    throw InputError("{}: is UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8", name());
  }
}

std::string place(const std::string& name, uint64_t line) {
  return fmt::format("{}:{}", name, line);
}

}  // namespace elias
