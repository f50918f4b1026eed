// Predictions as files: the forms that `elias evaluate` and everybody's scripts read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/csr.h"
#include "model/model.h"

namespace elias::cli {

class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  /// The next points: n x L scores.
  virtual void write(const Csr& scores) = 0;
  /// Lets a reader of standard output have what is there so far, if the form is one of lines.
  virtual void flush() = 0;
  virtual void commit() = 0;
};

/// False of a label's name with a sign that tsv has a meaning for.
bool fits_into_tsv(std::string_view name);

/// `format` is tsv, jsonl or npz. Throws InputError if it cannot hold the model's label names.
std::unique_ptr<PredictionWriter> create_predictions(const std::string& path,
                                                     const std::string& format, const Model& model);

}  // namespace elias::cli
