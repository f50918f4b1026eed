// Builds the graph of neighbours of all labels: hnswlib's construction, label by label.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "index/neighbour_graph.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

struct NeighbourOptions {
  int64_t neighbours = 16;        // M: of a label that is added; it keeps up to 2 M links
  int64_t ef_construction = 200;  // labels looked among for these
};

/// The graph of the labels with weights w [L, D], float32 or bfloat16, and bias [L], near each
/// other by w_a . w_b + b_a b_b. It is built on one thread, so that the same labels have the same
/// graph on every machine with the same instruction set. `stop(share)` is asked now and then with
/// the share of the work that is done; empty if it says so.
std::optional<NeighbourGraph> build_neighbours(const Context& context, ConstTensorView w,
                                               ConstTensorView bias,
                                               const NeighbourOptions& options,
                                               const std::function<bool(double)>& stop);

}  // namespace elias
