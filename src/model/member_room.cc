#include "model/member_room.h"

#include <limits>

#include "ops/check.h"

namespace elias {
namespace {

constexpr DType kFloat = DType::kFloat32;
constexpr int64_t kAny = Operand::kAny;
constexpr std::string_view kWho = "the model";

// A transformer's weights have the shapes that its own shape asks for (encoder/transformer_file.h).
void check_encoder(const EncoderWeights& weights) {
  if (weights.reads_tokens()) return;
  const BagWeights<ConstTensorView>& encoder = weights.bag();
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
  check(
      kWho,
      {{"label weights", w, halves ? DType::kBFloat16 : kFloat, {kAny, weights.encoder.width()}}});
  check(kWho, {{"label bias", weights.label_bias, kFloat, {w.rows()}}});
}

void check_clusters(const PredictorWeights& weights) {
  const ConstTensorView& w = weights.cluster_weights;
  check(kWho, {{"cluster weights", w, kFloat, {kAny, weights.encoder.width()}}});
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

void check_near(const PredictorWeights& weights, const SearchSettings& settings) {
  const int64_t L = weights.label_weights.rows();
  if (weights.cluster_weights || weights.neighbours.label_count != L) {
    throw InputError("the model: its graph is of {} neighbours, but it has {} labels and {}",
                     weights.neighbours.label_count, L,
                     weights.cluster_weights ? "clusters" : "no clusters");
  }
  check_setting("ef", static_cast<double>(settings.ef), 1, std::numeric_limits<int32_t>::max());
}

}  // namespace

MemberWeights::MemberWeights(const Context& context, const Member& member)
    : weights_(member.weights), settings_(member.search) {
  check_encoder(weights_.encoder);
  check_labels(weights_);
  encoder_ = PackedEncoder(context, weights_.encoder);
  if (weights_.neighbours) {
    check_near(weights_, settings_);
    near_.emplace(context.isa(), weights_.label_weights, weights_.label_bias);
  }
  if (!weights_.cluster_weights) return;
  check_clusters(weights_);
  check_settings(settings_, weights_);
  search_.emplace(SearchWeights{weights_, pack_weights(context, weights_.cluster_weights,
                                                       PackedFor::kForward, Precision::kFloat32)});
}

int64_t MemberWeights::features() const {
  return weights_.encoder.reads_tokens() ? weights_.features : weights_.encoder.bag().table.rows();
}

MemberRoom::MemberRoom(const MemberWeights& weights, Isa isa) : weights_(weights) {
  if (weights.search_) search_.emplace(isa, weights.weights_, weights.settings_);
  if (weights.near_) nearest_.emplace(weights.weights_, *weights.near_, weights.settings_.ef);
}

ConstTensorView MemberRoom::encode(const Context& context, const PointsView& points, size_t begin,
                                   size_t end) {
  constexpr size_t kTokensAtOnce = 2048;
  return encoder_.encode(context, weights_.encoder_, points, begin, end, kTokensAtOnce);
}

void MemberRoom::rank(const Context& context, ConstTensorView phi, int64_t k,
                      const AllowedLabels& allowed, const RankedLabels& ranked) {
  // So few that every one of them is scored.
  const bool few = allowed.list().size() <= static_cast<size_t>(weights_.settings_.shortlist);
  const auto listed = few ? allowed.list() : std::span<const int32_t>();
  if (search_) {
    return search_->rank(context, *weights_.search_, phi, k, allowed.flags(), listed, ranked);
  }
  if (nearest_ && allowed.all() && nearest_->is_worth_while(k)) {
    return nearest_->rank(context, phi, scan_, ranked);
  }
  scan_.rank(context, weights_.weights_, phi, allowed.flags(), listed, ranked);
}

}  // namespace elias
