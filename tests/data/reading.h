// Short ways for tests to read points and predictions from a string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "data/point_reader.h"

namespace elias {

struct ReadResult {
  SourceInfo info;
  LabelSpace labels;
  PointBatch points;  // all of them
};

inline ReadResult read_text(std::string_view bytes, const ReadOptions& options = {},
                            int threads = 2, LabelSpace labels = {}) {
  ThreadPool pool(threads);
  ReadResult result;
  result.labels = std::move(labels);
  const auto reader = open_points(bytes_in_memory(bytes, "f.txt"), options, result.labels, pool);
  result.info = reader->info();
  PointBatch batch;
  while (reader->next(batch)) {
    result.points.texts.append(batch.texts);
    result.points.features.append(batch.features);
    result.points.labels.append(batch.labels);
    result.points.lines.insert(result.points.lines.end(), batch.lines.begin(), batch.lines.end());
    result.points.repeated_labels += batch.repeated_labels;
    result.points.repeated_features += batch.repeated_features;
  }
  return result;
}

/// The message of the InputError that reading gives, or "" if it gives none.
inline std::string read_error(std::string_view bytes, const ReadOptions& options = {},
                              int threads = 2, LabelSpace labels = {}) {
  try {
    read_text(bytes, options, threads, std::move(labels));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline LabelSpace label_file(std::string_view bytes) {
  return LabelSpace::read(bytes_in_memory(bytes, "labels.txt"));
}

using Row = std::vector<std::pair<uint32_t, float>>;

inline Row row_of(const Csr& matrix, size_t i) {
  Row row;
  const CsrRow entries = matrix.row(i);
  for (size_t j = 0; j < entries.size(); ++j) {
    row.emplace_back(entries.columns[j], entries.values[j]);
  }
  return row;
}

}  // namespace elias
