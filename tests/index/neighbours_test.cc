// The graph of neighbours, from its construction to what a search finds, against the exact best.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/errors.h"
#include "index/neighbour_builder.h"
#include "index/neighbour_search.h"
#include "ops/lookup/best_rows.h"
#include "ops/rows/convert.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const auto kGoOn = [](double) { return false; };

// Labels of unit length around centres, and points near labels.
struct World {
  World(int64_t labels, int64_t D, int64_t points = 50)
      : width(D),
        w(rows_near(random_floats({1 + labels / 20, D}, 1), labels, 2)),
        x(rows_near(w, points, 3)),
        bias({labels}, DType::kFloat32) {}

  static Tensor rows_near(const Tensor& centres, int64_t rows, uint64_t seed) {
    const int64_t C = centres.shape()[0], D = centres.shape()[1];
    Tensor near = random_floats({rows, D}, seed, -0.4F, 0.4F);
    const auto values = near.span<float>();
    for (int64_t r = 0; r < rows; ++r) {
      double square = 0;
      for (int64_t d = 0; d < D; ++d) {
        values[r * D + d] += centres.span<float>()[(r * 7 % C) * D + d];
        square += std::pow(double{values[r * D + d]}, 2);
      }
      for (int64_t d = 0; d < D; ++d) values[r * D + d] /= static_cast<float>(std::sqrt(square));
    }
    return near;
  }

  std::span<const float> point(int64_t i) const {
    return x.span<float>().subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
  }

  int64_t width;
  Tensor w, x, bias;
};

NeighbourGraph build(const Context& context, ConstTensorView w, ConstTensorView bias,
                     NeighbourOptions options = {}) {
  auto graph = build_neighbours(context, w, bias, options, kGoOn);
  EXPECT_TRUE(graph.has_value());
  check_neighbours(graph->view(), "built", context.pool());
  return std::move(*graph);
}

// The k best labels of a point among those found.
std::vector<int32_t> best_of(std::span<const NearLabel> found, size_t k) {
  std::vector<NearLabel> sorted(found.begin(), found.end());
  std::ranges::sort(sorted, [](const NearLabel& a, const NearLabel& b) {
    return a.z != b.z ? a.z > b.z : a.label < b.label;
  });
  std::vector<int32_t> labels;
  for (size_t i = 0; i < std::min(k, sorted.size()); ++i) labels.push_back(sorted[i].label);
  return labels;
}

double recall(const Context& context, const World& world, ConstTensorView w, int64_t k, int64_t ef,
              const NeighbourGraphView& graph) {
  const int64_t N = world.x.shape()[0];
  Tensor values({N, k}, DType::kFloat32), ids({N, k}, DType::kInt32);
  best_rows(context, world.x, w, world.bias, {}, values, ids);
  const RowDots dots(context.isa(), w, world.bias);
  NeighbourSearch search(graph, dots, world.width);
  int64_t hits = 0;
  for (int64_t i = 0; i < N; ++i) {
    const auto found = best_of(search.find(world.point(i), ef), static_cast<size_t>(k));
    for (const int32_t id : ids.span<int32_t>().subspan(static_cast<size_t>(i * k), k)) {
      hits += std::ranges::count(found, id);
    }
  }
  return static_cast<double>(hits) / static_cast<double>(N * k);
}

class NeighboursTest : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(OnCpu, NeighboursTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(NeighboursTest, NearlyAllOfTheBestAreFound) {
  const World world(3000, 40);
  Tensor halves(world.w.shape(), DType::kBFloat16);
  convert(context(), world.w, halves);
  for (const ConstTensorView w : {ConstTensorView(world.w), ConstTensorView(halves)}) {
    const NeighbourGraph graph = build(context(), w, world.bias);
    EXPECT_GE(recall(context(), world, w, 20, 100, graph.view()), 0.95);
  }
}

TEST_P(NeighboursTest, AllAreFoundWhereAllAreKept) {
  const World world(150, 8);
  const NeighbourGraph graph = build(context(), world.w, world.bias);
  EXPECT_EQ(recall(context(), world, world.w, 30, 150, graph.view()), 1);
}

TEST_P(NeighboursTest, ASearchDoesNotDependOnThoseBefore) {
  const World world(800, 16);
  const NeighbourGraph graph = build(context(), world.w, world.bias);
  const NeighbourGraphView view = graph.view();
  const RowDots dots(context().isa(), world.w, world.bias);
  NeighbourSearch used(view, dots, world.width);
  for (int64_t i = 0; i < 50; ++i) used.find(world.point(i), 30);
  for (int64_t i = 0; i < 50; ++i) {
    NeighbourSearch fresh(view, dots, world.width);
    const auto expected = best_of(fresh.find(world.point(i), 10), 10);
    EXPECT_EQ(best_of(used.find(world.point(i), 10), 10), expected);
  }
}

TEST(Neighbours, TheSameGraphIsBuiltAtAnyThreadCount) {
  const World world(700, 24);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    const NeighbourGraph graph = build(context, world.w, world.bias, {.neighbours = 6});
    std::vector<Tensor> results;
    for (const auto* list : {&graph.links, &graph.upper}) {
      results.emplace_back(Shape{static_cast<int64_t>(list->size())}, DType::kInt32);
      std::ranges::copy(*list, results.back().span<int32_t>().begin());
    }
    return results;
  });
}

