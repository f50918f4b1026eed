#include "train/neighbours_stage.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "base/errors.h"
#include "base/scratch_pool.h"
#include "base/stopwatch.h"
#include "encoder/encode_all.h"
#include "index/neighbour_builder.h"
#include "index/neighbour_search.h"
#include "ops/lookup/best_rows.h"

namespace elias {
namespace {

constexpr size_t kSampleSize = 1000;
constexpr int64_t kDeepest = 100;
constexpr double kWantedRecall = 0.97;
constexpr std::array<int64_t, 10> kWidths = {100, 150, 200, 300, 400, 600, 800, 1200, 1600, 2400};

/// Points with their exact best labels, which searches are held against.
class Sample {
 public:
  Sample(const Context& context, const PredictorWeights& weights, const PointsView& points)
      : context_(context),
        dots_(context.isa(), weights.label_weights, weights.label_bias),
        k_(std::min(kDeepest, weights.label_weights.rows())) {
    const auto n = static_cast<int64_t>(points.rows());
    phi_ = Tensor({n, weights.label_weights.width()}, DType::kFloat32);
    encode_all(context, weights.encoder, points, [&](size_t begin, ConstTensorView phi) {
      const auto values = phi.span<float>();
      std::ranges::copy(values,
                        phi_.span<float>().begin() + static_cast<ptrdiff_t>(begin) * phi.width());
    });
    Tensor scores({n, k_}, DType::kFloat32);
    best_ = Tensor({n, k_}, DType::kInt32);
    best_rows(context, phi_, weights.label_weights, weights.label_bias, {}, scores, best_);
    for (size_t i = 0; i < points.rows(); ++i) std::ranges::sort(best_of(i));
  }

  int64_t depth() const { return k_; }

  /// The share of the exact best labels that are among the best found.
  double recall(const NeighbourGraphView& graph, int64_t ef) const {
    const auto n = static_cast<size_t>(phi_.shape()[0]);
    std::vector<int64_t> hits(n);
    ScratchPool<NeighbourSearch> searches(
        [&] { return std::make_unique<NeighbourSearch>(graph, dots_, phi_.shape()[1]); });
    constexpr size_t kPointsPerChunk = 16;
    context_.pool().for_chunks(n, kPointsPerChunk, [&](size_t, size_t begin, size_t end) {
      searches.with([&](NeighbourSearch& search) {
        for (size_t i = begin; i < end; ++i) hits[i] = hits_of(i, search, ef);
      });
    });
    return static_cast<double>(std::reduce(hits.begin(), hits.end())) /
           static_cast<double>(std::max<int64_t>(1, static_cast<int64_t>(n) * k_));
  }

 private:
  std::span<int32_t> best_of(size_t point) {
    const auto k = static_cast<size_t>(k_);
    return best_.span<int32_t>().subspan(point * k, k);
  }

  int64_t hits_of(size_t point, NeighbourSearch& search, int64_t ef) const {
    const auto D = static_cast<size_t>(phi_.shape()[1]), k = static_cast<size_t>(k_);
    const auto found = search.find(phi_.span<float>().subspan(point * D, D), ef);
    std::vector<NearLabel> best(found.begin(), found.end());
    const size_t count = std::min(k, best.size());
    std::ranges::partial_sort(best, best.begin() + static_cast<ptrdiff_t>(count), std::greater(),
                              &NearLabel::z);
    const auto exact = best_.span<int32_t>().subspan(point * k, k);
    return std::count_if(
        best.begin(), best.begin() + static_cast<ptrdiff_t>(count),
        [&](const NearLabel& label) { return std::ranges::binary_search(exact, label.label); });
  }

  const Context& context_;
  RowDots dots_;
  int64_t k_;
  Tensor phi_;   // [n, D]
  Tensor best_;  // [n, k], rising
};

struct Width {
  int64_t ef = 0;
  double recall = 0;
};

Width choose_width(const Settings& settings, const Sample& sample,
                   const NeighbourGraphView& graph) {
  // A search keeps at least as many labels as are wanted (model/nearest_labels.h).
  if (settings.ef > 0) {
    return {settings.ef, sample.recall(graph, std::max(settings.ef, sample.depth()))};
  }
  Width width;
  for (const int64_t ef : kWidths) {
    width = {ef, sample.recall(graph, ef)};
    if (width.recall >= kWantedRecall || ef >= graph.label_count) break;
  }
  return width;
}

}  // namespace

std::optional<LearnedNeighbours> learn_neighbours(const Context& context, const Settings& settings,
                                                  const TrainingData& data, const Member& member,
                                                  const TrainingHooks& hooks) {
  const PredictorWeights& weights = member.weights;
  ELIAS_ASSERT(!weights.cluster_weights && !weights.neighbours);
  const Stopwatch watch;
  const auto stop = [&](double share) {
    if (hooks.stop()) return true;
    hooks.progress({.stage = "hnsw", .share = share});
    return false;
  };
  auto graph = build_neighbours(
      context, weights.label_weights, weights.label_bias,
      {.neighbours = settings.neighbours, .ef_construction = settings.ef_construction}, stop);
  if (!graph) return std::nullopt;
  const bool held_out = data.held_out().rows() > 0;
  const Sample sample(context, weights,
                      sample_rows(held_out ? data.held_out() : data.points(), kSampleSize));
  const Width width = choose_width(settings, sample, graph->view());
  hooks.log("hnsw", {{"labels", weights.label_weights.rows()},
                     {"neighbours", settings.neighbours},
                     {"ef", width.ef},
                     {"depth", sample.depth()},
                     {"recall", width.recall},
                     {"seconds", watch.seconds()}});
  return LearnedNeighbours{std::move(*graph), width.ef};
}

}  // namespace elias
