// The part of the ZIP format that numpy uses: stored and deflated members, with or without ZIP64.
//
// Reading goes by the central directory at the end of the file. Every size and offset is checked
// before it is used, and a member's checksum after it was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace elias {

struct ZipMember {
  std::string name;
  uint64_t size = 0;  // inflated
  uint64_t packed_size = 0;
  uint64_t offset = 0;  // of the local header
  uint32_t checksum = 0;
  bool deflated = false;
};

/// The members of a zip file held in `bytes`. `name` is for messages.
std::vector<ZipMember> list_zip(std::span<const std::byte> bytes, const std::string& name);

/// Reads one member front to back.
class ZipMemberReader {
 public:
  ZipMemberReader(std::span<const std::byte> bytes, const ZipMember& member, std::string name);
  ~ZipMemberReader();
  ZipMemberReader(const ZipMemberReader&) = delete;
  ZipMemberReader& operator=(const ZipMemberReader&) = delete;

  /// Fills `into` completely; throws InputError if the member is shorter or damaged.
  void read(void* into, size_t size);
  uint64_t left() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace elias
