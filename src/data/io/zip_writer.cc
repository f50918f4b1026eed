#include "data/io/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/errors.h"
#include "data/io/zip_records.h"

namespace elias {

using namespace zip;

namespace {

// A little-endian record being put together.
class Record {
 public:
  template <typename T>
  Record& add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Record& add_text(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr uint16_t kVersion64 = 45;      // ZIP64 needs this version to extract
constexpr uint16_t kFlagDescriptor = 8;  // sizes follow the data
constexpr uint16_t kDate1980 = 0x21;     // 1 January 1980: the same bytes whenever it is written

}  // namespace

struct ZipWriter::State {
  struct Member {
    std::string name;
    uint64_t size = 0, packed_size = 0, offset = 0;
    uint32_t checksum = 0;
  };
  ByteSink* sink = nullptr;
  uint64_t position = 0;
  std::vector<Member> members;
  z_stream stream{};
  bool open = false;

  void put(std::string_view bytes) {
    sink->write(bytes);
    position += bytes.size();
  }

  void deflate_some(const void* data, size_t size, int flush) {
    char buffer[1 << 15];
    stream.next_in = static_cast<Bytef*>(const_cast<void*>(data));
    stream.avail_in = static_cast<uInt>(size);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof(buffer);
      deflate(&stream, flush);
      put({buffer, sizeof(buffer) - stream.avail_out});
    } while (stream.avail_out == 0);
  }
};

ZipWriter::ZipWriter(ByteSink& sink) : state_(std::make_unique<State>()) { state_->sink = &sink; }

ZipWriter::~ZipWriter() {
  if (state_->open) deflateEnd(&state_->stream);
}

void ZipWriter::begin(const std::string& member) {
  ELIAS_ASSERT(!state_->open);
  state_->members.push_back({.name = member, .offset = state_->position});
  Record header;
  header.add(kLocalSignature).add(kVersion64).add(kFlagDescriptor).add(kDeflated);
  header.add(uint16_t{0}).add(kDate1980).add(uint32_t{0});  // time, date, checksum to come
  header.add(kIn64).add(kIn64);
  header.add(static_cast<uint16_t>(member.size())).add(uint16_t{20}).add_text(member);
  header.add(uint16_t{1}).add(uint16_t{16}).add(uint64_t{0}).add(uint64_t{0});  // ZIP64 sizes
  state_->put(header.bytes());
  // Level 1: label and feature matrices are written more often than they are shipped.
  constexpr int kRawWindow = -15, kMemory = 8, kLevel = 1;
  state_->stream = {};
  ELIAS_ASSERT(deflateInit2(&state_->stream, kLevel, Z_DEFLATED, kRawWindow, kMemory,
                            Z_DEFAULT_STRATEGY) == Z_OK);
  state_->open = true;
}

void ZipWriter::write(const void* data, size_t size) {
  State::Member& member = state_->members.back();
  const auto* at = static_cast<const Bytef*>(data);
  member.size += size;
  while (size > 0) {
    const size_t some = std::min<size_t>(size, 1u << 30);
    member.checksum = static_cast<uint32_t>(crc32(member.checksum, at, static_cast<uInt>(some)));
    state_->deflate_some(at, some, Z_NO_FLUSH);
    at += some;
    size -= some;
  }
}

void ZipWriter::end() {
  state_->deflate_some(nullptr, 0, Z_FINISH);
  deflateEnd(&state_->stream);
  state_->open = false;
  State::Member& member = state_->members.back();
  const size_t header = kLocalSize + member.name.size() + 20;
  member.packed_size = state_->position - member.offset - header;
  Record descriptor;
  descriptor.add(kDescriptorSignature).add(member.checksum);
  descriptor.add(member.packed_size).add(member.size);
  state_->put(descriptor.bytes());
}

void ZipWriter::finish() {
  ELIAS_ASSERT(!state_->open);
  const uint64_t start = state_->position;
  for (const State::Member& member : state_->members) {
    Record entry;
    entry.add(kCentralSignature).add(kVersion64).add(kVersion64).add(kFlagDescriptor);
    entry.add(kDeflated).add(uint16_t{0}).add(kDate1980).add(member.checksum);
    entry.add(kIn64).add(kIn64).add(static_cast<uint16_t>(member.name.size()));
    entry.add(uint16_t{28}).add(uint16_t{0}).add(uint16_t{0});  // extra, comment, disk
    entry.add(uint16_t{0}).add(uint32_t{0}).add(kIn64).add_text(member.name);
    entry.add(uint16_t{1}).add(uint16_t{24});
    entry.add(member.size).add(member.packed_size).add(member.offset);
    state_->put(entry.bytes());
  }
  const uint64_t size = state_->position - start;
  const uint64_t count = state_->members.size();
  const uint64_t end64 = state_->position;
  Record end;
  end.add(kEnd64Signature).add(uint64_t{kEnd64Size - 12}).add(kVersion64).add(kVersion64);
  end.add(uint32_t{0}).add(uint32_t{0}).add(count).add(count).add(size).add(start);
  end.add(kLocator64Signature).add(uint32_t{0}).add(end64).add(uint32_t{1});
  end.add(kEndSignature).add(uint16_t{0}).add(uint16_t{0});
  end.add(static_cast<uint16_t>(count)).add(static_cast<uint16_t>(count));
  end.add(kIn64).add(kIn64).add(uint16_t{0});
  state_->put(end.bytes());
}

}  // namespace elias
