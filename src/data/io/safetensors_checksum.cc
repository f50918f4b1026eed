// The checksum of our safetensors files: a hash of the header, with the checksum's own digits read
// as zeros, and of the data. It finds damage, not malice.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/hash.h"
#include "data/io/safetensors.h"

namespace elias {
namespace {

constexpr size_t kLength = 8, kDigits = 16;
constexpr std::string_view kField = "\"checksum\":\"";

// Four lanes side by side, so that a multiplication need not wait for the one before it. Takes the
// data in pieces of any size; only all of it together decides the hash.
class DataHash {
 public:
  void add(std::string_view piece) {
    if (!pending_.empty()) {
      const size_t missing = std::min(kBlock - pending_.size(), piece.size());
      pending_ += piece.substr(0, missing);
      piece.remove_prefix(missing);
      if (pending_.size() < kBlock) return;
      add_block(pending_.data());
      pending_.clear();
    }
    for (; piece.size() >= kBlock; piece.remove_prefix(kBlock)) add_block(piece.data());
    pending_ = piece;
  }

  uint64_t finish() const {
    const uint64_t rest = hash_bytes(pending_);
    return mix_bits(lanes_[0] ^ mix_bits(lanes_[1], kMultiplier),
                    lanes_[2] ^ mix_bits(lanes_[3] ^ rest, kMultiplier));
  }

 private:
  static constexpr size_t kLanes = 4, kBlock = kLanes * sizeof(uint64_t);
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

  void add_block(const char* block) {
    std::array<uint64_t, kLanes> words;
    std::memcpy(words.data(), block, kBlock);
    for (size_t i = 0; i < kLanes; ++i) lanes_[i] = mix_bits(lanes_[i] ^ words[i], kMultiplier + i);
  }

  // Numbers that data does not hold by chance: a lane that meets itself would stay at zero.
  std::array<uint64_t, kLanes> lanes_ = {0x8BB84B93962EACC9, 0x4B33A62ED433D4A3, 0x4D5A2DA51DE1AA47,
                                         0xC2B2AE3D27D4EB4F};
  std::string pending_;  // less than a block
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::optional<std::string> safetensors_checksum(
    std::string header, const std::vector<std::span<const std::byte>>& data) {
  const size_t field = header.find(kField);
  if (field == std::string::npos || field + kField.size() + kDigits > header.size()) {
    return std::nullopt;
  }
  header.replace(field + kField.size(), kDigits, kDigits, '0');
  DataHash hash;
  for (const auto piece : data) hash.add(text_of(piece));
  return fmt::format("{:016x}", hash_bytes(header) ^ hash.finish());
}

std::optional<std::string> safetensors_checksum(std::span<const std::byte> file) {
  uint64_t length = 0;
  if (file.size() >= kLength) std::memcpy(&length, file.data(), kLength);
  if (length == 0 || length > file.size() - kLength) return std::nullopt;
  return safetensors_checksum(std::string(text_of(file.first(kLength + length))),
                              {file.subspan(kLength + length)});
}

}  // namespace elias
