// One label as `elias inspect --label` shows it.
#include <fmt/format.h>

#include <algorithm>

#include "base/readable.h"
#include "cli/inspect_report.h"

namespace elias::cli {
namespace {

constexpr size_t kColumns = 80;

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Columns a UTF-8 text takes on a terminal, near enough: one a code point.
size_t columns_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

/// A name on one line: at most `columns` of it, and nothing that moves the cursor.
std::string clipped(std::string name, size_t columns) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (columns_of(name) <= columns) return name;
  size_t end = 0;
  for (size_t left = columns - 3; end < name.size(); ++end) {
    if (starts_character(name[end]) && left-- == 0) break;
  }
  return name.substr(0, end) + "...";
}

/// Items with commas between them, in lines of at most 80 columns.
std::string wrapped(const std::vector<std::string>& items, const std::string& indent) {
  std::string text, line = indent;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (line != indent && columns_of(line) + 1 + columns_of(item) > kColumns) {
      text += line + "\n";
      line = indent;
    }
    line += (line == indent ? "" : " ") + item;
  }
  return text + line + "\n";
}

std::string head_of(const Model& model, const LabelPortrait& portrait) {
  const uint64_t points = model.label_counts()[portrait.label];
  const size_t group = label_deciles(model.label_counts()).group_of[portrait.label];
  constexpr std::string_view kTitle = "Label ";
  std::string text = fmt::format(
      "{}{}\n", kTitle, clipped(model.label_name(portrait.label), kColumns - kTitle.size()));
  Table table;
  if (model.has_names()) table.add({"id", std::to_string(portrait.label)});
  table.add({"training points", grouped(points)});
  table.add({"frequency decile, 1 is the head", group_name(group)});
  if (model.first().weights.cluster_weights) {
    table.add({"clusters that lead to it", grouped(static_cast<uint64_t>(portrait.edges))});
  }
  return text + table.text("  ");
}

std::string clusters_of(const Model& model, const LabelPortrait& portrait) {
  if (!model.first().weights.cluster_weights) {
    return "\nThere is no index: this model scores every label of every point.\n";
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

std::string label_report(const Model& model, const LabelPortrait& portrait) {
  return head_of(model, portrait) + clusters_of(model, portrait) + nearest_of(model, portrait);
}

}  // namespace elias::cli
