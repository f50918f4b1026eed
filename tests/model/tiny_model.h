// Small random models: weights in memory, and points for them.
#pragma once

#include <string>
#include <vector>

#include "model/predictor.h"
#include "tests/ops/numbers.h"

namespace elias {

struct TinySizes {
  int64_t V = 30, D = 12, C = 6, L = 40;  // C = 0: one-vs-all
  int layers = 1;
  bool halves = false;  // label weights in bfloat16
  uint64_t seed = 1;
  BagForm form = {};
};

/// Every label is in up to three rows of the graph, and label L - 1 in none.
class TinyModel {
 public:
  explicit TinyModel(const TinySizes& sizes) : sizes_(sizes), seed_(sizes.seed * 1000) {
    const auto [V, D, C, L, layers, halves, seed, form] = sizes;
    table = make({V, D}, -1, 1);
    gain = make({D}, 0.5, 1.5);
    shift = make({D}, -0.5, 0.5);
    for (int i = 0; i < layers; ++i) {
      residual.push_back(
          {make({D, D}, -1, 1), make({D}, -0.5, 0.5), make({D}, 0.5, 1.5), make({D}, -0.5, 0.5)});
    }
    label_weights = make({L, D}, -1, 1);
    label_bias = make({L}, -1, 0);
    if (halves) round_label_weights();
    if (C > 0) make_index();
  }

  PredictorWeights views() const {
    PredictorWeights views{
        .encoder = BagWeights<ConstTensorView>{table, gain, shift, {}, sizes_.form},
        .cluster_weights = {},
        .cluster_bias = {},
        .graph = {},
        .label_weights = sizes_.halves ? rounded : label_weights,
        .label_bias = label_bias};
    for (const Layer& layer : residual) {
      views.encoder.bag().layers.push_back({layer.weights, layer.bias, layer.gain, layer.shift});
    }
    if (sizes_.C == 0) return views;
    views.cluster_weights = cluster_weights;
    views.cluster_bias = cluster_bias;
    views.graph = {sizes_.L, offsets, labels, scores};
    return views;
  }

  const TinySizes& sizes() const { return sizes_; }

  struct Layer {
    Tensor weights, bias, gain, shift;
  };
  Tensor table, gain, shift;
  std::vector<Layer> residual;
  Tensor cluster_weights, cluster_bias;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> labels;
  std::vector<float> scores;
  Tensor label_weights;  // what is computed with, also where `rounded` is given
  Tensor rounded;        // the same in bfloat16
  Tensor label_bias;

 private:
  Tensor make(Shape shape, float low, float high) {
    return random_floats(shape, ++seed_, low, high);
  }

  void round_label_weights() {
    rounded = Tensor(label_weights.shape(), DType::kBFloat16);
    const auto values = label_weights.span<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      rounded.span<BFloat16>()[i] = to_bfloat16(values[i]);
      values[i] = to_float(rounded.span<BFloat16>()[i]);
    }
  }

  void make_index() {
    cluster_weights = make({sizes_.C, sizes_.D}, -1, 1);
    cluster_bias = make({sizes_.C}, -0.5, 0.5);
    const Random random(sizes_.seed, 99);
    for (int64_t c = 0; c < sizes_.C; ++c) {
      for (int64_t l = 0; l + 1 < sizes_.L; ++l) {
        bool edge = l % sizes_.C == c;
        for (uint64_t i = 0; i < 2; ++i) {
          edge = edge || random.below(2 * l + i, sizes_.C) == static_cast<uint64_t>(c);
        }
        if (!edge) continue;
        labels.push_back(static_cast<int32_t>(l));
        scores.push_back(static_cast<float>(random.uniform(1000 + labels.size())));
      }
      offsets.push_back(static_cast<int64_t>(labels.size()));
    }
  }

  TinySizes sizes_;
  uint64_t seed_;
};

/// N points of up to 9 features below V; the first has none.
inline Csr random_points(size_t N, uint64_t V, uint64_t seed) {
  Csr points;
  points.cols = V;
  RandomSequence random(seed, 5);
  for (size_t n = 0; n < N; ++n) {
    const uint64_t size = n == 0 ? 0 : 1 + random.below(9);
    for (uint64_t i = 0; i < size; ++i) {
      points.columns.push_back(static_cast<uint32_t>(random.below(V)));
      points.values.push_back(static_cast<float>(0.1 + random.uniform()));
    }
    points.finish_row(Csr::Repeats::kSum);
  }
  return points;
}

}  // namespace elias
