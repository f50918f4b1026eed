#include "model/member_room.h"

#include <limits>

#include "ops/check.h"

namespace elias {
namespace {

constexpr DType kFloat = DType::kFloat32;
constexpr int64_t kAny = Operand::kAny;
constexpr std::string_view kWho = "the model";

void check_encoder(const BagWeights<ConstTensorView>& encoder) {
  const ConstTensorView& table = encoder.table;
  require_cpu(kWho, check(kWho, {{"encoder table", table, kFloat, {kAny, kAny}}}));
  const int64_t D = table.width();
  check(kWho, {{"encoder table", table, kFloat, {kAny, D}},
               {"encoder gain", encoder.gain, kFloat, {D}},
               {"encoder shift", encoder.shift, kFloat, {D}}});
  for (const BagLayer<ConstTensorView>& layer : encoder.layers) {
    check(kWho, {{"encoder layer's weights", layer.weights, kFloat, {D, D}},
                 {"encoder layer's bias", layer.bias, kFloat, {D}},
                 {"encoder layer's gain", layer.gain, kFloat, {D}},
                 {"encoder layer's shift", layer.shift, kFloat, {D}}});
  }
}

void check_labels(const PredictorWeights& weights) {
  const ConstTensorView& w = weights.label_weights;
  const bool halves = w && w.dtype() == DType::kBFloat16;
  check(kWho, {{"label weights",
                w,
                halves ? DType::kBFloat16 : kFloat,
                {kAny, weights.encoder.table.width()}}});
  check(kWho, {{"label bias", weights.label_bias, kFloat, {w.rows()}}});
}

void check_clusters(const PredictorWeights& weights) {
  const ConstTensorView& w = weights.cluster_weights;
  check(kWho, {{"cluster weights", w, kFloat, {kAny, weights.encoder.table.width()}}});
  check(kWho, {{"cluster bias", weights.cluster_bias, kFloat, {w.rows()}}});
  const LabelGraphView& graph = weights.graph;
  if (graph.clusters() != w.rows() || graph.label_count != weights.label_weights.rows()) {
    throw InputError("the model: its graph is of {} clusters and {} labels, but it has {} and {}",
                     graph.clusters(), graph.label_count, w.rows(), weights.label_weights.rows());
  }
  const auto edges = static_cast<size_t>(graph.offsets.back());
  if (graph.labels.size() != edges || graph.scores.size() != edges) {
    throw InputError("the model: its graph has {} edges, but {} labels and {} scores of them",
                     edges, graph.labels.size(), graph.scores.size());
  }
}

void check_setting(std::string_view name, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return;
  throw InputError("the model: {} is {}, but must be in [{}, {}]", name, value, lowest, highest);
}

void check_settings(const SearchSettings& settings, const PredictorWeights& weights) {
  constexpr double kMost = std::numeric_limits<float>::max();
  check_setting("alpha", settings.alpha, std::numeric_limits<float>::min(), kMost);
  check_setting("gamma", settings.gamma, 0, kMost);
  check_setting("the beam", static_cast<double>(settings.beam), 1,
                static_cast<double>(weights.cluster_weights.rows()));
  check_setting("the shortlist", static_cast<double>(settings.shortlist), 1,
                static_cast<double>(weights.label_weights.rows()));
}

}  // namespace

MemberWeights::MemberWeights(const Context& context, const Member& member)
    : weights_(member.weights), settings_(member.search) {
  check_encoder(weights_.encoder);
  check_labels(weights_);
  encoder_ = pack_bag(context, weights_.encoder, Precision::kFloat32);
  if (!weights_.cluster_weights) return;
  check_clusters(weights_);
  check_settings(settings_, weights_);
  search_.emplace(SearchWeights{weights_, pack_weights(context, weights_.cluster_weights,
                                                       PackedFor::kForward, Precision::kFloat32)});
}

MemberRoom::MemberRoom(const MemberWeights& weights, Isa isa) : weights_(weights) {
  if (weights.search_) search_.emplace(isa, weights.weights_, weights.settings_);
}

ConstTensorView MemberRoom::encode(const Context& context, const Csr& features, size_t begin,
                                   size_t end) {
  const size_t first = features.offsets[begin];
  for (size_t i = begin; i <= end; ++i) {
    const size_t offset = features.offsets[i] - first;
    ELIAS_ASSERT(offset <= std::numeric_limits<int32_t>::max());
    offsets_[i - begin] = static_cast<int32_t>(offset);
  }
  const auto size = static_cast<int64_t>(features.offsets[end] - first);
  // Feature ids are below V, which fits: of unsigned and signed numbers the bits are the same.
  const auto* ids = reinterpret_cast<const int32_t*>(features.columns.data() + first);
  const Bags bags{.offsets = {offsets_.data(), {static_cast<int64_t>(end - begin + 1)}},
                  .ids = {ids, {size}},
                  .weights = {features.values.data() + first, {size}}};
  encode_bags(context, weights_.weights_.encoder, weights_.encoder_, bags, std::nullopt,
              activations_);
  return activations_.phi();
}

void MemberRoom::rank(const Context& context, ConstTensorView phi, int64_t k,
                      const AllowedLabels& allowed, const RankedLabels& ranked) {
  // So few that every one of them is scored.
  const bool few = allowed.list().size() <= static_cast<size_t>(weights_.settings_.shortlist);
  const auto listed = few ? allowed.list() : std::span<const int32_t>();
  if (search_) {
    return search_->rank(context, *weights_.search_, phi, k, allowed.flags(), listed, ranked);
  }
  scan_.rank(context, weights_.weights_, phi, k, allowed.flags(), listed, ranked);
}

}  // namespace elias
