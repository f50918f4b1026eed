#include "data/io/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "data/io/zip_records.h"

namespace elias {

using namespace zip;

namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void fail_damaged(const std::string& name, const char* what) {
  throw InputError("{}: the zip data is damaged ({}): copy or make the file again", name, what);
}

// A little-endian integer at `at`; bounds are the caller's.
template <typename T>
T get(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

Bytes part(Bytes bytes, uint64_t at, uint64_t size, const std::string& name, const char* what) {
  if (at > bytes.size() || size > bytes.size() - at) fail_damaged(name, what);
  return bytes.subspan(at, size);
}

struct Directory {
  uint64_t offset, size, count;
};

Directory find_directory(Bytes bytes, const std::string& name) {
  constexpr size_t kLongestComment = 0xffff;
  if (bytes.size() < kEndSize) fail_damaged(name, "too short");
  size_t at = bytes.size() - kEndSize;
  const size_t lowest = at - std::min(at, kLongestComment);
  while (get<uint32_t>(bytes, at) != kEndSignature) {
    if (at == lowest) fail_damaged(name, "no end record; was it cut off?");
    --at;
  }
  Directory found{get<uint32_t>(bytes, at + 16), get<uint32_t>(bytes, at + 12),
                  get<uint16_t>(bytes, at + 10)};
  if (at >= kLocator64Size && get<uint32_t>(bytes, at - kLocator64Size) == kLocator64Signature) {
    const auto end64 = get<uint64_t>(bytes, at - kLocator64Size + 8);
    const Bytes record = part(bytes, end64, kEnd64Size, name, "ZIP64 end record");
    if (get<uint32_t>(record, 0) != kEnd64Signature) fail_damaged(name, "ZIP64 end record");
    found = {get<uint64_t>(record, 48), get<uint64_t>(record, 40), get<uint64_t>(record, 32)};
  }
  return found;
}

// Sizes that do not fit 32 bits stand in the extra field with id 1, in a fixed order.
void read_zip64_extra(Bytes extra, ZipMember& member, const std::string& name) {
  while (extra.size() >= 4) {
    const auto id = get<uint16_t>(extra, 0);
    Bytes field = part(extra, 4, get<uint16_t>(extra, 2), name, "extra field");
    extra = extra.subspan(4 + field.size());
    if (id != 1) continue;
    for (uint64_t* value : {&member.size, &member.packed_size, &member.offset}) {
      if (*value != kIn64) continue;
      if (field.size() < 8) fail_damaged(name, "ZIP64 field");
      *value = get<uint64_t>(field, 0);
      field = field.subspan(8);
    }
  }
}

}  // namespace

std::vector<ZipMember> list_zip(Bytes bytes, const std::string& name) {
  const Directory directory = find_directory(bytes, name);
  Bytes left = part(bytes, directory.offset, directory.size, name, "directory");
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const Bytes entry = part(left, 0, kCentralSize, name, "directory entry");
    if (get<uint32_t>(entry, 0) != kCentralSignature) fail_damaged(name, "directory entry");
    const auto method = get<uint16_t>(entry, 10);
    if (method != kStored && method != kDeflated) {
      throw InputError(
          "{}: a member is packed with zip method {}: use numpy's savez or "
          "savez_compressed",
          name, method);
    }
    const size_t name_size = get<uint16_t>(entry, 28), extra_size = get<uint16_t>(entry, 30);
    const size_t comment_size = get<uint16_t>(entry, 32);
    const Bytes text = part(left, kCentralSize, name_size, name, "member name");
    const Bytes extra = part(left, kCentralSize + name_size, extra_size, name, "extra field");
    ZipMember member{.name = {reinterpret_cast<const char*>(text.data()), text.size()},
                     .size = get<uint32_t>(entry, 24),
                     .packed_size = get<uint32_t>(entry, 20),
                     .offset = get<uint32_t>(entry, 42),
                     .checksum = get<uint32_t>(entry, 16),
                     .deflated = method == kDeflated};
    read_zip64_extra(extra, member, name);
    members.push_back(std::move(member));
    const size_t whole = kCentralSize + name_size + extra_size + comment_size;
    left = part(left, whole, left.size() - std::min(whole, left.size()), name, "directory entry");
  }
  return members;
}

struct ZipMemberReader::State {
  std::string name;
  Bytes packed;
  uint64_t left;
  uint32_t expected_checksum;
  uint32_t checksum = 0;
  bool deflated;
  z_stream stream{};

  void read_stored(std::span<Bytef> into) {
    if (into.size() > packed.size()) fail_damaged(name, "member too short");
    if (!into.empty()) std::memcpy(into.data(), packed.data(), into.size());
    packed = packed.subspan(into.size());
  }

  void read_deflated(std::span<Bytef> into) {
    stream.next_out = into.data();
    stream.avail_out = static_cast<uInt>(into.size());
    while (stream.avail_out > 0) {
      const size_t some = std::min<size_t>(packed.size(), 1u << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
      stream.avail_in = static_cast<uInt>(some);
      const int result = inflate(&stream, Z_NO_FLUSH);
      packed = packed.subspan(some - stream.avail_in);
      const bool done = result == Z_STREAM_END && stream.avail_out == 0;
      if (!done && result != Z_OK) fail_damaged(name, "deflated data");
    }
  }
};

ZipMemberReader::ZipMemberReader(Bytes bytes, const ZipMember& member, std::string name)
    : state_(std::make_unique<State>()) {
  const Bytes header = part(bytes, member.offset, kLocalSize, name, "member header");
  if (get<uint32_t>(header, 0) != kLocalSignature) fail_damaged(name, "member header");
  // The local header has its own name and extra field, whose sizes need not equal the directory's.
  const uint64_t data =
      member.offset + kLocalSize + get<uint16_t>(header, 26) + get<uint16_t>(header, 28);
  state_->packed = part(bytes, data, member.packed_size, name, "member data");
  // Deflate packs at most 1 : 1032, so a larger claim is false; do not allocate for it.
  constexpr uint64_t kBestRatio = 1100;
  const uint64_t most = member.deflated ? member.packed_size * kBestRatio + 64 : member.packed_size;
  if (member.size > most) fail_damaged(name, "member size");
  state_->name = std::move(name);
  state_->left = member.size;
  state_->expected_checksum = member.checksum;
  state_->deflated = member.deflated;
  constexpr int kRawWindow = -15;
  if (member.deflated) ELIAS_ASSERT(inflateInit2(&state_->stream, kRawWindow) == Z_OK);
}

ZipMemberReader::~ZipMemberReader() {
  if (state_->deflated) inflateEnd(&state_->stream);
}

uint64_t ZipMemberReader::left() const { return state_->left; }

void ZipMemberReader::read(void* into, size_t size) {
  if (size > state_->left) fail_damaged(state_->name, "member too short");
  auto* at = static_cast<Bytef*>(into);
  while (size > 0) {
    const size_t some = std::min<size_t>(size, 1u << 30);
    if (state_->deflated) {
      state_->read_deflated({at, some});
    } else {
      state_->read_stored({at, some});
    }
    state_->checksum = static_cast<uint32_t>(crc32(state_->checksum, at, static_cast<uInt>(some)));
    at += some;
    size -= some;
    state_->left -= some;
  }
  if (state_->left == 0 && state_->checksum != state_->expected_checksum) {
    fail_damaged(state_->name, "checksum");
  }
}

}  // namespace elias
