#include "data/predictions.h"

#include "base/errors.h"
#include "data/formats/pair_reader.h"
#include "data/formats/recognise.h"
#include "data/formats/text_points.h"
#include "data/io/line_reader.h"
#include "data/io/numbers.h"

namespace elias {
namespace {

// Predictions differ from data in two ways: a line of label:score has no features, and a tsv line
// needs no TAB. The first lists may be empty.
Format recognise_predictions(std::string_view sample, const std::string& name) {
  if (header_of(sample, 2) || looks_sparse(sample)) return Format::kMatrix;
  std::string_view left = sample;
  std::string_view first;
  while (first.empty() && !left.empty()) first = take_line(left);
  if (const auto found = find_format(first)) return *found;
  if (first.find("::") != std::string_view::npos) return Format::kTsv;
  fail_format(first, name, "--prediction-format");
}

}  // namespace

Csr read_predictions(const std::string& path, std::optional<Format> format, LabelForm label_form,
                     LabelSpace& labels, ThreadPool& pool) {
  const ReadOptions options{
      .format = format, .label_form = label_form, .values = ReadOptions::Values::kScore};
  auto lines = open_non_empty(open_bytes(path), options);
  const Format found = format ? *format : recognise_predictions(lines->peek().bytes, lines->name());
  if (found == Format::kSparse || found == Format::kLines) {
    throw InputError("{}: holds points, not predictions ({}): give scored labels", lines->name(),
                     format_name(found));
  }
  if (found == Format::kNpz || found == Format::kMatrix) {
    return read_matrix(std::move(lines), path, MatrixRole::kLabels, options, labels, pool);
  }
  const auto reader =
      open_text(std::move(lines), found, MatrixRole::kLabels, options, labels, pool);
  Csr scores;
  PointBatch batch;
  while (reader->next(batch)) scores.append(batch.labels);
  scores.cols = labels.size();
  return scores;
}

std::vector<std::pair<uint64_t, LabelId>> read_filter(const std::string& path, uint64_t rows,
                                                      uint64_t labels) {
  LineReader reader(open_bytes(path));
  std::vector<std::pair<uint64_t, LabelId>> pairs;
  LineBlock block;
  while (reader.next(block)) {
    std::string_view left = block.bytes;
    for (uint64_t line = block.first_line; !left.empty(); ++line) {
      const std::string_view text = take_line(left);
      const auto pair = header_of(text, 2);
      if (!pair) {
        throw InputError("{}: {} is not a row and a label, two whole numbers from 0: mend the line",
                         place(reader.name(), line), shown(text));
      }
      const uint64_t row = (*pair)[0], label = (*pair)[1];
      if (row >= rows || label >= labels) {
        throw InputError(
            "{}: the pair {} {} is beyond the {} points and {} labels: is this the "
            "filter of another data set?",
            place(reader.name(), line), row, label, rows, labels);
      }
      pairs.emplace_back(row, LabelId(static_cast<uint32_t>(label)));
    }
  }
  return pairs;
}

}  // namespace elias
