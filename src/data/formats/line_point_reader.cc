#include "data/formats/line_point_reader.h"

#include <algorithm>

#include "base/errors.h"
#include "data/formats/recognise.h"

namespace elias {
namespace {

uint64_t width_of(const Csr& matrix) {
  if (matrix.columns.empty()) return 0;
  return uint64_t{*std::max_element(matrix.columns.begin(), matrix.columns.end())} + 1;
}

}  // namespace

LinePointReader::LinePointReader(SourceInfo info, std::unique_ptr<LineReader> lines,
                                 std::unique_ptr<BlockParser> parser, LabelForm form,
                                 bool skip_header, bool as_it_comes, LabelSpace& labels,
                                 ThreadPool& pool)
    : lines_(std::move(lines)),
      parser_(std::move(parser)),
      form_(form),
      skip_header_(skip_header),
      as_it_comes_(as_it_comes),
      labels_(labels),
      pool_(pool),
      feature_count_(info.promised_features.value_or(0)) {
  info_ = std::move(info);
}

bool LinePointReader::next(PointBatch& batch) {
  do {
    if (position_ == wave_.size()) refill();
    if (position_ == wave_.size()) {
      check_end();
      return false;
    }
    take(wave_[position_++], batch);
  } while (batch.rows() == 0);  // a block that held the header alone
  return true;
}

void LinePointReader::take(Task& task, PointBatch& batch) {
  if (task.failure) std::rethrow_exception(task.failure);
  const LabelForm form = task.parsed.form;
  // Ids are all that features go with; beside a text stand ids or names, and the space is told.
  const bool could_be_names = info_.has_text && info_.format != Format::kLines;
  if (could_be_names && form != LabelForm::kUnknown && !labels_.closed()) labels_.set_form(form);
  if (form == LabelForm::kNames) resolve_names(task.parsed);
  batch = std::move(task.parsed.points);
  task = {};
  if (form == LabelForm::kIds) labels_.cover_ids(width_of(batch.labels));
  feature_count_ = std::max(feature_count_, width_of(batch.features));
  batch.features.cols = feature_count_;
  batch.labels.cols = labels_.size();
  rows_ += batch.rows();
  check_rows(batch);
}

// Parses the wave that was read last time and reads the one after it.
void LinePointReader::refill() {
  if (!started_ || as_it_comes_) {
    next_wave_ = read_wave();
    started_ = true;
  }
  wave_ = std::move(next_wave_);
  next_wave_.clear();
  position_ = 0;
  if (wave_.empty()) return;
  pool_.for_each(wave_.size() + 1, [&](size_t i) {
    if (i == 0) {
      if (!as_it_comes_) next_wave_ = read_wave();
      return;
    }
    Task& task = wave_[i - 1];
    if (task.failure) return;
    try {
      parser_->parse(task.lines, task.parsed);
    } catch (...) {
      task.failure = std::current_exception();
    }
    task.lines.bytes = {};
  });
}

std::vector<LinePointReader::Task> LinePointReader::read_wave() {
  const size_t blocks = as_it_comes_ ? 1 : 2 * static_cast<size_t>(pool_.threads());
  std::vector<Task> wave;
  while (wave.size() < blocks) {
    Task task;
    try {
      if (!lines_->next(task.lines)) break;
      if (skip_header_) {
        std::string_view rest = task.lines.bytes;
        take_line(rest);
        task.lines.bytes.erase(0, task.lines.bytes.size() - rest.size());
        ++task.lines.first_line;
        skip_header_ = false;
      }
      // The first label of the file tells. Blocks before it have none to be told of.
      if (form_ == LabelForm::kUnknown) {
        form_ = recognise_label_form(task.lines.bytes, info_.format);
      }
      task.parsed.form = form_;
    } catch (...) {
      task.failure = std::current_exception();
      wave.push_back(std::move(task));
      break;
    }
    wave.push_back(std::move(task));
  }
  return wave;
}

void LinePointReader::resolve_names(ParsedBlock& block) {
  std::vector<uint32_t> ids(block.names.size());
  for (uint32_t i = 0; i < ids.size(); ++i) {
    ids[i] = labels_.resolve_name(block.names[i], place(info_.name, block.name_lines[i])).value();
  }
  // Ids follow the order of appearance in the block, not that of the whole file: sort anew.
  Csr& labels = block.points.labels;
  Csr sorted;
  sorted.offsets.reserve(labels.offsets.size());
  for (size_t row = 0; row < labels.rows(); ++row) {
    for (uint32_t index : labels.row(row).columns) sorted.columns.push_back(ids[index]);
    sorted.values.insert(sorted.values.end(), labels.row(row).values.begin(),
                         labels.row(row).values.end());
    block.points.repeated_labels += sorted.finish_row(Csr::Repeats::kMaximum);
  }
  labels = std::move(sorted);
}

void LinePointReader::check_rows(const PointBatch& batch) const {
  if (!info_.promised_rows || rows_ <= *info_.promised_rows) return;
  const uint64_t line = batch.lines[batch.rows() - (rows_ - *info_.promised_rows)];
  throw InputError(
      "{}: the header promises {} rows, but here is another: mend the header or remove the line",
      place(info_.name, line), *info_.promised_rows);
}

void LinePointReader::check_end() const {
  if (!info_.promised_rows || rows_ == *info_.promised_rows) return;
  throw InputError(
      "{}: the header promises {} rows, the file has {}: mend the header, or copy the file again "
      "if "
      "it was cut off",
      info_.name, *info_.promised_rows, rows_);
}

}  // namespace elias
