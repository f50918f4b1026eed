#include "head/label_losses.h"

#include "base/errors.h"
#include "head/entry_targets.h"
#include "ops/lookup/gather_dot.h"
#include "ops/rows/convert.h"

namespace elias {

LabelRowGradients label_losses_by_rows(const Context& context, const LabelLossOptions& options,
                                       ConstTensorView phi, const LabelClassifiers& classifiers,
                                       const BatchLabels& labels, Shortlists& shortlists,
                                       TensorView dphi, LossSums& sums) {
  ELIAS_ASSERT(!options.all_labels && shortlists.points() == phi.rows());
  const auto N = static_cast<size_t>(phi.rows());
  const int64_t L = classifiers.weights.rows();
  const auto K = static_cast<size_t>(shortlists.places());
  Tensor z(shortlists.labels.shape(), DType::kFloat32);
  gather_dot(context, phi, classifiers.weights, classifiers.bias, shortlists.labels, z);
  constexpr size_t kPointsPerChunk = 16;
  std::vector<LossSums> chunk_sums(chunk_count(N, kPointsPerChunk));
  context.pool().for_chunks(N, kPointsPerChunk, [&](size_t chunk, size_t begin, size_t end) {
    std::vector<float> targets(K);
    for (size_t i = begin; i < end; ++i) {
      const auto own = shortlists.row<int32_t>(shortlists.labels, i);
      find_targets(own, labels.row(i), {targets.data(), own.size()});
      float* const scores = z.span<float>().data() + i * K;
      const LossSums point =
          shortlist_losses(context.isa(),
                           {.z = scores,
                            .yhat = shortlists.row<float>(shortlists.yhat, i).data(),
                            .targets = targets.data(),
                            .dz = scores,
                            .dlog_yhat = shortlists.row<float>(shortlists.dlog_yhat, i).data(),
                            .size = own.size()},
                           options.weights);
      chunk_sums[chunk].add(point);
    }
  });
  for (const LossSums& own : chunk_sums) sums.add(own);
  gather_dot_input_gradient(context, z, classifiers.weights, shortlists.labels, dphi);
  LabelRowGradients gradients;
  ConstTensorView source = phi;
  if (options.precision == Precision::kBFloat16) {
    gradients.rounded_phi = Tensor(phi.shape(), DType::kBFloat16);
    convert(context, phi, gradients.rounded_phi);
    source = gradients.rounded_phi;
  }
  gradients.ones = Tensor({phi.rows(), 1}, DType::kFloat32);
  std::fill(gradients.ones.span<float>().begin(), gradients.ones.span<float>().end(), 1.0F);
  gradients.weights = gather_dot_weight_gradient(context, z, source, shortlists.labels, L);
  gradients.bias.rows = copy_to(Device::kCpu, gradients.weights.rows);
  gradients.bias.offsets = copy_to(Device::kCpu, gradients.weights.offsets);
  gradients.bias.points = copy_to(Device::kCpu, gradients.weights.points);
  gradients.bias.weights = copy_to(Device::kCpu, gradients.weights.weights);
  gradients.bias.source = gradients.ones;
  return gradients;
}

}  // namespace elias
