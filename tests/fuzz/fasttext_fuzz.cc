// fastText's lines.
#include "tests/fuzz/read_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  elias::fuzz_points(elias::as_text(data, size), elias::Format::kFastText);
  return 0;
}
