#include "index/beam.h"

#include "ops/lookup/top_k.h"
#include "ops/rows/softmax_clamp.h"

namespace elias {
namespace {

// At least `rows` rows of `width`.
void grow(Tensor& tensor, int64_t rows, int64_t width, DType dtype) {
  if (tensor && tensor.shape()[0] >= rows) return;
  tensor = Tensor({rows, width}, dtype);
}

}  // namespace

void Beam::find(const Context& context, const PackedWeights& clusters, ConstTensorView bias,
                ConstTensorView phi) {
  const int64_t n = points_ = phi.rows();
  const int64_t C = clusters.outer();
  grow(scores_, n, C, DType::kFloat32);
  grow(log_sums_, n, 1, DType::kFloat32);
  grow(best_scores_, n, b_, DType::kFloat32);
  grow(best_clusters_, n, b_, DType::kInt32);
  const TensorView s = scores_.view().slice(0, n);
  linear(context, phi, clusters, bias, Activation::kNone, s);
  top_k(context, s, best_scores_.view().slice(0, n), best_clusters_.view().slice(0, n));
  softmax_clamp(context, s, alpha_, s, log_sums_.view().slice(0, n).reshaped({n}));
  const auto best = best_clusters_.span<int32_t>();
  for (int64_t place = 0; place < n * b_; ++place) {
    best_scores_.span<float>()[place] = scores_.span<float>()[place / b_ * C + best[place]];
  }
}

std::span<const int32_t> Beam::clusters(int64_t i) const {
  return best_clusters_.span<int32_t>().subspan(static_cast<size_t>(i * b_),
                                                static_cast<size_t>(b_));
}

std::span<const float> Beam::scores(int64_t i) const {
  return best_scores_.span<float>().subspan(static_cast<size_t>(i * b_), static_cast<size_t>(b_));
}

std::span<const float> Beam::all_scores(int64_t i) const {
  const auto C = static_cast<size_t>(scores_.view().width());
  return scores_.span<float>().subspan(static_cast<size_t>(i) * C, C);
}

}  // namespace elias
