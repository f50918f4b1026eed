// The bag encoder, slow and obvious.
#pragma once

#include <vector>

#include "encoder/bag.h"
#include "tests/ops/embedding_bag_reference.h"
#include "tests/ops/layer_norm_reference.h"
#include "tests/ops/linear_reference.h"
#include "tests/ops/relu_reference.h"
#include "tests/ops/unit_rows_reference.h"

namespace elias::reference {

template <typename T>
struct BagLayer {
  std::vector<T> weights, bias, gain, shift;
};

template <typename T>
struct BagWeights {
  std::vector<T> table, gain, shift;
  std::vector<BagLayer<T>> layers;
  BagForm form{};
};

// phi [N, D]; `mask` [N, D] is what dropout makes of ones, or empty.
template <typename T>
std::vector<T> encode_bags(const BagsOf& bags, const BagWeights<T>& weights,
                           const std::vector<T>& mask) {
  const T epsilon = 1e-5;
  const size_t D = weights.gain.size();
  const size_t N = bags.points();
  std::vector<T> h = embedding_bag(bags, weights.table, D);
  if (weights.form.layer_norm) {
    h = layer_norm(h, weights.gain, weights.shift, epsilon).y;
  } else {
    for (size_t i = 0; i < h.size(); ++i) {
      h[i] = weights.gain[i % D] * h[i] + weights.shift[i % D];
    }
  }
  if (weights.form.relu) h = relu(h);
  for (const BagLayer<T>& layer : weights.layers) {
    const auto mixed = linear(h, layer.weights, layer.bias, /*relu=*/false, N, D, D);
    const auto added = relu(layer_norm(mixed, layer.gain, layer.shift, epsilon).y);
    for (size_t i = 0; i < h.size(); ++i) h[i] += added[i];
  }
  for (size_t i = 0; i < mask.size(); ++i) h[i] *= mask[i];
  if (weights.form.unit) h = unit_rows(h, D).y;
  return h;
}

}  // namespace elias::reference
