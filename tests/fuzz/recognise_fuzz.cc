// The format is left to recognition; gzip is undone on the way.
#include "tests/fuzz/read_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  elias::fuzz_points(elias::as_text(data, size), std::nullopt);
  return 0;
}
