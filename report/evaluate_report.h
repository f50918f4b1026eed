// Evaluations as people and programs read them: a table, a table by decile, a TSV by label, JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/label_deciles.h"
#include "data/label_space.h"
#include "metrics/evaluate.h"

namespace elias {

/// The evaluation of one file of predictions.
struct FileEvaluation {
  std::string name;
  uint64_t filtered = 0;        // pairs that the filter took out
  uint64_t unknown_labels = 0;  // predicted labels that neither truth nor training data has
  Evaluation result;
  /// Of a model: labels of its shortlist, where that is shorter than the deepest cut-off; else 0.
  uint64_t shortlist = 0;
};

/// Metrics as rows, files as columns, in percent; where there are several files the best of each
/// row is marked with '*'. Figures that a file does not have are shown as '-'.
std::string metrics_table(std::span<const FileEvaluation> files);

/// What the figures rest on and what was left out, a sentence a line. `training` may be null.
std::string metrics_notes(std::span<const FileEvaluation> files, const Training* training);

/// One row a group of labels, the figures at the largest cut-offs.
std::string decile_table(const FileEvaluation& file, const LabelDeciles& deciles);

/// One line a label under a header line.
std::string label_tsv(const Evaluation& evaluation, const Training* training,
                      const LabelSpace& labels);

nlohmann::ordered_json evaluation_json(std::span<const FileEvaluation> files,
                                       const Training* training, const LabelDeciles* deciles);

}  // namespace elias
