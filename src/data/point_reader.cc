#include "data/point_reader.h"

#include "base/errors.h"
#include "data/formats/pair_reader.h"
#include "data/formats/recognise.h"
#include "data/formats/text_points.h"

namespace elias {
namespace {

bool holds_numbers(Format format) { return format == Format::kSparse || format == Format::kMatrix; }

Format format_of(LineReader& lines, const ReadOptions& options) {
  if (options.format) return *options.format;
  const auto found = find_format(lines.peek().bytes);
  const bool plain = !found || (holds_numbers(*found) && !options.lines_argument.empty());
  if (plain && options.labels != ReadOptions::Labels::kNeeded) return Format::kLines;
  if (found) return *found;
  fail_format(lines.peek().bytes, lines.name(), "--format");
}

// `path` is empty where the source has none.
std::unique_ptr<PointReader> open_one(std::unique_ptr<ByteSource> source, const std::string& path,
                                      const ReadOptions& options, LabelSpace& labels,
                                      ThreadPool& pool) {
  auto lines = open_non_empty(std::move(source), options);
  const Format format = format_of(*lines, options);
  const bool half = format == Format::kMatrix || format == Format::kNpz || format == Format::kLines;
  if (!half) {
    return open_text(std::move(lines), format, MatrixRole::kLabels, options, labels, pool);
  }
  if (options.labels == ReadOptions::Labels::kNeeded) {
    throw InputError("{}: is one half of a pair ({}): give features or texts and labels as X,Y",
                     lines->name(), format_name(format));
  }
  ReadOptions as_found = options;
  as_found.format = format;
  return open_x(std::move(lines), path, as_found, labels, pool);
}

}  // namespace

std::unique_ptr<PointReader> open_points(std::unique_ptr<ByteSource> source,
                                         const ReadOptions& options, LabelSpace& labels,
                                         ThreadPool& pool) {
  return open_one(std::move(source), "", options, labels, pool);
}

std::unique_ptr<PointReader> open_points(const std::string& path, const ReadOptions& options,
                                         LabelSpace& labels, ThreadPool& pool) {
  if (const auto pair = split_pair(path)) {
    return open_pair(pair->first, pair->second, options, labels, pool);
  }
  return open_one(open_bytes(path), path, options, labels, pool);
}

Dataset read_dataset(const std::string& path, const ReadOptions& options, LabelSpace& labels,
                     ThreadPool& pool) {
  const auto reader = open_points(path, options, labels, pool);
  Dataset data;
  data.info = reader->info();
  PointBatch batch;
  while (reader->next(batch)) {
    data.texts.append(batch.texts);
    data.features.append(batch.features);
    data.labels.append(batch.labels);
  }
  data.labels.cols = labels.size();
  return data;
}

}  // namespace elias
