#include "report/prune_report.h"

#include <fmt/format.h>

#include "base/readable.h"
#include "report/inspect_report.h"

namespace elias {
namespace {

uint64_t edges_of(const Model& model) {
  uint64_t sum = 0;
  for (const Member& member : model.members()) sum += member.weights.graph.labels.size();
  return sum;
}

int64_t clusters_of(const Model& model) {
  return model.first().weights.graph.clusters() * static_cast<int64_t>(model.members().size());
}

/// Of the files whose names begin so.
uint64_t bytes_of(const Model& model, std::string_view begin) {
  uint64_t sum = 0;
  for (const auto& [name, bytes] : model.files()) {
    if (name.starts_with(begin)) sum += bytes;
  }
  return sum;
}

std::string edges_per_cluster(const Model& model) {
  return fmt::format(
      "{:.1f}", static_cast<double>(edges_of(model)) / static_cast<double>(clusters_of(model)));
}

void add_figures(Table& table, const Evaluation& before, const Evaluation& after) {
  for (const char* name : {"P@1", "P@3", "P@5", "R@10", "R@100"}) {
    const double was = 100 * figure(before.metrics, name), is = 100 * figure(after.metrics, name);
    table.add({fmt::format("{} %", name), fmt::format("{:.2f}", was), fmt::format("{:.2f}", is),
               fmt::format("{:+.2f}", is - was)});
  }
}

/// "-84.5 %"
std::string change(uint64_t before, uint64_t after) {
  if (before == 0) return "";
  const auto was = static_cast<double>(before);
  return fmt::format("{:+.1f} %", 100 * (static_cast<double>(after) - was) / was);
}

void add_bytes(Table& table, const char* what, uint64_t before, uint64_t after) {
  table.add({what, grouped(before) + " B", grouped(after) + " B", change(before, after)});
}

}  // namespace

std::string prune_report(const PruneResult& result) {
  const Model &before = result.before, &after = result.after;
  const uint64_t edges = edges_of(before), left = edges_of(after);
  Table table;
  table.add({"", "before", "after", "change"});
  table.add({"edges", grouped(edges), grouped(left), change(edges, left)});
  table.add({"edges a cluster", edges_per_cluster(before), edges_per_cluster(after), ""});
  add_bytes(table, before.members().size() > 1 ? "index of all members" : "index.safetensors",
            bytes_of(before, "index."), bytes_of(after, "index."));
  add_bytes(table, "the whole model", bytes_of(before, ""), bytes_of(after, ""));
  if (result.test) add_figures(table, result.test->before, result.test->after);
  std::string text = table.text("  ");
  if (result.restored > 0) {
    const auto restored = static_cast<uint64_t>(result.restored);
    text += before.members().size() == 1
                ? fmt::format("{} would have lost the last edge: the best one was kept\n",
                              counted(restored, "label"))
                : fmt::format("{} kept, in all members: each the last one of a label there\n",
                              counted(restored, "edge"));
  }
  return text;
}

}  // namespace elias
