// Label name files.
#include "data/label_space.h"

#include "tests/fuzz/read_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto space =
        elias::LabelSpace::read(elias::bytes_in_memory(elias::as_text(data, size), "fuzz"));
    ELIAS_ASSERT(space.size() > 0);
    for (uint32_t i = 0; i < space.size(); ++i) {
      ELIAS_ASSERT(space.names().find(space.names()[i]) <= i);
    }
  } catch (const elias::InputError&) {
  }
  return 0;
}
