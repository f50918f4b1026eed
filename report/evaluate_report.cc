#include "report/evaluate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/readable.h"

namespace elias {
namespace {

/// File names without their folders, unless two would look the same.
std::vector<std::string> short_names(std::span<const FileEvaluation> files) {
  std::vector<std::string> names;
  for (const auto& file : files) {
    names.push_back(std::filesystem::path(file.name).filename().string());
  }
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return names;
  for (size_t i = 0; i < files.size(); ++i) names[i] = files[i].name;
  return names;
}

/// All metrics that at least one file has, in the order of the first file that has the most.
std::vector<Metric> metric_rows(std::span<const FileEvaluation> files) {
  const auto most = std::max_element(files.begin(), files.end(),
                                     [](const FileEvaluation& a, const FileEvaluation& b) {
                                       return a.result.metrics.size() < b.result.metrics.size();
                                     });
  return most->result.metrics;
}

std::string cell(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", 100 * *value) : "-";
}

/// The best value of a metric over the files as the table shows it; nothing where none stands out.
std::optional<std::string> best_cell(std::span<const FileEvaluation> files, const Metric& metric) {
  std::vector<double> values;
  for (const auto& file : files) {
    if (const auto value = file.result.find(metric.name)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (cell(*least) == cell(*most)) return std::nullopt;
  return cell(metric.lower_is_better ? *least : *most);
}

/// Of each family of figures (P, R, ...) the one with the largest cut-off.
std::vector<size_t> last_of_each_family(const std::vector<Metric>& metrics) {
  const auto family = [&](size_t i) {
    return metrics[i].name.substr(0, metrics[i].name.find('@'));
  };
  std::vector<size_t> last;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (i + 1 == metrics.size() || family(i) != family(i + 1)) last.push_back(i);
  }
  return last;
}

/// Appends a line.
template <typename... Args>
void note(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  text += '\n';
}

void training_notes(std::string& text, const Evaluation& result, const Training* training) {
  if (!training) {
    note(text,
         "PSP, PSnDCG and deciles are left out: they need the label counts of the training data "
         "(--train)");
    return;
  }
  const Propensity& propensity = training->propensity;
  note(text, "propensities: {}, A = {}, B = {}, training points: {}", propensity.name, propensity.a,
       propensity.b, grouped(training->points));
  if (result.unseen_positives > 0) {
    note(text, "true pairs of labels unseen in training: {}; points with no other: {}",
         grouped(result.unseen_positives), grouped(result.rows_all_unseen));
  }
}

void file_notes(std::string& text, const FileEvaluation& file, bool trained) {
  const Evaluation& result = file.result;
  std::string counts = fmt::format("predictions: {}", grouped(result.predictions));
  if (result.rows_without_predictions > 0) {
    counts += fmt::format(", points without any: {}", grouped(result.rows_without_predictions));
  }
  if (file.filtered > 0) counts += fmt::format(", filtered out: {}", grouped(file.filtered));
  if (result.label_thresholds) {
    counts += ", F1 at thresholds of the labels";
  } else if (result.threshold) {
    counts += fmt::format(", F1 at {}", *result.threshold);
  }
  note(text, "{}: {}", file.name, counts);
  if (file.unknown_labels > 0) {
    note(text, "{}: labels that the truth{} does not have: {}; {}", file.name,
         trained ? " or the training data" : "", grouped(file.unknown_labels),
         trained ? "is it of another label set?"
                 : "--train or --labels would tell rare labels from wrong ones");
  }
  if (file.shortlist > 0) {
    note(text, "{}: finds at most {} for a point, its shortlist: deeper cut-offs gain nothing",
         file.name, counted(file.shortlist, "label"));
  }
  if (!result.probabilities) {
    note(text, "{}: scores are not probabilities (some are outside 0 to 1): no calibration error{}",
         file.name, result.threshold ? "" : ", and no F1 without --threshold");
  }
}

}  // namespace

std::string metrics_table(std::span<const FileEvaluation> files) {
  Table table;
  std::vector<std::string> row{"%"};
  for (const auto& name : short_names(files)) row.push_back(name + ' ');
  table.add(std::move(row));
  for (const Metric& metric : metric_rows(files)) {
    const auto best = best_cell(files, metric);
    row = {metric.name};
    for (const auto& file : files) {
      const std::string value = cell(file.result.find(metric.name));
      row.push_back(value + (value == best ? '*' : ' '));
    }
    table.add(std::move(row));
  }
  return table.text("  ");
}

std::string metrics_notes(std::span<const FileEvaluation> files, const Training* training) {
  const Evaluation& first = files[0].result;
  std::string text;
  note(text, "points: {}, true pairs: {}, labels with a true pair: {}", grouped(first.rows),
       grouped(first.positives), grouped(first.labels));
  if (first.rows_without_positives > 0) {
    note(text, "points without a true label: {} (zero in P, left out of nDCG, R and MRR)",
         grouped(first.rows_without_positives));
  }
  if (files.size() > 1) note(text, "* marks the best of a row");
  training_notes(text, first, training);
  for (const auto& file : files) file_notes(text, file, training != nullptr);
  return text;
}

std::string decile_table(const FileEvaluation& file, const LabelDeciles& deciles) {
  const auto& metrics = file.result.metrics;
  const auto columns = last_of_each_family(metrics);
  Table table;
  std::vector<std::string> row{"decile", "labels", "train points", "share", "true pairs"};
  for (size_t i : columns) row.push_back(metrics[i].name);
  table.add(std::move(row));
  // Head to tail; the unseen ones, rarer than all, at the end.
  for (size_t r = 1; r <= LabelDeciles::kGroups; ++r) {
    const size_t g = r % LabelDeciles::kGroups;
    const auto& group = deciles.groups[g];
    const auto& figures = file.result.groups[g];
    row = {group_name(g), grouped(group.labels),
           fmt::format("{} to {}", grouped(group.fewest), grouped(group.most)), cell(group.share),
           grouped(figures.positives)};
    for (size_t i : columns) row.push_back(cell(figures.metrics[i].value));
    table.add(std::move(row));
  }
  return fmt::format("{}, by label frequency (%):\n{}", file.name, table.text("  "));
}

std::string label_tsv(const Evaluation& evaluation, const Training* training,
                      const LabelSpace& labels) {
  std::string text =
      "label\ttrain\tpositives\tpredicted\thits\tprecision\trecall\tf1\t"
      "predicted_at_threshold\thits_at_threshold\tf1_at_threshold\tname\n";
  for (size_t l = 0; l < evaluation.by_label.size(); ++l) {
    const LabelFigures& label = evaluation.by_label[l];
    const bool trained = training && l < training->counts.size();
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\t", l,
                   training ? std::to_string(trained ? training->counts[l] : 0) : "",
                   label.positives, label.predicted, label.hits, label.precision(), label.recall(),
                   label.f1());
    // Where there is no threshold there are no figures for it.
    text += evaluation.threshold ? fmt::format("{}\t{}\t{:.6g}\t", label.predicted_at_threshold,
                                               label.hits_at_threshold, label.f1_at_threshold())
                                 : "\t\t\t";
    std::string name = labels.name(LabelId(static_cast<uint32_t>(l)));
    std::replace(name.begin(), name.end(), '\t', ' ');
    text += name + "\n";
  }
  return text;
}

}  // namespace elias
