#include "cli/prune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/readable.h"
#include "cli/inspect_report.h"

namespace elias::cli {
namespace {

uint64_t edges_of(const Model& model) { return model.weights().graph.labels.size(); }

uint64_t index_bytes(const Model& model) {
  const auto& files = model.files();
  return std::find_if(files.begin(), files.end(),
                      [](const auto& file) { return file.first == "index.safetensors"; })
      ->second;
}

uint64_t all_bytes(const Model& model) {
  const auto& files = model.files();
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const auto& file) { return sum + file.second; });
}

std::string edges_per_cluster(const Model& model) {
  return fmt::format("{:.1f}", static_cast<double>(edges_of(model)) /
                                   static_cast<double>(model.weights().graph.clusters()));
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
  add_bytes(table, "index.safetensors", index_bytes(before), index_bytes(after));
  add_bytes(table, "the whole model", all_bytes(before), all_bytes(after));
  if (result.test) add_figures(table, result.test->before, result.test->after);
  std::string text = table.text("  ");
  if (result.restored > 0) {
    text += fmt::format("{} would have lost the last edge: the best one was kept\n",
                        counted(static_cast<uint64_t>(result.restored), "label"));
  }
  return text;
}

}  // namespace elias::cli
