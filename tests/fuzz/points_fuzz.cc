// Every reader of labelled points: a file is read, or refused with an InputError, and what was read
// keeps the promises of a Dataset. The first byte says which format to insist on, as a digit; any
// other byte leaves it to recognition. Compressed files and npz are recognised from their content.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/errors.h"
#include "data/point_reader.h"
#include "tests/fuzz/memory_file.h"

namespace {

void check_rows(const elias::Csr& matrix) {
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const elias::CsrRow row = matrix.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      ELIAS_ASSERT(row.columns[j] < matrix.cols);
      ELIAS_ASSERT(j == 0 || row.columns[j - 1] < row.columns[j]);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using elias::Format;
  if (size == 0) return 0;
  elias::ReadOptions options;
  const unsigned choice = data[0] - '0';
  if (choice <= static_cast<unsigned>(Format::kLines)) options.format = static_cast<Format>(choice);
  const elias::MemoryFile file({reinterpret_cast<const char*>(data) + 1, size - 1});

  static elias::ThreadPool pool(1);
  try {
    elias::LabelSpace labels;
    const elias::Dataset set = elias::read_dataset(file.path(), options, labels, pool);
    ELIAS_ASSERT(!set.info.has_text || set.texts.rows() == set.rows());
    ELIAS_ASSERT(!set.info.has_features || set.features.rows() == set.rows());
    check_rows(set.features);
    check_rows(set.labels);
  } catch (const elias::InputError&) {
    // The right answer to a file that is not right.
  }
  return 0;
}
