#include "bench/ops_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/random.h"
#include "bench/roofline.h"
#include "ops/lookup/best_rows.h"
#include "ops/lookup/embedding_bag.h"
#include "ops/lookup/gather_dot.h"
#include "ops/lookup/key_groups.h"
#include "ops/lookup/row_gradient.h"
#include "ops/lookup/top_k.h"
#include "ops/product/linear.h"
#include "ops/rows/convert.h"
#include "ops/rows/dropout.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/relu.h"
#include "ops/rows/softmax_clamp.h"
#include "ops/update/adamw.h"
#include "ops/update/running_average.h"

namespace elias::bench {
namespace {

constexpr double kRowBytes = 4.0 * Arrays::D;

bool multiplies_bf16() { return supported_isas().back() >= Isa::kAvx512Bf16; }

Tensor random_ids(Shape shape, int64_t bound) {
  Tensor ids(shape, DType::kInt32);
  const Random random(1, 0);
  const auto values = ids.span<int32_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(random.below(i, static_cast<uint64_t>(bound)));
  }
  return ids;
}

// 0, step, 2 step ... of `count` + 1.
Tensor even_offsets(int64_t count, int32_t step) {
  Tensor offsets({count + 1}, DType::kInt32);
  int32_t next = 0;
  for (int32_t& value : offsets.span<int32_t>()) value = std::exchange(next, next + step);
  return offsets;
}

std::vector<Case> row_cases(Arrays& a) {
  const double bytes = Arrays::kBytes;
  return {
      {"relu", Bound::kCopy, 2 * bytes, [&](const Context& c) { relu(c, a.x, a.y); }},
      {"relu, backward", Bound::kCopy, 3 * bytes,
       [&](const Context& c) { relu_backward(c, a.x, a.y, a.z); }},
      {"dropout", Bound::kCopy, 2 * bytes,
       [&](const Context& c) { dropout(c, a.x, 0.1F, {.seed = 1, .stream = 2}, a.y); }},
      {"running average", Bound::kCopy, 3 * bytes,
       [&](const Context& c) { running_average(c, a.x, 3, a.y); }},
      {"layer norm", Bound::kCopy, 2 * bytes,
       [&](const Context& c) {
         layer_norm(c, a.x, a.per_column[0], a.per_column[1], 1e-5F, a.y,
                    {a.per_row[0], a.per_row[1]});
       }},
      {"layer norm, backward", Bound::kCopy, 3 * bytes,
       [&](const Context& c) {
         layer_norm_backward(c, a.y, a.x, a.per_column[0], {a.per_row[0], a.per_row[1]}, a.z,
                             a.per_column[2], a.per_column[3]);
       }},
      {"softmax clamp", Bound::kCopy, 2 * bytes,
       [&](const Context& c) { softmax_clamp(c, a.x, 10, a.y, a.per_row[0]); }},
      {"softmax clamp, backward", Bound::kCopy, 3 * bytes,
       [&](const Context& c) { softmax_clamp_backward(c, a.y, a.x, a.per_row[0], 10, a.z); }},
  };
}

// Rows of x, a table, named at random by 1024 points of 100 features each.
std::vector<Case> bag_cases(Arrays& a) {
  constexpr int64_t kPoints = 1024;
  constexpr int32_t kFeatures = 100;
  constexpr double kTerms = 1.0 * kPoints * kFeatures;
  const auto offsets = std::make_shared<Tensor>(even_offsets(kPoints, kFeatures));
  const auto ids = std::make_shared<Tensor>(random_ids({kPoints * kFeatures}, Arrays::N));
  const auto weights = std::make_shared<Tensor>(filled({kPoints * kFeatures}));
  return {{"embedding bag", Bound::kRead, (kTerms + kPoints) * kRowBytes,
           [&a, offsets, ids, weights](const Context& c) {
             embedding_bag(c, {*offsets, *ids, *weights}, a.x, a.y.view().slice(0, kPoints));
           }}};
}

// 256 points with shortlists of 400 rows of x.
std::vector<Case> shortlist_cases(Arrays& a) {
  constexpr int64_t kPoints = 256;
  constexpr int64_t kLabels = 400;
  constexpr double kBytes = (kPoints * kLabels + kPoints) * kRowBytes;
  const auto ids = std::make_shared<Tensor>(random_ids({kPoints, kLabels}, Arrays::N));
  const auto scores = std::make_shared<Tensor>(filled({kPoints, kLabels}));
  return {{"gather-dot", Bound::kRead, kBytes,
           [&a, ids, scores](const Context& c) {
             gather_dot(c, a.y.view().slice(0, kPoints), a.x, {}, *ids, *scores);
           }},
          {"gather-dot, input gradient", Bound::kRead, kBytes, [&a, ids, scores](const Context& c) {
             gather_dot_input_gradient(c, *scores, a.x, *ids, a.y.view().slice(0, kPoints));
           }}};
}

// The rows of x under 32768 keys, about four each; grouping included.
std::vector<Case> key_cases(Arrays& a) {
  constexpr int64_t kKeys = 32768;
  const auto keys = std::make_shared<Tensor>(random_ids({Arrays::N}, kKeys));
  return {{"sum by key", Bound::kRead, Arrays::kBytes + kKeys * kRowBytes,
           [&a, keys](const Context& c) {
             const KeyGroups groups = group_by_key(c, *keys, kKeys);
             sum_by_key(c, groups, a.x, a.y.view().slice(0, groups.size()));
           }}};
}

// Weights and moments of 65536 rows; a gradient for a quarter of them, of eight terms a row.
struct Weights {
  static constexpr int64_t kRows = 65536;
  static constexpr int64_t kUsed = kRows / 4;
  static constexpr int64_t kTermsPerRow = 8;