TEST(Neighbours, AStoppedBuildLeavesNothing) {
  ThreadPool pool(1);
  const Context context(pool);
  const World world(1000, 8);
  double last = -1;
  EXPECT_FALSE(build_neighbours(context, world.w, world.bias, {}, [&](double share) {
    EXPECT_GT(share, last);
    last = share;
    return share > 0.5;
  }));
  EXPECT_LT(last, 1);
}

TEST(Neighbours, LabelsThatAreZeroOrAlikeAreFoundToo) {
  ThreadPool pool(1);
  const Context context(pool);
  World world(200, 8);
  const auto w = world.w.span<float>();
  std::fill_n(w.begin(), 60 * world.width, 0.0F);
  for (int64_t l = 61; l < 120; ++l) {
    std::copy_n(w.begin() + 60 * world.width, world.width, w.begin() + l * world.width);
  }
  const NeighbourGraph graph = build(context, world.w, world.bias, {.neighbours = 4});
  EXPECT_GE(recall(context, world, world.w, 10, 200, graph.view()), 0.95);
}

TEST(Neighbours, NumbersThatAreNoneAreBehindAllOthers) {
  ThreadPool pool(1);
  const Context context(pool);
  World world(100, 8);
  world.w.span<float>()[3 * world.width] = std::numeric_limits<float>::quiet_NaN();
  world.w.span<float>()[5 * world.width] = std::numeric_limits<float>::infinity();
  const NeighbourGraph graph = build(context, world.w, world.bias);
  const NeighbourGraphView view = graph.view();
  const RowDots dots(context.isa(), world.w, world.bias);
  NeighbourSearch search(view, dots, world.width);
  for (const NearLabel& found : search.find(world.point(0), 100)) EXPECT_FALSE(std::isnan(found.z));
}

TEST(Neighbours, OneLabelIsAGraph) {
  ThreadPool pool(1);
  const Context context(pool);
  const World world(1, 8);
  const NeighbourGraph graph = build(context, world.w, world.bias);
  EXPECT_EQ(recall(context, world, world.w, 1, 10, graph.view()), 1);
}

TEST(Neighbours, AGraphThatLeadsAstrayIsRefused) {
  ThreadPool pool(2);
  const Context context(pool);
  const World world(300, 8);
  const NeighbourGraph good = build(context, world.w, world.bias, {.neighbours = 4});
  const auto refused = [&](const char* message, const auto& spoil) {
    NeighbourGraph graph = good;
    spoil(graph);
    EXPECT_THAT([&] { check_neighbours(graph.view(), "n.safetensors", pool); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("n.safetensors: "), HasSubstr(message),
                                                HasSubstr("copy the model again"))));
  };
  refused("cannot be", [](auto& g) { g.links.pop_back(); });
  refused("at most 7 of each", [](auto& g) { g.most_links = 7; });
  refused("at most 0 of each", [](auto& g) { g.most_links = 0; });
  refused("enter at label 300", [](auto& g) { g.entry = 300; });
  refused("enter at label -1", [](auto& g) { g.entry = -1; });
  refused("label 7 has a link on level 0 to 300", [](auto& g) { g.links[7 * 8] = 300; });
  refused("label 7 has a link on level 0 behind the last", [](auto& g) {
    g.links[7 * 8] = -1;
    g.links[7 * 8 + 1] = 8;
  });
  refused("label 7 has a link on level 0 to -2", [](auto& g) { g.links[7 * 8] = -2; });
  refused("offsets do not fit", [](auto& g) { g.offsets.front() = 1; });
  refused("offsets do not fit", [](auto& g) { g.offsets.back() += 1; });
  refused("offsets do not fit", [](auto& g) { g.offsets[5] = int64_t{1} << 60; });
  refused("offsets do not fit", [](auto& g) { g.upper.pop_back(); });
  const auto low = std::ranges::adjacent_find(good.offsets) - good.offsets.begin();
  refused("on level 1 to", [&](auto& g) { g.upper[0] = static_cast<int32_t>(low); });
}

}  // namespace
}  // namespace elias
