// How much memory a run will take: counted from shapes, so it is a bound on what is large, not a
// measurement. What is small or passes quickly is left out.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/settings.h"

namespace elias {
namespace {

constexpr double kTrained = 16;       // bytes of a weight: itself, two moments, its average
constexpr double kTrainedDense = 20;  // and a gradient
constexpr double kEntry = 8;          // of a sparse matrix: column and value
constexpr double kTermsOfCentroid = 200;

}  // namespace

uint64_t MemoryEstimate::total() const {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const auto& part) { return sum + part.second; });
}

MemoryEstimate estimate_memory(const Settings& settings, const DataSizes& sizes) {
  const auto N = static_cast<double>(sizes.points), V = static_cast<double>(sizes.features);
  const auto L = static_cast<double>(sizes.labels), D = static_cast<double>(settings.width);
  const auto C = static_cast<double>(settings.clusters);
  const auto K = static_cast<double>(settings.shortlist);
  const auto batch = static_cast<double>(settings.batch);
  const bool ova = settings.method == Method::kOva;
  MemoryEstimate estimate;
  const auto add = [&](const char* part, double bytes) {
    estimate.parts.emplace_back(part, static_cast<uint64_t>(bytes));
  };
  add("points", N * (kEntry * (sizes.features_per_point + sizes.labels_per_point) + 16));
  add("embedding table", V * D * kTrained);
  add("encoder layers", static_cast<double>(settings.layers) * D * D * kTrainedDense);
  // With a gradient of all, which there is where labels are worked on in blocks, and a copy in
  // bfloat16 for products.
  add("label classifiers", L * D * (kTrainedDense + (settings.bf16 ? 2 : 0)));
  const double layers = static_cast<double>(settings.layers) + 1;
  const double activations = batch * D * 4 * (4 * layers + 3);
  if (ova) {
    add("a batch", activations);
    return estimate;
  }
  add("clusters", C * D * kTrainedDense);
  // A label and a score an edge beside the trained value, of stage 2 alone.
  if (settings.stage2_epochs > 0) {
    add("label graph", C * static_cast<double>(settings.edges) * (kTrainedDense + 8));
  }
  // Centroids of labels while they are clustered: dense ones after a short stage 1, and sparse ones
  // of the label's largest terms.
  const double terms =
      std::min(N * sizes.labels_per_point * sizes.features_per_point, L * kTermsOfCentroid);
  add("clustering", terms * kEntry + (settings.warm_epochs > 0 ? (L + N) * D * 4 : 0));
  // Score, edge, slot, logit, gradients, target of each label of a shortlist, its pairs inverted by
  // label, and the scores of all clusters.
  add("a batch", activations + batch * (K * 40 + C * 8));
  return estimate;
}

}  // namespace elias
