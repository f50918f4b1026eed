#include "model/listed_labels.h"

#include "ops/lookup/gather_dot.h"

namespace elias {

void ListedLabels::rank(const Context& context, const PredictorWeights& weights,
                        ConstTensorView phi, std::span<const int32_t> listed,
                        const RankedLabels& ranked) {
  const auto n = static_cast<size_t>(phi.rows());
  const size_t places = ranked.labels.size() / n;
  z_.resize(listed.size());
  scored_.resize(listed.size());
  for (size_t i = 0; i < n; ++i) {
    const auto point = static_cast<int64_t>(i);
    const Shape row{1, static_cast<int64_t>(listed.size())};
    gather_dot(context, phi.slice(point, point + 1), weights.label_weights, weights.label_bias,
               ConstTensorView(listed.data(), row), TensorView(z_.data(), row));
    for (size_t j = 0; j < listed.size(); ++j) {
      scored_[j] = {.score = sigmoid(z_[j]), .label = listed[j]};
    }
    write_best(std::span(scored_), ranked.labels.subspan(i * places, places),
               ranked.scores.subspan(i * places, places));
  }
}

}  // namespace elias
