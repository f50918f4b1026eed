// npz: zip, npy and the matrix in them.
#include "data/io/npz.h"

#include "tests/fuzz/read_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    elias::check_matrix(elias::read_npz(std::as_bytes(std::span(data, size)), "fuzz"));
  } catch (const elias::InputError&) {
  }
  return 0;
}
