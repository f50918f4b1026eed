#include "head/label_losses.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/lookup/gather_dot.h"
#include "ops/rows/convert.h"

namespace elias {
namespace {

// The scores of a batch of 1,024 points then stay in second caches from the product to the
// gradients, and the products are still wide enough to run at full speed.
constexpr int64_t kLabelsPerBlock = 512;
constexpr size_t kPointsPerChunk = 16;

/// Room for the entries of one point that fall into a block.
struct EntryRoom {
  explicit EntryRoom(size_t size) : z(size), dz(size), targets(size) {}
  std::vector<float> z, dz, targets;
};

/// targets [n] of the labels [n], both rising, as are those of the point.
void find_targets(std::span<const int32_t> labels, const CsrRow& positives,
                  std::span<float> targets) {
  std::fill(targets.begin(), targets.end(), 0.0F);
  size_t place = 0;
  for (size_t i = 0; i < positives.size(); ++i) {
    const auto label = static_cast<int32_t>(positives.columns[i]);
    place = static_cast<size_t>(
        std::lower_bound(labels.begin() + static_cast<ptrdiff_t>(place), labels.end(), label) -
        labels.begin());
    if (place == labels.size()) return;
    if (labels[place] == label) targets[place] = positives.values[i];
  }
}

/// The losses of a batch, block by block of labels.
class BlockPass {
 public:
  BlockPass(const Context& context, const LabelLossOptions& options, const BatchLabels& labels,
            Shortlists& shortlists)
      : context_(context),
        options_(options),
        labels_(labels),
        shortlists_(shortlists),
        next_(shortlists.counts.size(), 0) {}

  /// Turns the scores z [N, n] of the labels [first, first + n) into their gradients.
  LossSums turn_into_gradients(int64_t first, TensorView z) {
    const auto N = static_cast<size_t>(z.rows());
    std::vector<LossSums> sums(chunk_count(N, kPointsPerChunk));
    context_.pool().for_chunks(N, kPointsPerChunk, [&](size_t chunk, size_t begin, size_t end) {
      EntryRoom room(static_cast<size_t>(z.width()));
      for (size_t i = begin; i < end; ++i) {
        const std::span<float> row(z.data<float>() + static_cast<int64_t>(i) * z.stride(),
                                   static_cast<size_t>(z.width()));
        add(shortlisted(i, first, row, room), sums[chunk]);
      }
    });
    LossSums total;
    for (const LossSums& own : sums) add(own, total);
    return total;
  }

 private:
  static void add(const LossSums& own, LossSums& total) {
    total.on_p += own.on_p;
    total.on_z += own.on_z;
  }

  // The entries of point i's shortlist that are labels of the block; then all labels, if they
  // count.
  LossSums shortlisted(size_t i, int64_t first, std::span<float> z, EntryRoom& room) {
    std::span<const int32_t> entries;
    LossSums sums;
    if (shortlists_.points() > 0) {
      const auto all = shortlists_.row<int32_t>(shortlists_.labels, i);
      const auto from = static_cast<size_t>(next_[i]);
      const auto to = static_cast<size_t>(
          std::lower_bound(all.begin() + next_[i], all.end(),
                           static_cast<int32_t>(first + static_cast<int64_t>(z.size()))) -
          all.begin());
      next_[i] = static_cast<int32_t>(to);
      entries = all.subspan(from, to - from);
      for (size_t e = 0; e < entries.size(); ++e) room.z[e] = z[entries[e] - first];
      find_targets(entries, labels_.row(i), {room.targets.data(), entries.size()});
      sums = shortlist_losses(
          context_.isa(),
          {.z = room.z.data(),
           .yhat = shortlists_.row<float>(shortlists_.yhat, i).data() + from,
           .targets = room.targets.data(),
           .dz = room.dz.data(),
           .dlog_yhat = shortlists_.row<float>(shortlists_.dlog_yhat, i).data() + from,
           .size = entries.size()},
          {.on_p = options_.weights.on_p, .on_z = options_.all_labels ? 0 : options_.weights.on_z});
    }
    if (options_.all_labels) {
      sums.on_z = reject_all(i, first, z);
      return sums;
    }
    std::fill(z.begin(), z.end(), 0.0F);
    for (size_t e = 0; e < entries.size(); ++e) z[entries[e] - first] = room.dz[e];
    return sums;
  }

  // The loss on z over all labels of the block.
  double reject_all(size_t i, int64_t first, std::span<float> z) const {
    const CsrRow positives = labels_.row(i);
    const auto own = std::lower_bound(positives.columns.begin(), positives.columns.end(), first);
    const auto begin = static_cast<size_t>(own - positives.columns.begin());
    const float weight = options_.weights.on_z;
    double accepted = 0;
    for (size_t j = begin; j < positives.size(); ++j) {
      const int64_t place = positives.columns[j] - first;
      if (place >= static_cast<int64_t>(z.size())) break;
      accepted += double{positives.values[j]} * double{z[place]};
    }
    const double rejected = rejection_losses(context_.isa(), weight, z);
    for (size_t j = begin; j < positives.size(); ++j) {
      const int64_t place = positives.columns[j] - first;
      if (place >= static_cast<int64_t>(z.size())) break;
      z[place] -= weight * positives.values[j];
    }
    return rejected - accepted;
  }

  const Context& context_;
  const LabelLossOptions& options_;
  const BatchLabels& labels_;
  Shortlists& shortlists_;
  std::vector<int32_t> next_;  // [N] the first entry of each shortlist that no block has had yet
};

}  // namespace

LossSums label_losses_by_blocks(const Context& context, const LabelLossOptions& options,
                                ConstTensorView phi, const LabelClassifiers& classifiers,
                                const BatchLabels& labels, Shortlists& shortlists, TensorView dphi,
                                TensorView dweights, TensorView dbias) {
  const int64_t N = phi.rows();
  const int64_t L = classifiers.weights.rows();
  ELIAS_ASSERT(shortlists.points() == N || (shortlists.points() == 0 && options.all_labels));
  Tensor scores({N, std::min(L, kLabelsPerBlock)}, DType::kFloat32);
  BlockPass pass(context, options, labels, shortlists);
  LossSums total;
  for (int64_t first = 0; first < L; first += kLabelsPerBlock) {
    const int64_t last = std::min(L, first + kLabelsPerBlock);
    const ConstTensorView w = classifiers.weights.slice(first, last);
    const TensorView z(scores.span<float>().data(), {N, last - first});
    linear(context, phi, pack_weights(context, w, PackedFor::kForward, options.precision),
           classifiers.bias.slice(first, last), Activation::kNone, z);
    const LossSums sums = pass.turn_into_gradients(first, z);
    total.on_p += sums.on_p;
    total.on_z += sums.on_z;
    const auto to_dphi = first == 0 ? linear_input_gradient : add_linear_input_gradient;
    to_dphi(context, z, pack_weights(context, w, PackedFor::kInputGradient, options.precision),
            dphi);
    linear_weight_gradient(context, z, phi, options.precision, dweights.slice(first, last));
    linear_bias_gradient(context, z, dbias.slice(first, last));
  }
  return total;
}

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
      chunk_sums[chunk].on_p += point.on_p;
      chunk_sums[chunk].on_z += point.on_z;
    }
  });
  for (const LossSums& own : chunk_sums) {
    sums.on_p += own.on_p;
    sums.on_z += own.on_z;
  }
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
