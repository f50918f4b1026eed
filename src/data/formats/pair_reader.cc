#include "data/formats/pair_reader.h"

#include <algorithm>
#include <filesystem>

#include "base/errors.h"
#include "data/formats/recognise.h"
#include "data/io/npz.h"

namespace elias {
namespace {

// A matrix in memory, handed out in batches.
class MatrixReader : public PointReader {
 public:
  MatrixReader(std::string name, Csr features) : features_(std::move(features)) {
    info_ = {.name = std::move(name),
             .format = Format::kNpz,
             .has_features = true,
             .promised_rows = features_.rows(),
             .promised_features = features_.cols,
             .promised_labels = {}};
  }

  bool next(PointBatch& batch) override {
    constexpr size_t kBatch = 4096;
    const size_t count = std::min(kBatch, features_.rows() - row_);
    batch = {};
    batch.features = slice(features_, row_, row_ + count);
    batch.labels.offsets.assign(count + 1, 0);
    row_ += count;
    return count > 0;
  }

  static Csr slice(const Csr& matrix, size_t begin, size_t end) {
    const uint64_t first = matrix.offsets[begin], last = matrix.offsets[end];
    Csr rows;
    rows.cols = matrix.cols;
    rows.offsets.clear();
    for (size_t i = begin; i <= end; ++i) rows.offsets.push_back(matrix.offsets[i] - first);
    const auto cut = [&](const auto& all) {
      return std::vector(all.begin() + static_cast<ptrdiff_t>(first),
                         all.begin() + static_cast<ptrdiff_t>(last));
    };
    rows.columns = cut(matrix.columns);
    rows.values = cut(matrix.values);
    return rows;
  }

 private:
  Csr features_;
  size_t row_ = 0;
};

class PairReader : public PointReader {
 public:
  PairReader(std::unique_ptr<PointReader> x, Csr y, const std::string& y_name)
      : x_(std::move(x)), y_(std::move(y)), y_name_(y_name) {
    info_ = x_->info();
    info_.name = fmt::format("{},{}", info_.name, y_name);
    info_.promised_labels = y_.cols;
  }

  bool next(PointBatch& batch) override {
    if (!x_->next(batch)) {
      if (row_ != y_.rows()) fail_rows(row_);
      return false;
    }
    const size_t count = batch.rows();
    if (row_ + count > y_.rows()) {
      while (x_->next(batch)) row_ += batch.rows();
      fail_rows(row_ + count);
    }
    batch.labels = MatrixReader::slice(y_, row_, row_ + count);
    row_ += count;
    return true;
  }

 private:
  [[noreturn]] void fail_rows(size_t rows) const {
    throw InputError("{}: has {} rows, but {} has {}: give two files of the same points",
                     x_->info().name, rows, y_name_, y_.rows());
  }

  std::unique_ptr<PointReader> x_;
  Csr y_;
  std::string y_name_;
  size_t row_ = 0;
};

bool is_zip(std::string_view sample) { return sample.starts_with("PK"); }

// What an X file is: a matrix with or without its header, npz, or else plain texts.
Format format_of_x(std::string_view sample, const ReadOptions& options) {
  const auto& wanted = options.format;
  if (wanted == Format::kLines || wanted == Format::kMatrix || wanted == Format::kNpz) {
    return *wanted;
  }
  if (is_zip(sample)) return Format::kNpz;
  if (!options.lines_argument.empty()) return Format::kLines;
  return header_of(sample, 2) || looks_like_matrix(sample) ? Format::kMatrix : Format::kLines;
}

// Holds a label matrix from npz to the rules that the text formats follow line by line.
Csr checked_labels(Csr matrix, const std::string& name, const ReadOptions& options,
                   LabelSpace& labels) {
  labels.require_ids(name);
  labels.require_size(matrix.cols, name);
  if (options.values == ReadOptions::Values::kScore) return matrix;
  const auto least = std::min_element(matrix.values.begin(), matrix.values.end());
  if (least == matrix.values.end() || *least > 0) return matrix;
  if (*least < 0) {
    throw InputError("{}: holds the relevance {}: give numbers above 0", name, *least);
  }
  Csr positive;
  positive.cols = matrix.cols;
  for (size_t row = 0; row < matrix.rows(); ++row) {
    const CsrRow entries = matrix.row(row);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries.values[i] == 0) continue;
      positive.columns.push_back(entries.columns[i]);
      positive.values.push_back(entries.values[i]);
    }
    positive.finish_row(Csr::Repeats::kMaximum);
  }
  return positive;
}

