// Points go through in chunks, so that the room for one does not grow with the number of points.
#include "model/predictor.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "model/member_room.h"

namespace elias {

struct Predictor::Parts {
  Isa isa;
  std::vector<std::unique_ptr<MemberWeights>> members;  // at least one
  Fusion fusion;
  std::optional<RankerPart> ranker;  // none: scores are those of the search

  const MemberWeights& first() const { return *members.front(); }
  bool is_ensemble() const { return members.size() > 1; }

  int64_t asked(int64_t k) const {
    const int64_t seen = std::max(is_ensemble() ? kFused : 0, ranker ? ranker->top : 0);
    return std::max(k, std::min(seen, first().labels()));
  }
};

// What a state is: everything that a prediction writes to.
class Predictor::Room : public Predictor::State {
 public:
  explicit Room(const Parts& parts) : parts_(parts), lists_(parts.members.size()) {
    for (const auto& weights : parts.members) {
      members_.push_back(std::make_unique<MemberRoom>(*weights, parts.isa));
    }
    if (parts.ranker) {
      reranker_.emplace(*parts.ranker, parts.first().features(), parts.first().width(), parts.isa);
    }
  }

  /// The k best labels of the rows [begin, end), at most MemberRoom::kMostPoints of them.
  void predict(const Context& context, const PointsView& points, size_t begin, size_t end,
               int64_t k, const AllowedLabels& allowed, const RankedLabels& ranked) {
    if (!parts_.is_ensemble() && !parts_.ranker) {
      MemberRoom& member = *members_.front();
      return member.rank(context, member.encode(context, points, begin, end), k, allowed, ranked);
    }
    const int64_t asked = parts_.asked(k);
    const auto places = static_cast<size_t>(asked), wanted = static_cast<size_t>(k);
    const ConstTensorView phi = find(context, points, begin, end, asked, allowed);
    if (parts_.is_ensemble()) fuse(end - begin, places);
    for (size_t i = 0; i < end - begin; ++i) {
      const auto labels = std::span(lists_.front().labels).subspan(i * places, places);
      const auto scores = std::span(lists_.front().scores).subspan(i * places, places);
      if (reranker_) {
        const auto* vector = phi.data<float>() + static_cast<int64_t>(i) * phi.stride();
        reranker_->rank(*parts_.ranker, points.features().row(begin + i),
                        {vector, static_cast<size_t>(phi.width())}, labels, scores);
      }
      const auto place = static_cast<ptrdiff_t>(i * wanted);
      std::copy_n(labels.begin(), wanted, ranked.labels.begin() + place);
      std::copy_n(scores.begin(), wanted, ranked.scores.begin() + place);
    }
  }

 private:
  struct List {
    std::vector<int32_t> labels;  // [n * asked]
    std::vector<float> scores;    // [n * asked]
  };

  /// Fills the lists of all members. Returns phi of the first.
  ConstTensorView find(const Context& context, const PointsView& points, size_t begin, size_t end,
                       int64_t asked, const AllowedLabels& allowed) {
    const auto find_one = [&](size_t m) {
      List& list = lists_[m];
      list.labels.resize((end - begin) * static_cast<size_t>(asked));
      list.scores.resize(list.labels.size());
      const ConstTensorView phi = members_[m]->encode(context, points, begin, end);
      members_[m]->rank(context, phi, asked, allowed, {list.labels, list.scores});
      return phi;
    };
    if (!parts_.is_ensemble()) return find_one(0);
    ConstTensorView first;
    context.pool().for_each(members_.size(), [&](size_t m) {
      const ConstTensorView phi = find_one(m);
      if (m == 0) first = phi;
    });
    return first;
  }

  /// The lists of all members become one, in the place of the first member's. Scores depend on the
  /// same places of each list whatever k is: what else a longer list needs follows behind.
  void fuse(size_t points, size_t places) {
    const auto head = std::min(places, static_cast<size_t>(parts_.asked(0)));
    for (size_t i = 0; i < points; ++i) {
      const std::span<ScoredLabel> best = fuse_first(head, i, places, fuser_);
      tail_.clear();
      if (head < places && best.size() < places) {
        std::ranges::set_difference(fuse_first(places, i, places, tail_fuser_), best,
                                    std::back_inserter(tail_), {}, &ScoredLabel::label,
                                    &ScoredLabel::label);
      }
      List& fused = lists_.front();
      const auto labels = std::span(fused.labels).subspan(i * places, places);
      const auto scores = std::span(fused.scores).subspan(i * places, places);
      write_best(best, labels, scores);
      if (!tail_.empty()) append_tail(labels.subspan(best.size()), scores, best.size());
    }
  }

