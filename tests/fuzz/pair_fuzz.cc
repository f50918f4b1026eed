// The pair X,Y: the bytes up to the first NUL are X, the rest is Y.
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static elias::ThreadPool pool(1);
  const std::string_view bytes = elias::as_text(data, size);
  const size_t cut = std::min(bytes.find('\0'), bytes.size());
  const elias::MemoryFile x(bytes.substr(0, cut));
  const elias::MemoryFile y(bytes.substr(std::min(cut + 1, bytes.size())));
  try {
    elias::LabelSpace labels;
    const elias::Dataset set = elias::read_dataset(x.path() + "," + y.path(), {}, labels, pool);
    ELIAS_ASSERT(!set.info.has_text || set.texts.rows() == set.rows());
    ELIAS_ASSERT(!set.info.has_features || set.features.rows() == set.rows());
    elias::check_matrix(set.features);
    elias::check_matrix(set.labels);
  } catch (const elias::InputError&) {
  }
  return 0;
}