// An npz file whose start `lines` has already taken. A file on disk is mapped; what comes from a
// pipe or out of gzip cannot be.
Csr read_peeked_npz(LineReader& lines, const std::string& path) {
  if (!is_zip(lines.peek().bytes)) {
    throw InputError("{}: is not npz (it lacks the zip signature): name its format, or none",
                     lines.name());
  }
  if (is_mappable_npz(path)) return read_npz(path);
  const std::string bytes = lines.take_all();
  return read_npz(std::as_bytes(std::span(bytes)), lines.name());
}

}  // namespace

std::optional<std::pair<std::string, std::string>> split_pair(const std::string& path) {
  const size_t comma = path.find(',');
  std::error_code ignored;  // a name that is too long is no file
  if (comma == std::string::npos || std::filesystem::exists(path, ignored)) return std::nullopt;
  return std::pair(path.substr(0, comma), path.substr(comma + 1));
}

Csr read_matrix(std::unique_ptr<LineReader> lines, const std::string& path, MatrixRole role,
                const ReadOptions& options, LabelSpace& labels, ThreadPool& pool) {
  if (options.format == Format::kNpz || is_zip(lines->peek().bytes)) {
    Csr matrix = read_peeked_npz(*lines, path);
    if (role == MatrixRole::kFeatures) return matrix;
    return checked_labels(std::move(matrix), lines->name(), options, labels);
  }
  const auto reader = open_text(std::move(lines), Format::kMatrix, role, options, labels, pool);
  Csr matrix;
  PointBatch batch;
  while (reader->next(batch)) {
    matrix.append(role == MatrixRole::kLabels ? batch.labels : batch.features);
  }
  const auto promised = role == MatrixRole::kLabels ? reader->info().promised_labels
                                                    : reader->info().promised_features;
  matrix.cols = std::max(matrix.cols, promised.value_or(0));
  return matrix;
}

std::unique_ptr<PointReader> open_x(std::unique_ptr<LineReader> lines, const std::string& path,
                                    const ReadOptions& options, LabelSpace& labels,
                                    ThreadPool& pool) {
  const Format format = format_of_x(lines->peek().bytes, options);
  if (format == Format::kNpz) {
    return std::make_unique<MatrixReader>(lines->name(), read_peeked_npz(*lines, path));
  }
  return open_text(std::move(lines), format, MatrixRole::kFeatures, options, labels, pool);
}

std::unique_ptr<PointReader> open_pair(const std::string& x_path, const std::string& y_path,
                                       const ReadOptions& options, LabelSpace& labels,
                                       ThreadPool& pool) {
  if (x_path.empty() || y_path.empty() || (x_path == "-" && y_path == "-")) {
    throw InputError("{},{}: is not a pair of files: give the points and their labels as X,Y",
                     x_path, y_path);
  }
  ReadOptions y_options = options;
  y_options.format.reset();  // --format is about the points
  Csr y = read_matrix(open_non_empty(open_bytes(y_path), y_options), y_path, MatrixRole::kLabels,
                      y_options, labels, pool);
  auto x = open_x(open_non_empty(open_bytes(x_path), options), x_path, options, labels, pool);
  return std::make_unique<PairReader>(std::move(x), std::move(y), y_path);
}

}  // namespace elias