  /// Of a point, the first places of all members' lists.
  std::span<ScoredLabel> fuse_first(size_t first, size_t point, size_t places, Fuser& fuser) {
    one_point_.clear();
    for (const List& list : lists_) {
      one_point_.push_back({.labels = std::span(list.labels).subspan(point * places, first),
                            .scores = std::span(list.scores).subspan(point * places, first)});
    }
    return fuser.fuse(parts_.fusion, one_point_);
  }

  /// With scores no higher than that of the last one before them.
  void append_tail(std::span<int32_t> labels, std::span<float> scores, size_t before) {
    std::ranges::sort(tail_, is_better);
    const float last = before > 0 ? scores[before - 1] : 1;
    const float scale = tail_.front().score > last ? last / tail_.front().score : 1;
    for (size_t i = 0; i < std::min(labels.size(), tail_.size()); ++i) {
      labels[i] = tail_[i].label;
      scores[before + i] = std::min(last, tail_[i].score * scale);
    }
  }

  const Parts& parts_;
  std::vector<std::unique_ptr<MemberRoom>> members_;
  std::vector<List> lists_;  // of the members
  std::vector<MemberList> one_point_;
  Fuser fuser_, tail_fuser_;
  std::vector<ScoredLabel> tail_;
  std::optional<Reranker> reranker_;
};

Predictor::Predictor(const Context& context, std::span<const Member> members, Fusion fusion,
                     std::optional<RankerPart> ranker)
    : parts_(std::make_unique<Parts>(Parts{.isa = context.isa(),
                                           .members = {},
                                           .fusion = std::move(fusion),
                                           .ranker = std::move(ranker)})) {
  ELIAS_ASSERT(!members.empty());
  for (const Member& member : members) {
    parts_->members.push_back(std::make_unique<MemberWeights>(context, member));
    ELIAS_ASSERT(parts_->members.back()->features() == parts_->first().features());
    ELIAS_ASSERT(parts_->members.back()->labels() == parts_->first().labels());
  }
}

Predictor::Predictor(const Context& context, const PredictorWeights& weights,
                     const SearchSettings& settings, std::optional<RankerPart> ranker)
    : Predictor(context,
                std::array{Member{.weights = weights, .search = settings, .stage1_clusters = {}}},
                {}, std::move(ranker)) {}

Predictor::~Predictor() = default;

int64_t Predictor::labels() const { return parts_->first().labels(); }
bool Predictor::scans() const { return parts_->first().scans(); }
const MemberWeights& Predictor::member(size_t m) const { return *parts_->members[m]; }
int64_t Predictor::asked(int64_t k) const { return parts_->asked(k); }

std::unique_ptr<Predictor::State> Predictor::make_state() const {
  return std::make_unique<Room>(*parts_);
}

void Predictor::predict(const Context& context, const PointsView& points, size_t begin, size_t end,
                        int64_t k, const AllowedLabels& allowed, State& state,
                        const RankedLabels& ranked) const {
  ELIAS_ASSERT(begin <= end && end <= points.rows() && k > 0);
  const auto places = static_cast<size_t>(k);
  ELIAS_ASSERT(ranked.labels.size() == (end - begin) * places);
  ELIAS_ASSERT(ranked.scores.size() == ranked.labels.size());
  ELIAS_ASSERT(allowed.all() || allowed.flags().size() == static_cast<size_t>(labels()));
  const int64_t V = parts_->first().features();
  if (const uint64_t features = points.features().cols; features > static_cast<uint64_t>(V)) {
    throw InputError(
        "the points have {} features, but the model has {}: give points of the kind "
        "it was trained on",
        features, V);
  }
  auto& room = static_cast<Room&>(state);
  for (size_t first = begin; first < end; first += MemberRoom::kMostPoints) {
    const size_t last = std::min(end, first + MemberRoom::kMostPoints);
    const auto part = [&](auto all) {
      return all.subspan((first - begin) * places, (last - first) * places);
    };
    room.predict(context, points, first, last, k, allowed,
                 {part(ranked.labels), part(ranked.scores)});
  }
}

}  // namespace elias
