#include "data/check/doctor.h"

#include <algorithm>

#include "base/hash.h"
#include "base/progress.h"

namespace elias {
namespace {

// What one pass over a point's text or features finds out.
struct PointFacts {
  uint64_t hash = 0;
  uint64_t words = 0;
  uint32_t suspicions = 0;
};

uint64_t count_words(std::string_view text) {
  uint64_t words = 0;
  bool inside = false;
  for (char c : text) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    words += !blank && !inside;
    inside = !blank;
  }
  return words;
}

template <typename T>
std::string_view as_chars(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

PointFacts facts_of_text(std::string_view text) {
  return {hash_bytes(text), count_words(text), find_suspicions(text)};
}

PointFacts facts_of_features(const CsrRow& row) {
  return {hash_bytes(as_chars(row.columns)) * 31 + hash_bytes(as_chars(row.values)), 0, 0};
}

void check_names(const StringTable& names, CheckReport& report) {
  for (uint32_t id = 0; id < names.size(); ++id) {
    report.empty_names += names[id].empty();
    report.repeated_names += !names[id].empty() && names.find(names[id]) != id;
    if (!names[id].starts_with(' ') && !names[id].ends_with(' ')) continue;
    if (report.padded_names++ == 0) report.padded_example = names[id];
  }
}

}  // namespace

void DataDoctor::examine(PointReader& reader) {
  FileState& state = files_.emplace_back();
  state.report.info = reader.info();
  Progress progress("checking " + reader.info().name, "points",
                    reader.info().promised_rows.value_or(0));
  PointBatch batch;
  while (reader.next(batch)) {
    add_batch(batch, state);
    progress.advance(batch.rows());
  }
  const auto& counts = state.label_counts;
  state.report.labels_used =
      static_cast<uint64_t>(counts.size()) -
      static_cast<uint64_t>(std::count(counts.begin(), counts.end(), uint64_t{0}));
  find_duplicates(state);
}

void DataDoctor::add_batch(const PointBatch& batch, FileState& state) {
  FileReport& report = state.report;
  const bool has_text = report.info.has_text, has_features = report.info.has_features;
  std::vector<PointFacts> facts(batch.rows());
  constexpr size_t kGrain = 256;
  pool_.for_chunks(batch.rows(), kGrain, [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      facts[row] = has_text ? facts_of_text(batch.texts.row(row))
                            : facts_of_features(batch.features.row(row));
    }
  });
  for (size_t row = 0; row < batch.rows(); ++row) {
    const uint64_t where = batch.lines.empty() ? report.points + row + 1 : batch.lines[row];
    add_labels(batch.labels.row(row), where, state);
    if (has_features && batch.features.row(row).size() == 0) report.without_features.add(where);
    if (has_text) {
      const uint64_t bytes = batch.texts.row(row).size();
      report.text_bytes += bytes;
      report.longest_text = std::max(report.longest_text, bytes);
      report.words += facts[row].words;
      if (facts[row].words == 0) report.without_text.add(where);
      for (size_t i = 0; i < kSuspicions; ++i) {
        if (facts[row].suspicions >> i & 1) report.suspicions[i].add(where);
      }
    }
    const bool empty = has_text ? facts[row].words == 0 : batch.features.row(row).size() == 0;
    if (!empty) state.fingerprints.push_back({facts[row].hash, where});
  }
  report.points += batch.rows();
  report.repeated_labels += batch.repeated_labels;
  report.repeated_features += batch.repeated_features;
  report.features = std::max(report.features, batch.features.cols);
  report.feature_values += batch.features.nonzeros();
}

void DataDoctor::add_labels(const CsrRow& labels, uint64_t where, FileState& state) {
  FileReport& report = state.report;
  report.positives += labels.size();
  report.most_labels = std::max<uint64_t>(report.most_labels, labels.size());
  if (labels.size() == 0) report.without_labels.add(where);
  for (size_t i = 0; i < labels.size(); ++i) {
    const size_t label = labels.columns[i];
    if (label >= state.label_counts.size()) {
      state.label_counts.resize(std::max(label + 1, 2 * state.label_counts.size()));
    }
    ++state.label_counts[label];
    report.graded |= labels.values[i] != 1.0f;
  }
}

void DataDoctor::find_duplicates(FileState& state) {
  auto& prints = state.fingerprints;
  std::sort(prints.begin(), prints.end());
  uint64_t first_line = UINT64_MAX;
  for (size_t i = 1; i < prints.size(); ++i) {
    if (prints[i].hash != prints[i - 1].hash) continue;
    ++state.report.duplicates_within;
    if (prints[i].where < first_line) {
      first_line = prints[i].where;
      state.report.duplicate_example = {prints[i - 1].where, prints[i].where};
    }
  }
}

uint64_t DataDoctor::count_in_earlier_files(size_t file) const {
  const auto& prints = files_[file].fingerprints;
  std::vector<bool> found(prints.size());
  for (size_t earlier = 0; earlier < file; ++earlier) {
    const auto& others = files_[earlier].fingerprints;
    size_t at = 0;
    for (size_t i = 0; i < prints.size(); ++i) {
      while (at < others.size() && others[at].hash < prints[i].hash) ++at;
      if (at < others.size() && others[at].hash == prints[i].hash) found[i] = true;
    }
  }
  return static_cast<uint64_t>(std::count(found.begin(), found.end(), true));
}

CheckReport DataDoctor::finish(const LabelSpace& labels) {
  CheckReport report;
  report.labels = labels.size();
  for (auto& file : files_) file.label_counts.resize(labels.size());
  const auto& training = files_.front().label_counts;
  report.deciles = label_deciles(training);
  report.labels_without_training =
      static_cast<uint64_t>(std::count(training.begin(), training.end(), uint64_t{0}));
  for (size_t i = 0; i < files_.size(); ++i) {
    FileReport file = files_[i].report;
    file.duplicates_of_earlier_files = count_in_earlier_files(i);
    for (size_t label = 0; label < training.size(); ++label) {
      const uint64_t count = files_[i].label_counts[label];
      if (training[label] > 0 || count == 0) continue;
      ++file.unseen_labels;
      file.unseen_positives += count;
    }
    report.files.push_back(std::move(file));
  }
  check_names(labels.names(), report);
  return report;
}

}  // namespace elias
