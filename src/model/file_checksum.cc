#include "model/file_checksum.h"

#include <fmt/format.h>

#include <vector>

#include "base/hash.h"

namespace elias {

std::string file_checksum(std::span<const std::byte> bytes, ThreadPool& pool) {
  constexpr size_t kPiece = size_t{1} << 14;
  constexpr size_t kPiecesPerChunk = 64;
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<uint64_t> hashes(chunk_count(all.size(), kPiece));
  pool.for_chunks(hashes.size(), kPiecesPerChunk, [&](size_t, size_t begin, size_t end) {
    hash_pieces(all.substr(begin * kPiece, (end - begin) * kPiece), kPiece,
                std::span(hashes).subspan(begin, end - begin));
  });
  return fmt::format("{:016x}", hash_bytes({reinterpret_cast<const char*>(hashes.data()),
                                            hashes.size() * sizeof(uint64_t)}));
}

}  // namespace elias
