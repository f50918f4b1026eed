// Predictions in every form, and filter files.
#include "data/predictions.h"

#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/read_points.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static elias::ThreadPool pool(1);
  const elias::MemoryFile file(elias::as_text(data, size));
  try {
    elias::LabelSpace labels;
    elias::check_matrix(elias::read_predictions(file.path(), std::nullopt,
                                                elias::LabelForm::kUnknown, labels, pool));
  } catch (const elias::InputError&) {
  }
  try {
    for (const auto& [row, label] : elias::read_filter(file.path(), 10, 10)) {
      ELIAS_ASSERT(row < 10 && label.value() < 10);
    }
  } catch (const elias::InputError&) {
  }
  return 0;
}
