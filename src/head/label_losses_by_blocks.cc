// The labels are cut into parts, each the work of one thread from its scores to its gradients: what
// a thread has made is in its own caches when it needs it again. The points are what the products
// take as weights, packed once for all labels, and the labels of a block are the rows (ops/product/
// linear.h), so a block of n labels has its scores as z [n, N]:
//
//   z = W phi' + b          forward, of the rows W
//   dW += dz phi            input gradient of those rows
//   dphi += dz' W           weight gradient: one sum a part, and the sum of these at the end
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "head/entry_targets.h"
#include "head/label_losses.h"
#include "ops/cpu/scratch.h"

namespace elias {
namespace {

// Parts at most: more would keep more threads busy, but each has a dphi of its own.
constexpr int64_t kParts = 16;
// Labels of a block at most: the scores of 1,024 points then stay near the processor from the
// product to the gradients, and the products are still large enough to run at full speed. Always a
// multiple of what the products take at a time.
constexpr int64_t kLabelsPerBlock = 512;
constexpr int64_t kLabelsAtATime = 32;
// Points whose scores of one label share a line of cache.
constexpr size_t kPointsPerLine = 16;

int64_t labels_per_block(int64_t L) {
  const int64_t a_part = (L + kParts - 1) / kParts;
  return std::min(kLabelsPerBlock, (a_part + kLabelsAtATime - 1) / kLabelsAtATime * kLabelsAtATime);
}

/// What all blocks read.
struct Batch {
  const Context& context;
  const LabelLossOptions& options;
  const LabelClassifiers& classifiers;
  const BatchLabels& labels;
  PackedWeights phi_for_scores, phi_for_weights;

  size_t size() const { return labels.points.size(); }
};

/// What they write, each its own labels.
struct Results {
  Shortlists& shortlists;
  TensorView dweights, dbias;
};

// Of this thread.
float* room_for_scores(int64_t size) {
  static thread_local cpu::Scratch scratch;
  return static_cast<float*>(scratch.bytes(static_cast<size_t>(size) * sizeof(float)));
}

/// The blocks of one part, one after the other, on one thread.
class Part {
 public:
  Part(const Batch& batch, const Results& results, int64_t block, int64_t width)
      : batch_(batch),
        results_(results),
        dphi_({static_cast<int64_t>(batch.size()), width}, DType::kFloat32),
        scores_(room_for_scores(block * static_cast<int64_t>(batch.size())),
                {block, static_cast<int64_t>(batch.size())}),
        next_(static_cast<size_t>(results.shortlists.points())),
        room_(kPointsPerLine, Entries(static_cast<size_t>(block))) {}

  /// From label `first` on.
  void start(int64_t first) {
    for (size_t i = 0; i < next_.size(); ++i) next_[i] = place_of(i, 0, first);
  }

  void learn_block(int64_t first, int64_t last) {
    const ConstTensorView w = batch_.classifiers.weights.slice(first, last);
    const Block block{.first = first,
                      .z = scores_.slice(0, last - first),
                      .bias = batch_.classifiers.bias.span<float>().subspan(
                          static_cast<size_t>(first), static_cast<size_t>(last - first)),
                      .dbias = results_.dbias.span<float>().subspan(
                          static_cast<size_t>(first), static_cast<size_t>(last - first))};
    linear(batch_.context, w, batch_.phi_for_scores, {}, Activation::kNone, block.z);
    for (size_t i = 0; i < next_.size(); i += kPointsPerLine) {
      learn_shortlists(block, i, std::min(next_.size(), i + kPointsPerLine));
    }
    if (batch_.options.all_labels) reject_all(block);
    add_linear_input_gradient(batch_.context, block.z, batch_.phi_for_weights,
                              results_.dweights.slice(first, last));
    linear_weight_gradient(batch_.context, block.z, w, batch_.options.precision, dphi_);
  }

  const LossSums& sums() const { return sums_; }
  ConstTensorView dphi() const { return dphi_; }

 private:
  struct Block {
    int64_t first;                // label
    TensorView z;                 // [n, N]
    std::span<const float> bias;  // [n]
    std::span<float> dbias;       // [n]

    int64_t end() const { return first + z.rows(); }
    float& at(int64_t label, size_t point) const {
      return z.data<float>()[(label - first) * z.stride() + static_cast<int64_t>(point)];
    }
  };

  /// The entries of one point that fall into a block.
  struct Entries {
    explicit Entries(size_t most) : z(most), dz(most), targets(most) {}
    std::vector<float> z, dz, targets;
    std::span<const int32_t> labels;
  };

  // Where in point i's shortlist, from place `from` on, labels are `label` or above.
  int32_t place_of(size_t i, int32_t from, int64_t label) const {
    const auto all = results_.shortlists.row<int32_t>(results_.shortlists.labels, i);
    return static_cast<int32_t>(
        std::lower_bound(all.begin() + from, all.end(), static_cast<int32_t>(label)) - all.begin());
  }

  // The losses of points [begin, end) on the labels of their shortlists. If these are all that
  // counts, scores become gradients.
  void learn_shortlists(const Block& block, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) learn_shortlist(block, i, room_[i - begin]);
    if (batch_.options.all_labels) return;
    for (int64_t label = block.first; label < block.end(); ++label) {
      std::fill_n(&block.at(label, begin), end - begin, 0.0F);
    }
    for (size_t i = begin; i < end; ++i) {
      const Entries& own = room_[i - begin];
      for (size_t e = 0; e < own.labels.size(); ++e) {
        block.at(own.labels[e], i) = own.dz[e];
        block.dbias[own.labels[e] - block.first] += own.dz[e];
      }
    }
  }

