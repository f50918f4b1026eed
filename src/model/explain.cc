// The final list is the predictor's own. What it was made from is found by the same steps once
// more, one point alone, with room that is looked into afterwards.
#include "model/explain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "model/label_scores.h"
#include "model/member_room.h"
#include "ops/lookup/gather_dot.h"

namespace elias {
namespace {

struct List {
  explicit List(int64_t places)
      : labels(static_cast<size_t>(places)), scores(static_cast<size_t>(places)) {}
  RankedLabels view() { return {labels, scores}; }

  std::vector<int32_t> labels;  // -1 behind the last
  std::vector<float> scores;
};

std::vector<ExplainedPath> paths_to(const LabelGraphView& graph, const Beam& beam, int32_t label) {
  const auto searched = beam.clusters(0);
  const auto scores = beam.all_scores(0);
  std::vector<ExplainedPath> paths;
  for (const auto& [cluster, edge_score] : edges_to(graph, label)) {
    const float s = scores[static_cast<size_t>(cluster)];
    const bool in_beam = std::ranges::find(searched, cluster) != searched.end();
    paths.push_back({cluster, s, edge_score, s * edge_score, in_beam});
  }
  std::ranges::stable_sort(paths, [](const ExplainedPath& a, const ExplainedPath& b) {
    return a.in_beam != b.in_beam ? a.in_beam : a.score > b.score;
  });
  return paths;
}

/// What each feature of x with a weight of the label adds, words and vector apart.
void add_parts(const SparseRankerView& ranker, const CsrRow& x, int64_t V, uint32_t label,
               ExplainedMargin& margin) {
  double vector_adds = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const float weight = ranker.weight(label, x.columns[i]);
    if (weight == 0) continue;
    if (int64_t{x.columns[i]} < V) {
      margin.words.push_back({x.columns[i], x.values[i], weight, x.values[i] * weight});
    } else {
      vector_adds += double{x.values[i]} * double{weight};
    }
  }
  margin.vector_adds = static_cast<float>(vector_adds);
  std::ranges::stable_sort(margin.words, std::greater<>(),
                           [](const ExplainedWord& word) { return std::abs(word.adds); });
}

}  // namespace

class Explainer::Room {
 public:
  Room(const Context& context, const Model& model)
      : context_(context),
        model_(model),
        V_(static_cast<int64_t>(model.features())),
        state_(model.predictor().make_state()) {
    for (size_t m = 0; m < model.members().size(); ++m) {
      members_.push_back(std::make_unique<MemberRoom>(model.predictor().member(m), context.isa()));
    }
    phi_.resize(members_.size());
    if (model.ranker() == nullptr) return;
    const RankerInputOptions& input = model.ranker()->input;
    input_.emplace(input);
    query_.emplace(model.ranker()->weights,
                   ranker_columns(input, V_, model.first().weights.encoder.width()), context.isa());
  }

  std::vector<ExplainedLabel> explain(const PointsView& points, size_t point, int64_t k,
                                      std::span<const uint32_t> labels) {
    List ranked(labels.empty() ? k : depth(k));
    model_.predictor().predict(context_, points, point, point + 1,
                               static_cast<int64_t>(ranked.labels.size()), {}, *state_,
                               ranked.view());
    search(points, point, k);
    std::vector<ExplainedLabel> explained;
    const auto add = [&](uint32_t label) {
      explained.push_back(of_label(label, ranked, points.features().row(point)));
    };
    for (const uint32_t label : labels) add(label);
    for (size_t i = 0; labels.empty() && i < ranked.labels.size() && ranked.labels[i] >= 0; ++i) {
      add(static_cast<uint32_t>(ranked.labels[i]));
    }
    return explained;
  }

 private:
  bool is_ensemble() const { return members_.size() > 1; }

  /// How far the list that a prediction of k labels begins with can be followed.
  int64_t depth(int64_t k) const {
    if (is_ensemble()) return model_.predictor().asked(k);
    return members_.front()->search() != nullptr ? model_.first().search.shortlist
                                                 : static_cast<int64_t>(model_.labels());
  }

