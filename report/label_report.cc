// One label as `elias inspect --label` shows it.
#include <fmt/format.h>

#include "base/readable.h"
#include "report/inspect_report.h"
#include "report/terminal_text.h"

namespace elias {
namespace {

std::string head_of(const Model& model, const LabelPortrait& portrait, size_t member) {
  const uint64_t points = model.label_counts()[portrait.label];
  const size_t group = label_deciles(model.label_counts()).group_of[portrait.label];
  constexpr std::string_view kTitle = "Label ";
  std::string text = fmt::format(
      "{}{}\n", kTitle, clipped(model.label_name(portrait.label), kColumns - kTitle.size()));
  Table table;
  if (model.has_names()) table.add({"id", std::to_string(portrait.label)});
  table.add({"training points", grouped(points)});
  table.add({"frequency decile, 1 is the head", group_name(group)});
  if (model.thresholds() != nullptr) {
    table.add({"predicted from a score of",
               fmt::format("{:.4g}", model.thresholds()->of(portrait.label))});
  }
  if (model.members().size() > 1) {
    table.add({"member of the ensemble that is shown", grouped(member + 1)});
  }
  if (model.first().weights.cluster_weights) {
    table.add({"clusters that lead to it", grouped(static_cast<uint64_t>(portrait.edges))});
  }
  return text + table.text("  ");
}

std::string clusters_of(const Model& model, const LabelPortrait& portrait) {
  if (!model.first().weights.cluster_weights) {
    return text_without_clusters(model.first().weights);
  }
  if (portrait.clusters.empty()) {
    return "\nNo cluster leads to this label: it is never predicted.\n";
  }
  constexpr size_t kLongestName = 40;
  std::string text = "\nClusters by the score of their edge, with their strongest other labels\n";
  for (const LabelPortrait::Cluster& cluster : portrait.clusters) {
    text += fmt::format("  cluster {}: score {:.3f}, {}\n", cluster.cluster, cluster.score,
                        counted(static_cast<uint64_t>(cluster.edges), "edge"));
    std::vector<std::string> others;
    for (const auto& [label, score] : cluster.others) {
      others.push_back(
          fmt::format("{} {:.3f}", clipped(model.label_name(label), kLongestName), score));
    }
    if (!others.empty()) text += wrapped(others, "    ");
  }
  return text;
}

std::string nearest_of(const Model& model, const LabelPortrait& portrait) {
  constexpr size_t kLongestName = 60;
  Table table;
  for (const auto& [label, score] : portrait.nearest) {
    table.add({clipped(model.label_name(label), kLongestName), fmt::format("{:.3f}", score)});
  }
  return "\nNearest labels by the cosine of their classifiers\n" + table.text("  ");
}

}  // namespace

std::string label_report(const Model& model, const LabelPortrait& portrait, size_t member) {
  return head_of(model, portrait, member) + clusters_of(model, portrait) +
         nearest_of(model, portrait);
}

}  // namespace elias