  void learn_shortlist(const Block& block, size_t i, Entries& own) {
    Shortlists& lists = results_.shortlists;
    const int32_t from = std::exchange(next_[i], place_of(i, next_[i], block.end()));
    own.labels = lists.row<int32_t>(std::as_const(lists.labels), i).subspan(from, next_[i] - from);
    for (size_t e = 0; e < own.labels.size(); ++e) {
      own.z[e] = block.at(own.labels[e], i) + block.bias[own.labels[e] - block.first];
    }
    find_targets(own.labels, batch_.labels.row(i), {own.targets.data(), own.labels.size()});
    const LossWeights& weights = batch_.options.weights;
    LossSums sums =
        shortlist_losses(batch_.context.isa(),
                         {.z = own.z.data(),
                          .yhat = lists.row<float>(lists.yhat, i).data() + from,
                          .targets = own.targets.data(),
                          .dz = own.dz.data(),
                          .dlog_yhat = lists.row<float>(lists.dlog_yhat, i).data() + from,
                          .size = own.labels.size()},
                         weights);
    if (batch_.options.all_labels) sums.on_z = 0;  // counted with all others
    sums_.add(sums);
  }

  // The loss on z over all labels of the block, whose scores become gradients.
  void reject_all(const Block& block) {
    const float weight = batch_.options.weights.on_z;
    for_positives(block, [&](int64_t label, size_t i, float target) {
      sums_.on_z -=
          double{target} * (double{block.at(label, i)} + double{block.bias[label - block.first]});
    });
    for (int64_t n = 0; n < block.z.rows(); ++n) {
      const RejectionSums row = rejection_losses(batch_.context.isa(), weight, block.bias[n],
                                                 {&block.at(block.first + n, 0), batch_.size()});
      sums_.on_z += row.loss;
      block.dbias[n] += static_cast<float>(row.gradient);
    }
    for_positives(block, [&](int64_t label, size_t i, float target) {
      block.at(label, i) -= weight * target;
      block.dbias[label - block.first] -= weight * target;
    });
  }

  // Calls use(label, i, target) for the labels of the block that point i has, point by point.
  template <typename Use>
  void for_positives(const Block& block, const Use& use) const {
    for (size_t i = 0; i < batch_.size(); ++i) {
      const CsrRow own = batch_.labels.row(i);
      const auto first = std::lower_bound(own.columns.begin(), own.columns.end(), block.first);
      for (auto j = static_cast<size_t>(first - own.columns.begin()); j < own.size(); ++j) {
        const auto label = static_cast<int64_t>(own.columns[j]);
        if (label >= block.end()) break;
        use(label, i, own.values[j]);
      }
    }
  }

  const Batch& batch_;
  Results results_;
  LossSums sums_;
  Tensor dphi_;                // [N, D]
  TensorView scores_;          // [n, N]
  std::vector<int32_t> next_;  // [N] the first entry of each shortlist that no block has had yet
  std::vector<Entries> room_;  // of as many points as share a line
};

// dphi [N, D] of all parts, added up in their order.
void add_up(const Context& context, const std::vector<std::optional<Part>>& parts,
            TensorView dphi) {
  const auto width = static_cast<size_t>(dphi.width());
  context.pool().for_each(static_cast<size_t>(dphi.rows()), [&](size_t i) {
    float* const sum = dphi.data<float>() + static_cast<int64_t>(i) * dphi.stride();
    std::copy_n(parts.front()->dphi().data<float>() + i * width, width, sum);
    for (size_t p = 1; p < parts.size(); ++p) {
      const float* const own = parts[p]->dphi().data<float>() + i * width;
      for (size_t d = 0; d < width; ++d) sum[d] += own[d];
    }
  });
}

}  // namespace

LossSums label_losses_by_blocks(const Context& context, const LabelLossOptions& options,
                                ConstTensorView phi, const LabelClassifiers& classifiers,
                                const BatchLabels& labels, Shortlists& shortlists, TensorView dphi,
                                TensorView dweights, TensorView dbias) {
  const int64_t N = phi.rows();
  const int64_t L = classifiers.weights.rows();
  ELIAS_ASSERT(shortlists.points() == N || (shortlists.points() == 0 && options.all_labels));
  const Batch batch{
      .context = context,
      .options = options,
      .classifiers = classifiers,
      .labels = labels,
      .phi_for_scores = pack_weights(context, phi, PackedFor::kForward, options.precision),
      .phi_for_weights = pack_weights(context, phi, PackedFor::kInputGradient, options.precision)};
  const Results results{.shortlists = shortlists, .dweights = dweights, .dbias = dbias};
  const int64_t per_block = labels_per_block(L);
  const int64_t blocks = (L + per_block - 1) / per_block;
  const int64_t part_count = std::min(kParts, blocks);
  std::vector<std::optional<Part>> parts(static_cast<size_t>(part_count));
  context.pool().for_each(parts.size(), [&](size_t p) {
    const auto begin = static_cast<int64_t>(p) * blocks / part_count;
    const auto end = static_cast<int64_t>(p + 1) * blocks / part_count;
    Part& part = parts[p].emplace(batch, results, per_block, phi.width());
    part.start(begin * per_block);
    for (int64_t block = begin; block < end; ++block) {
      part.learn_block(block * per_block, std::min(L, (block + 1) * per_block));
    }
  });
  LossSums total;
  for (const auto& part : parts) total.add(part->sums());
  add_up(context, parts, dphi);
  return total;
}

}  // namespace elias
