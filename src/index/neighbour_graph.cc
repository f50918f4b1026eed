#include "index/neighbour_graph.h"

#include <algorithm>

#include "base/errors.h"

namespace elias {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw InputError("{}: {}: copy the model again, or train it anew", name, what);
}

void check_sizes(const NeighbourGraphView& graph, const std::string& name) {
  const int64_t L = graph.label_count, M = graph.most_links;
  const auto& offsets = graph.offsets;
  if (M < 2 || M % 2 != 0 || static_cast<int64_t>(graph.links.size()) != L * M) {
    fail(name, fmt::format("{} links of {} labels, at most {} of each, cannot be",
                           graph.links.size(), L, M));
  }
  if (static_cast<int64_t>(offsets.size()) != L + 1 || offsets.front() != 0 ||
      !std::ranges::is_sorted(offsets) ||
      offsets.back() > static_cast<int64_t>(graph.upper.size()) ||
      offsets.back() * (M / 2) != static_cast<int64_t>(graph.upper.size())) {
    fail(name, "its offsets do not fit the links of the levels above the first");
  }
  if (graph.entry < 0 || graph.entry >= L) {
    fail(name, fmt::format("a search cannot enter at label {} of {}", graph.entry, L));
  }
}

void check_links(const NeighbourGraphView& graph, int32_t label, int64_t level,
                 const std::string& name) {
  bool ended = false;
  for (const int32_t link : graph.links_of(label, level)) {
    if (link == -1) {
      ended = true;
      continue;
    }
    if (ended) {
      fail(name, fmt::format("label {} has a link on level {} behind the last", label, level));
    }
    if (link < 0 || link >= graph.label_count || graph.level(link) < level) {
      fail(name, fmt::format("label {} has a link on level {} to {}, which is not there", label,
                             level, link));
    }
  }
}

}  // namespace

NeighbourGraphView NeighbourGraph::view() const {
  return {.label_count = static_cast<int64_t>(offsets.size()) - 1,
          .most_links = most_links,
          .links = links,
          .offsets = offsets,
          .upper = upper,
          .entry = entry};
}

void check_neighbours(const NeighbourGraphView& graph, const std::string& name, ThreadPool& pool) {
  check_sizes(graph, name);
  constexpr size_t kLabelsPerChunk = 2048;
  pool.for_chunks(static_cast<size_t>(graph.label_count), kLabelsPerChunk,
                  [&](size_t, size_t begin, size_t end) {
                    for (size_t l = begin; l < end; ++l) {
                      const auto label = static_cast<int32_t>(l);
                      for (int64_t level = 0; level <= graph.level(label); ++level) {
                        check_links(graph, label, level, name);
                      }
                    }
                  });
}

}  // namespace elias
