// Where a request's head and body end, as strictly as the standard has it.
//
// The library skips lines of a head that it cannot read, and takes almost anything for the size of
// a chunk. A proxy in front may read the same bytes otherwise, and then one of the two takes part
// of a body for the next request. So the bytes pass through here first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elias::server {

/// Whether a line after a request line, with its line end, can be read in one way alone: NAME:
/// VALUE, or the empty line that ends a head.
bool is_header_line(std::string_view line);

/// Follows a chunked body. Chunks without extensions and without trailers, which no client needs.
class ChunkFraming {
 public:
  /// The next bytes. False if they are not well formed; it is over then.
  bool takes(std::string_view bytes);

 private:
  bool takes_line(std::string_view line);

  std::string line_;   // as far as it has come
  size_t data_ = 0;    // bytes of the chunk that are still to come
  bool ends_ = false;  // the next line ends a chunk
};

}  // namespace elias::server
