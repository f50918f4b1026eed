// Prediction, slow and obvious, in double: the equations at the head of model/predictor.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/encoder/bag_reference.h"
#include "tests/model/tiny_model.h"

namespace elias::reference {

inline BagWeights<double> encoder_of(const TinyModel& model) {
  BagWeights<double> weights{values_of<double>(model.table),
                             values_of<double>(model.gain),
                             values_of<double>(model.shift),
                             {}};
  for (const auto& layer : model.residual) {
    weights.layers.push_back({values_of<double>(layer.weights), values_of<double>(layer.bias),
                              values_of<double>(layer.gain), values_of<double>(layer.shift)});
  }
  return weights;
}

inline std::vector<double> phi_of(const TinyModel& model, const CsrRow& point) {
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(point.size())};
  const std::vector<int32_t> ids(point.columns.begin(), point.columns.end());
  const std::vector<float> weights(point.values.begin(), point.values.end());
  return encode_bags<double>({offsets, ids, weights}, encoder_of(model), {});
}

inline double product(const std::vector<double>& phi, const Tensor& weights, const Tensor& bias,
                      size_t row) {
  double sum = bias.span<float>()[row];
  for (size_t i = 0; i < phi.size(); ++i) {
    sum += phi[i] * double{weights.span<float>()[row * phi.size() + i]};
  }
  return sum;
}

/// The indices of the `count` largest, the lower of equals first.
inline std::vector<size_t> largest(const std::vector<double>& values, size_t count) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

/// yhat [L]; 0 for labels that are not found.
inline std::vector<double> search(const TinyModel& model, const std::vector<double>& phi,
                                  const SearchSettings& settings) {
  const auto C = static_cast<size_t>(model.sizes().C);
  std::vector<double> s(C);
  for (size_t c = 0; c < C; ++c) s[c] = product(phi, model.cluster_weights, model.cluster_bias, c);
  const auto best = largest(s, static_cast<size_t>(settings.beam));  // by logits, not scores
  const double most = *std::max_element(s.begin(), s.end());
  double sum = 0;
  for (double& z : s) sum += z = std::exp(z - most);
  for (double& z : s) z = std::min(1.0, double{settings.alpha} * z / sum);
  std::vector<double> yhat(static_cast<size_t>(model.sizes().L));
  for (const size_t c : best) {
    for (auto e = model.offsets[c]; e < model.offsets[c + 1]; ++e) {
      double& found = yhat[model.labels[e]];
      found = std::max(found, s[c] * double{model.scores[e]});
    }
  }
  return yhat;
}

/// The final scores [L] of a point, -1 for labels that are not scored.
inline std::vector<double> predict(const TinyModel& model, const CsrRow& point,
                                   const SearchSettings& settings,
                                   const std::vector<uint8_t>& allowed) {
  const auto L = static_cast<size_t>(model.sizes().L);
  const auto phi = phi_of(model, point);
  const bool exact = model.sizes().C == 0;
  std::vector<double> yhat = exact ? std::vector<double>(L, 1) : search(model, phi, settings);
  const auto K = exact ? L : static_cast<size_t>(settings.shortlist);
  const auto count = static_cast<size_t>(std::count(allowed.begin(), allowed.end(), 1));
  for (size_t l = 0; l < allowed.size(); ++l) {
    if (allowed[l] == 0) {
      yhat[l] = 0;
    } else if (count <= K) {
      yhat[l] = std::max(yhat[l], double{std::numeric_limits<float>::min()});
    }
  }
  std::vector<double> scores(L, -1);
  for (const size_t l : largest(yhat, K)) {
    if (yhat[l] == 0) continue;
    const double z = product(phi, model.label_weights, model.label_bias, l);
    scores[l] = std::pow(yhat[l], exact ? 0 : double{settings.gamma}) / (1 + std::exp(-z));
  }
  return scores;
}

}  // namespace elias::reference
