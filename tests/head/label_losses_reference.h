// The losses of a batch on its labels in double: all products, then entry by entry.
#pragma once

#include <cstdint>
#include <vector>

#include "index/shortlists.h"
#include "tests/head/losses_reference.h"

namespace elias::reference {

struct LabelProblem {
  size_t points, width, labels;  // N, D, L
  std::vector<double> phi;       // [N, D]
  std::vector<double> weights;   // [L, D]
  std::vector<double> bias;      // [L]
};

struct LabelLosses {
  double on_p = 0, on_z = 0;
  std::vector<double> dphi, dweights, dbias;
  std::vector<double> dlog_yhat;  // [N, K], 0 in places that are not filled
};

inline double target_of(const CsrRow& row, size_t label) {
  for (size_t j = 0; j < row.size(); ++j) {
    if (row.columns[j] == label) return row.values[j];
  }
  return 0;
}

inline LabelLosses label_losses(const LabelProblem& problem, const BatchLabels& labels,
                                const Shortlists& shortlists, double weight_p, double weight_z,
                                bool all_labels) {
  const auto [N, D, L, phi, weights, bias] = problem;
  LabelLosses result;
  result.dphi.resize(N * D);
  result.dweights.resize(L * D);
  result.dbias.resize(L);
  const auto K = shortlists.points() > 0 ? static_cast<size_t>(shortlists.places()) : 0;
  result.dlog_yhat.resize(N * K);
  for (size_t i = 0; i < N; ++i) {
    for (size_t l = 0; l < L; ++l) {
      double z = bias[l];
      for (size_t d = 0; d < D; ++d) z += phi[i * D + d] * weights[l * D + d];
      const double t = target_of(labels.row(i), l);
      const double sigma = sigmoid(z);
      double dz = 0;
      bool listed = false;
      for (size_t k = 0; k < K; ++k) {
        const size_t at = i * K + k;
        if (shortlists.labels.span<int32_t>()[at] != static_cast<int32_t>(l)) continue;
        listed = true;
        const double yhat = shortlists.yhat.span<float>()[at];
        result.on_p += loss_on_p(z, std::log(yhat), t);
        result.dlog_yhat[at] = weight_p * ((1 - t) * yhat * sigma / rest_of(z, yhat) - t);
        if (!all_labels) dz += result.dlog_yhat[at] * sigmoid(-z);
      }
      if (listed || all_labels) {
        result.on_z += loss_on_z(z, t);
        dz += weight_z * (sigma - t);
      }
      result.dbias[l] += dz;
      for (size_t d = 0; d < D; ++d) {
        result.dphi[i * D + d] += dz * weights[l * D + d];
        result.dweights[l * D + d] += dz * phi[i * D + d];
      }
    }
  }
  return result;
}

}  // namespace elias::reference
