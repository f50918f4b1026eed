// neighbours.safetensors of a model: the graph by which labels are found (docs/file-format.md).
#pragma once

#include <cstdint>

#include "data/io/safetensors.h"
#include "index/neighbour_graph.h"

namespace elias {

/// The graph must stay until it is written.
void add_neighbours(const NeighbourGraphView& graph, SafetensorsWriter& writer);

/// The graph of L labels with at most `links` each; views into the file. Throws InputError if
/// tensors are missing, of another type or of other sizes, or a link leads astray.
NeighbourGraphView read_neighbours(const SafetensorsFile& file, int64_t L, int64_t links,
                                   ThreadPool& pool);

}  // namespace elias
