// What hnswlib stores for a label is its id; the distance function finds the vectors by it. So the
// weights are not copied, and may be bfloat16 in a mapped file. Its own parallel insertion gives
// another graph each time, and is not used.
#include "index/neighbour_builder.h"

// Without instructions of the compiler's target: the kernels are ours, and its prefetches read
// beyond the end of lists.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <cmath>
#include <limits>

#include "base/errors.h"
#include "ops/lookup/row_dots.h"

namespace elias {
namespace {

constexpr size_t kSeed = 100;
constexpr int64_t kLabelsPerQuestion = 256;

using Hnsw = hnswlib::HierarchicalNSW<float>;

class LabelSpaceOfIds : public hnswlib::SpaceInterface<float> {
 public:
  LabelSpaceOfIds(Isa isa, ConstTensorView w, ConstTensorView bias) : dots_(isa, w, bias) {}

  size_t get_data_size() override { return sizeof(int32_t); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &dots_; }

 private:
  static float distance(const void* a, const void* b, const void* dots) {
    const float product = static_cast<const RowDots*>(dots)->between(
        *static_cast<const int32_t*>(a), *static_cast<const int32_t*>(b));
    // hnswlib sorts distances, which a NaN would upset.
    return std::isnan(product) ? std::numeric_limits<float>::infinity() : -product;
  }

  RowDots dots_;
};

// `width` places for the links of a list of hnswlib's.
void add_links(Hnsw& hnsw, int32_t label, int level, size_t width, std::vector<int32_t>& links) {
  auto* const list = hnsw.get_linklist_at_level(static_cast<hnswlib::tableint>(label), level);
  const size_t count = hnsw.getListCount(list);
  ELIAS_ASSERT(count <= width);
  links.insert(links.end(), list + 1, list + 1 + count);
  links.resize(links.size() + width - count, -1);
}

NeighbourGraph graph_of(Hnsw& hnsw) {
  NeighbourGraph graph;
  graph.most_links = static_cast<int64_t>(hnsw.maxM0_);
  graph.entry = static_cast<int32_t>(hnsw.enterpoint_node_);
  const auto L = static_cast<int32_t>(hnsw.cur_element_count);
  graph.links.reserve(static_cast<size_t>(L) * hnsw.maxM0_);
  for (int32_t label = 0; label < L; ++label) {
    add_links(hnsw, label, 0, hnsw.maxM0_, graph.links);
    const int levels = hnsw.element_levels_[label];
    for (int level = 1; level <= levels; ++level) {
      add_links(hnsw, label, level, hnsw.maxM_, graph.upper);
    }
    graph.offsets.push_back(graph.offsets.back() + levels);
  }
  return graph;
}

}  // namespace

std::optional<NeighbourGraph> build_neighbours(const Context& context, ConstTensorView w,
                                               ConstTensorView bias,
                                               const NeighbourOptions& options,
                                               const std::function<bool(double)>& stop) {
  ELIAS_ASSERT(options.neighbours >= 2 && options.ef_construction >= 1);
  const int64_t L = w.rows();
  LabelSpaceOfIds space(context.isa(), w, bias);
  Hnsw hnsw(&space, static_cast<size_t>(L), static_cast<size_t>(options.neighbours),
            static_cast<size_t>(options.ef_construction), kSeed);
  for (int32_t label = 0; label < L; ++label) {
    if (label % kLabelsPerQuestion == 0 &&
        stop(static_cast<double>(label) / static_cast<double>(L))) {
      return std::nullopt;
    }
    // hnswlib numbers labels as they come: its ids are ours.
    hnsw.addPoint(&label, static_cast<hnswlib::labeltype>(label));
  }
  return graph_of(hnsw);
}

}  // namespace elias