  Tensor w = filled({kRows, Arrays::D});
  Tensor m{{kRows, Arrays::D}, DType::kFloat32};
  Tensor v{{kRows, Arrays::D}, DType::kFloat32};
  Tensor done{{kRows}, DType::kInt32};
  RowGradient gradient;
  AdamWSettings settings;
  RateHistory rates;

  explicit Weights(Arrays& a) {
    gradient.rows = Tensor({kUsed}, DType::kInt32);
    int32_t next = 0;
    for (int32_t& row : gradient.rows.span<int32_t>()) row = std::exchange(next, next + 4);
    gradient.offsets = even_offsets(kUsed, kTermsPerRow);
    gradient.points = random_ids({kUsed * kTermsPerRow}, Arrays::N);
    gradient.weights = filled({kUsed * kTermsPerRow});
    gradient.source = a.x;
  }

  AdamWState state() { return {w, m, v}; }

  // Begins a step and says that all rows have done `missed` steps less than those before it.
  void begin_step(int64_t missed) {
    for (int64_t i = 0; i <= missed; ++i) rates.add(1e-3F);
    std::ranges::fill(done.span<int32_t>(), static_cast<int32_t>(rates.steps() - 1 - missed));
  }
};

std::vector<Case> update_cases(Arrays& a) {
  const auto weights = std::make_shared<Weights>(a);
  constexpr double kAll = Weights::kRows * kRowBytes;
  constexpr double kUsed = Weights::kUsed * kRowBytes;
  return {{"adamw", Bound::kCopy, 7 * kAll,
           [&a, weights](const Context& c) {
             adamw(c, weights->settings, 1e-3F, 10, a.x.view().slice(0, Weights::kRows),
                   weights->state());
           }},
          {"adamw, rows", Bound::kCopy, (6 + Weights::kTermsPerRow) * kUsed,
           [weights](const Context& c) {
             weights->begin_step(0);
             adamw_rows(c, weights->settings, weights->rates, weights->gradient, weights->state(),
                        weights->done);
           }},
          {"adamw, catch-up of 20 steps", Bound::kCopy, 6 * kUsed,
           [weights](const Context& c) {
             weights->begin_step(20);
             adamw_catch_up(c, weights->settings, weights->rates, weights->gradient.rows,
                            weights->state(), weights->done);
           }},
          {"row gradient multiplied out", Bound::kRead, (1 + Weights::kTermsPerRow) * kUsed,
           [&a, weights](const Context& c) {
             expand_rows(c, weights->gradient, a.y.view().slice(0, Weights::kUsed));
           }}};
}

std::vector<Case> top_cases(Arrays& a) {
  constexpr int64_t kLabels = 100000;
  constexpr int64_t kPoints = 1312;  // as many as x has room for
  const ConstTensorView scores =
      a.x.view().slice(0, kPoints * kLabels / Arrays::D).reshaped({kPoints, kLabels});
  const auto values = std::make_shared<Tensor>(Shape{kPoints, 100}, DType::kFloat32);
  const auto ids = std::make_shared<Tensor>(Shape{kPoints, 100}, DType::kInt32);
  return {{"top 100 of 100000", Bound::kPass, 4.0 * kPoints * kLabels,
           [scores, values, ids](const Context& c) { top_k(c, scores, *values, *ids); },
           [scores](const Context& c) { largest(c.pool(), scores.span<float>()); }}};
}

// The 100 best of 100,000 rows of bfloat16, for one chunk of points, as prediction takes them.
std::vector<Case> scan_cases() {
  constexpr int64_t kRows = 100000, kWidth = 512;
  std::vector<Case> cases;
  const auto w = std::make_shared<Tensor>(Shape{kRows, kWidth}, DType::kBFloat16);
  ThreadPool pool;
  convert(Context(pool), filled({kRows, kWidth}), *w);
  for (const int64_t points : {1, 64, 256}) {
    const auto x = std::make_shared<Tensor>(filled({points, kWidth}));
    const auto values = std::make_shared<Tensor>(Shape{points, 100}, DType::kFloat32);
    const auto ids = std::make_shared<Tensor>(Shape{points, 100}, DType::kInt32);
    // A few points take less time than their rows.
    const bool few = points <= 64;
    const double operations = 2.0 * kRows * kWidth * static_cast<double>(points);
    cases.push_back({fmt::format("best 100 of 100000 rows, bf16, {} points", points),
                     few                 ? Bound::kRead
                     : multiplies_bf16() ? Bound::kBFloat16
                                         : Bound::kFloat32,
                     few ? 2.0 * kRows * kWidth : operations,
                     [=](const Context& c) { best_rows(c, *x, *w, {}, {}, *values, *ids); }});
  }
  return cases;
}

// The three products of one shape. Weights are packed before, rows on the way.
std::vector<Case> product_cases(const ProductShape& shape, Precision precision) {
  struct Operands {
    Tensor x, w, y, dx, dw;
    PackedWeights forward, backward;
  };
  const auto [N, D, O] = shape;
  const auto o = std::make_shared<Operands>();
  o->x = filled({N, D});
  o->w = filled({O, D});
  o->y = filled({N, O});
  o->dx = filled({N, D});
  o->dw = filled({O, D});
  ThreadPool pool;
  o->forward = pack_weights(Context(pool), o->w, PackedFor::kForward, precision);
  o->backward = pack_weights(Context(pool), o->w, PackedFor::kInputGradient, precision);
  const bool rounded = precision == Precision::kBFloat16;
  const Bound bound = rounded ? Bound::kBFloat16 : Bound::kFloat32;
  const auto name = [&](std::string_view form) {
    return fmt::format("{}, {}, {}", form, rounded ? "bf16" : "float32", shape.name());
  };
  return {{name("linear"), bound, shape.operations(),
           [o](const Context& c) { linear(c, o->x, o->forward, {}, Activation::kNone, o->y); }},
          {name("input gradient"), bound, shape.operations(),
           [o](const Context& c) { linear_input_gradient(c, o->y, o->backward, o->dx); }},
          {name("weight gradient"), bound, shape.operations(), [o, precision](const Context& c) {
             linear_weight_gradient(c, o->y, o->x, precision, o->dw);
           }}};
}

}  // namespace

Tensor filled(Shape shape) {
  Tensor tensor(shape, DType::kFloat32);
  uint32_t state = 1;
  for (float& value : tensor.span<float>()) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state) * 0x1p-31F - 1;
  }
  return tensor;
}

std::string ProductShape::name() const { return fmt::format("{}x{}x{}", N, D, O); }

std::vector<Case> all_cases(Arrays& arrays) {
  std::vector<Case> cases;
  const auto add = [&](std::vector<Case> some) {
    for (Case& one : some) cases.push_back(std::move(one));
  };
  for (const ProductShape& shape : kProductShapes) add(product_cases(shape, Precision::kFloat32));
  if (multiplies_bf16()) {
    for (const ProductShape& shape : kProductShapes) {
      add(product_cases(shape, Precision::kBFloat16));
    }
  }
  add(row_cases(arrays));
  add(bag_cases(arrays));
  add(shortlist_cases(arrays));
  add(key_cases(arrays));
  add(update_cases(arrays));
  add(top_cases(arrays));
  add(scan_cases());
  return cases;
}

}  // namespace elias::bench
