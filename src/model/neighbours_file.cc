#include "model/neighbours_file.h"

#include "base/errors.h"
#include "data/io/stored_tensors.h"

namespace elias {

void add_neighbours(const NeighbourGraphView& graph, SafetensorsWriter& writer) {
  const int64_t M = graph.most_links, rows = graph.offsets.back();
  writer.add("links", stored(ConstTensorView(graph.links.data(), {graph.label_count, M})));
  writer.add("upper", stored(ConstTensorView(graph.upper.data(), {rows, M / 2})));
  writer.add("offsets", graph.offsets);
  writer.add<int32_t>("entry", {&graph.entry, 1});
}

NeighbourGraphView read_neighbours(const SafetensorsFile& file, int64_t L, int64_t links,
                                   ThreadPool& pool) {
  const auto entry = file.vector<int32_t>("entry");
  if (entry.size() != 1) {
    throw InputError("{}: entry has {} labels, not one: copy the model again", file.name(),
                     entry.size());
  }
  const NeighbourGraphView graph{
      .label_count = L,
      .most_links = links,
      .links = view_of(file, "links", DType::kInt32, {L, links}).span<int32_t>(),
      .offsets = file.vector<int64_t>("offsets"),
      .upper = view_of(file, "upper", DType::kInt32, {-1, links / 2}).span<int32_t>(),
      .entry = entry.front()};
  check_neighbours(graph, file.name(), pool);
  return graph;
}

}  // namespace elias
