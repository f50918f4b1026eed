#include "data/label_matrix.h"

#include "data/formats/pair_reader.h"
#include "data/formats/recognise.h"
#include "data/formats/text_points.h"
#include "data/io/line_reader.h"

namespace elias {
namespace {

LabelMatrix read_all(PointReader& reader, const LabelSpace& labels) {
  LabelMatrix result;
  PointBatch batch;
  while (reader.next(batch)) result.labels.append(batch.labels);
  result.labels.cols = labels.size();
  result.promised = reader.info().promised_labels;
  return result;
}

}  // namespace

LabelMatrix read_label_matrix(const std::string& path, const ReadOptions& options,
                              LabelSpace& labels, ThreadPool& pool) {
  if (split_pair(path)) {
    return read_all(*open_points(path, options, labels, pool), labels);
  }
  auto lines = open_non_empty(open_bytes(path), options);
  const std::string_view sample = lines->peek().bytes;
  const auto found = options.format ? options.format : find_format(sample);
  if (!found) fail_format(sample, lines->name(), "--format");
  const Format format = *found;
  if (format != Format::kNpz && format != Format::kMatrix) {
    return read_all(
        *open_text(std::move(lines), format, MatrixRole::kLabels, options, labels, pool), labels);
  }
  const bool promises = format == Format::kNpz || header_of(sample, 2);
  LabelMatrix result;
  result.labels = read_matrix(std::move(lines), path, MatrixRole::kLabels, options, labels, pool);
  if (promises) result.promised = result.labels.cols;
  return result;
}

}  // namespace elias