  /// Lets every member find its labels.
  void search(const PointsView& points, size_t point, int64_t k) {
    lists_.clear();
    const int64_t asked = model_.predictor().asked(is_ensemble() ? 0 : k);
    for (size_t m = 0; m < members_.size(); ++m) {
      lists_.emplace_back(asked);
      phi_[m] = members_[m]->encode(context_, points, point, point + 1);
      members_[m]->rank(context_, phi_[m], asked, {}, lists_[m].view());
    }
    std::vector<MemberList> found;
    for (const List& list : lists_) found.push_back({list.labels, list.scores});
    fused_ = is_ensemble() ? fuser_.fuse(model_.fusion(), found) : std::span<ScoredLabel>();
  }

  ExplainedLabel of_label(uint32_t wanted, const List& ranked, const CsrRow& words) {
    const auto id = static_cast<int32_t>(wanted);
    ExplainedLabel label;
    label.label = wanted;
    const auto place = std::ranges::find(ranked.labels, id) - ranked.labels.begin();
    if (static_cast<size_t>(place) < ranked.labels.size()) {
      label.rank = place + 1;
      label.score = ranked.scores[static_cast<size_t>(place)];
    }
    for (size_t m = 0; m < members_.size(); ++m) label.members.push_back(of_member(m, id));
    label.p = p_of(label);
    if (model_.ranker() == nullptr) return label;
    label.margin = margin_of(wanted, words);
    label.margin->counts = label.rank > 0 && label.rank <= model_.ranker()->top;
    return label;
  }

  ExplainedMember of_member(size_t m, int32_t label) const {
    const auto& [weights, settings, stage1_clusters] = model_.members()[m];
    ExplainedMember member;
    const Shape one{1, 1};
    gather_dot(context_, phi_[m], weights.label_weights, weights.label_bias,
               ConstTensorView(&label, one), TensorView(&member.z, one));
    member.sigmoid_z = sigmoid(member.z);
    const ShortlistSearch* const search = members_[m]->search();
    if (search == nullptr) {
      member.yhat = 1;
      member.p = member.sigmoid_z;
      return member;
    }
    member.yhat = search->yhat(label);
    member.paths = paths_to(weights.graph, search->beam(), label);
    if (search->is_in_shortlist(label)) {
      member.p = final_score(member.z, member.yhat, settings.gamma);
    } else {
      member.outcome = member.yhat > 0 ? SearchOutcome::kCut : SearchOutcome::kNotReached;
    }
    return member;
  }

  std::optional<float> p_of(const ExplainedLabel& label) const {
    if (!is_ensemble()) {
      const ExplainedMember& only = label.members.front();
      return only.outcome == SearchOutcome::kScored ? std::optional(only.p) : std::nullopt;
    }
    const auto id = static_cast<int32_t>(label.label);
    const auto found = std::ranges::lower_bound(fused_, id, {}, &ScoredLabel::label);
    if (found == fused_.end() || found->label != id) return std::nullopt;
    return found->score;
  }

  ExplainedMargin margin_of(uint32_t label, const CsrRow& words) {
    const RankerPart& ranker = *model_.ranker();
    const CsrRow x = input_->of(words, V_, phi_.front().span<float>());
    ExplainedMargin margin;
    const auto id = static_cast<int32_t>(label);
    query_->margins(x, {&id, 1}, {&margin.margin, 1});
    margin.q = ranker_score(ranker.mix.loss, margin.margin);
    margin.bias = ranker.weights.bias[label];
    add_parts(ranker.weights, x, V_, label, margin);
    return margin;
  }

  const Context& context_;
  const Model& model_;
  int64_t V_;
  std::unique_ptr<Predictor::State> state_;
  std::vector<std::unique_ptr<MemberRoom>> members_;
  std::optional<RankerInput> input_;
  std::optional<RankerQuery> query_;
  // Of the point at hand:
  std::vector<ConstTensorView> phi_;  // [M] of [1, D]
  std::vector<List> lists_;           // [M]
  Fuser fuser_;
  std::span<const ScoredLabel> fused_;  // by rising label; none without an ensemble
};

Explainer::Explainer(const Context& context, const Model& model)
    : room_(std::make_unique<Room>(context, model)) {}
Explainer::~Explainer() = default;

std::vector<ExplainedLabel> Explainer::explain(const PointsView& points, size_t point, int64_t k,
                                               std::span<const uint32_t> labels) {
  ELIAS_ASSERT(point < points.rows() && k > 0);
  return room_->explain(points, point, k, labels);
}

}  // namespace elias
