// The search through a graph of neighbours on one thread, and the exact scan in the same minute.
//
//   neighbours_bench
//
// prints one JSON object: seconds to build the graph of 140,000 made-up labels of width 512 in
// bfloat16, milliseconds a point that a search for its 100 best labels takes and the share of the
// exact 100 best it finds, for several widths of the search; and what the scan takes, in chunks of
// 64 points. Labels lie in clusters of clusters, and points near labels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.h"
#include "bench/roofline.h"
#include "index/neighbour_builder.h"
#include "index/neighbour_search.h"
#include "ops/lookup/best_rows.h"
#include "ops/rows/convert.h"

namespace elias::bench {
namespace {

constexpr int64_t kLabels = 140'000, kWidth = 512, kPoints = 512, kBest = 100, kChunk = 64;

// Rows of unit length, each at a distance of about `spread` from one of `centres`, which are some
// for the first level. Sums of uniform numbers are near enough to normal ones.
Tensor rows_near(const Tensor& centres, int64_t rows, float spread, uint64_t seed) {
  Tensor near({rows, kWidth}, DType::kFloat32);
  const auto values = near.span<float>();
  const Random random(seed, 0);
  const float scale = spread * std::sqrt(12.0F / kWidth);
  const auto C = centres ? static_cast<uint64_t>(centres.shape()[0]) : 1;
  for (int64_t r = 0; r < rows; ++r) {
    const auto own = values.subspan(static_cast<size_t>(r * kWidth), kWidth);
    const uint64_t first = static_cast<uint64_t>(r) * (kWidth + 1);
    const auto centre = static_cast<int64_t>(random.below(first, C));
    double square = 0;
    for (size_t d = 0; d < own.size(); ++d) {
      own[d] = scale * static_cast<float>(random.uniform(first + 1 + d) - 0.5);
      if (centres) own[d] += centres.span<float>()[static_cast<size_t>(centre * kWidth) + d];
      square += double{own[d]} * double{own[d]};
    }
    for (float& value : own) value /= static_cast<float>(std::sqrt(square));
  }
  return near;
}

struct World {
  explicit World(const Context& context) : bias({kLabels}, DType::kFloat32) {
    Tensor centres;
    uint64_t seed = 0;
    for (const int64_t count : {20, 400, 8000}) centres = rows_near(centres, count, 0.7F, ++seed);
    const Tensor labels = rows_near(centres, kLabels, 0.7F, ++seed);
    w = Tensor(labels.shape(), DType::kBFloat16);
    convert(context, labels, w);
    x = rows_near(labels, kPoints, 0.5F, ++seed);
  }

  std::span<const float> point(int64_t i) const {
    return x.span<float>().subspan(static_cast<size_t>(i * kWidth), kWidth);
  }

  Tensor w, x, bias;
};

// Of the fastest of several runs: other load on the machine only adds.
double milliseconds_a_point(const std::function<void()>& all_points) {
  constexpr int kRounds = 7;
  double fastest = 1e300;
  for (int round = 0; round < kRounds; ++round) {
    fastest = std::min(fastest, 1000 * seconds_of(all_points));
  }
  return fastest / kPoints;
}

std::vector<int32_t> best_of(std::span<const NearLabel> found) {
  std::vector<NearLabel> sorted(found.begin(), found.end());
  std::ranges::partial_sort(sorted, sorted.begin() + kBest, std::greater(), &NearLabel::z);
  std::vector<int32_t> labels;
  for (size_t i = 0; i < kBest; ++i) labels.push_back(sorted[i].label);
  std::ranges::sort(labels);
  return labels;
}

nlohmann::ordered_json measure() {
  ThreadPool pool(1);
  const Context context(pool);
  const World world(context);
  Tensor values({kPoints, kBest}, DType::kFloat32), ids({kPoints, kBest}, DType::kInt32);
  const auto scan = [&] {
    for (int64_t i = 0; i < kPoints; i += kChunk) {
      best_rows(context, world.x.view().slice(i, i + kChunk), world.w, world.bias, {},
                values.view().slice(i, i + kChunk), ids.view().slice(i, i + kChunk));
    }
  };
  nlohmann::ordered_json result = {{"labels", kLabels}, {"scan", milliseconds_a_point(scan)}};
  std::optional<NeighbourGraph> graph;
  result["build"] = seconds_of([&] {
    graph = build_neighbours(context, world.w, world.bias, {}, [](double) { return false; });
  });
  const NeighbourGraphView view = graph->view();
  const RowDots dots(context.isa(), world.w, world.bias);
  NeighbourSearch search(view, dots, kWidth);
  for (const int64_t ef : {100, 150, 200, 300, 400, 600}) {
    int64_t hits = 0;
    for (int64_t i = 0; i < kPoints; ++i) {
      const auto found = best_of(search.find(world.point(i), ef));
      for (const int32_t id : ids.span<int32_t>().subspan(static_cast<size_t>(i * kBest), kBest)) {
        hits += std::ranges::binary_search(found, id) ? 1 : 0;
      }
    }
    const double took = milliseconds_a_point([&] {
      for (int64_t i = 0; i < kPoints; ++i) search.find(world.point(i), ef);
    });
    result["searches"].push_back(
        {{"ef", ef},
         {"recall", static_cast<double>(hits) / static_cast<double>(kPoints * kBest)},
         {"milliseconds", took}});
  }
  return result;
}

}  // namespace
}  // namespace elias::bench

int main() {
  fmt::print("{}\n", elias::bench::measure().dump());
  return 0;
}
