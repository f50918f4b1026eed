#include "model/explain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "model/label_scores.h"
#include "tests/model/tiny_model.h"
#include "tests/model/tiny_ranker.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

constexpr int64_t kTop = 12, kLabels = 40;

struct Kind {
  int64_t clusters;  // 0: every label is scored
  size_t members;
  std::optional<RankerParts> ranker;
  FusionKind fusion = FusionKind::kMean;
};

class ExplainTest : public testing::TestWithParam<Kind> {
 protected:
  ExplainTest() {
    for (size_t m = 0; m < GetParam().members; ++m) {
      TinySizes sizes;
      sizes.C = GetParam().clusters;
      sizes.seed = m + 1;
      tiny_.push_back(std::make_unique<TinyModel>(sizes));
      members_.push_back({tiny_.back()->views(), search_, stage1()});
    }
    names_.set_form(LabelForm::kIds);
    names_.cover_ids(kLabels);
    ModelParts parts{.method = GetParam().clusters == 0 ? "ova" : "elias",
                     .members = members_,
                     .fusion = fusion_,
                     .labels = &names_,
                     .label_counts = ranker_.counts(),
                     .points = 1000,
                     .training = {}};
    const RankerPart part = ranker_.part();
    if (GetParam().ranker) parts.ranker = &part;
    write_model(folder_ / "m", parts, LabelStorage::kFloat32);
    model_.emplace(Model::load(folder_ / "m", context_));
  }

  std::span<const int32_t> stage1() const {
    return GetParam().clusters == 0 ? std::span<const int32_t>() : std::span(stage1_);
  }

  struct Ranked {
    std::vector<int32_t> labels;
    std::vector<float> scores;
  };
  Ranked predict(const Predictor& predictor, size_t point, int64_t k) const {
    Ranked ranked{std::vector<int32_t>(static_cast<size_t>(k)),
                  std::vector<float>(static_cast<size_t>(k))};
    const auto state = predictor.make_state();
    predictor.predict(context_, points_, point, point + 1, k, {}, *state,
                      {ranked.labels, ranked.scores});
    return ranked;
  }
  /// The score of a label in a list, none if it is not there.
  static std::optional<float> score_in(const Ranked& ranked, uint32_t label) {
    const auto found = std::ranges::find(ranked.labels, static_cast<int32_t>(label));
    if (found == ranked.labels.end()) return std::nullopt;
    return ranked.scores[static_cast<size_t>(found - ranked.labels.begin())];
  }

  const SearchSettings search_{.alpha = 3, .beam = 4, .shortlist = 20, .gamma = 0.5};
  const Fusion fusion_{.kind = GetParam().fusion};
  const TinyRanker ranker_{
      {}, GetParam().ranker.value_or(RankerParts::kWords), MixKind::kLearned, kTop};
  const std::vector<int32_t> stage1_ = std::vector<int32_t>(kLabels, 0);
  std::vector<std::unique_ptr<TinyModel>> tiny_;
  std::vector<Member> members_;
  LabelSpace names_;
  TemporaryFolder folder_;
  ThreadPool pool_{2};
  const Context context_{pool_};
  std::optional<Model> model_;
  const Csr points_ = random_points(40, 30, 6);
};

std::vector<uint32_t> all_labels() {
  std::vector<uint32_t> labels(kLabels);
  for (uint32_t l = 0; l < kLabels; ++l) labels[l] = l;
  return labels;
}

TEST_P(ExplainTest, TheBestLabelsAreThoseOfThePredictor) {
  Explainer explainer(context_, *model_);
  for (size_t i = 0; i < points_.rows(); ++i) {
    const Ranked ranked = predict(model_->predictor(), i, 7);
    const auto explained = explainer.explain(points_, i, 7);
    ASSERT_EQ(explained.size(), 7U);
    for (size_t j = 0; j < explained.size(); ++j) {
      EXPECT_EQ(static_cast<int32_t>(explained[j].label), ranked.labels[j]);
      EXPECT_EQ(explained[j].score, ranked.scores[j]);
      EXPECT_EQ(explained[j].rank, static_cast<int64_t>(j) + 1);
      ASSERT_TRUE(explained[j].p);
    }
  }
}

// Every label, found or not, against predictors of each part alone.
TEST_P(ExplainTest, NumbersOnTheWayAreThoseOfThePartsAlone) {
  Explainer explainer(context_, *model_);
  const Predictor before_ranker(context_, members_, fusion_, {});
  std::vector<std::unique_ptr<Predictor>> alone;
  for (const Member& member : members_) {
    alone.push_back(std::make_unique<Predictor>(context_, member.weights, member.search));
  }
  for (size_t i = 0; i < points_.rows(); ++i) {
    const auto explained = explainer.explain(points_, i, 5, all_labels());
    const Ranked whole = predict(model_->predictor(), i, kLabels);
    const Ranked found = predict(before_ranker, i, kLabels);
    std::vector<Ranked> own;
    for (const auto& member : alone) own.push_back(predict(*member, i, kLabels));
    ASSERT_EQ(explained.size(), static_cast<size_t>(kLabels));
    for (const ExplainedLabel& label : explained) {
      EXPECT_EQ(label.p, score_in(found, label.label));
      EXPECT_EQ(label.rank > 0, label.p.has_value());
      EXPECT_EQ(label.score, score_in(whole, label.label).value_or(0));
      for (size_t m = 0; m < members_.size(); ++m) {
        const auto p = score_in(own[m], label.label);
        EXPECT_EQ(label.members[m].outcome == SearchOutcome::kScored, p.has_value());
        EXPECT_EQ(label.members[m].p, p.value_or(0));
      }
    }
  }
}

TEST_P(ExplainTest, TheMixOfPAndMarginIsTheScore) {
  if (!GetParam().ranker) return;
  Explainer explainer(context_, *model_);
  const RankerPart& ranker = *model_->ranker();
  for (size_t i = 0; i < points_.rows(); ++i) {
    for (const ExplainedLabel& label : explainer.explain(points_, i, 5, all_labels())) {
      const ExplainedMargin& margin = *label.margin;
      EXPECT_EQ(margin.counts, label.rank > 0 && label.rank <= kTop);
      EXPECT_EQ(margin.q, ranker_score(ranker.mix.loss, margin.margin));
      double sum = double{margin.bias} + double{margin.vector_adds};
      for (const ExplainedWord& word : margin.words) {
        EXPECT_EQ(word.adds, word.value * word.weight);
        sum += double{word.adds};
      }
      EXPECT_NEAR(sum, margin.margin, 1e-5);
      EXPECT_TRUE(std::ranges::is_sorted(margin.words, std::greater<>(),
                                         [](const auto& word) { return std::abs(word.adds); }));
      if (!margin.counts) continue;
      EXPECT_EQ(label.score, ranker.mix.score({.p = *label.p,
                                               .margin = margin.margin,
                                               .count = ranker.label_counts[label.label]}));
    }
  }
}

TEST_P(ExplainTest, PathsLeadToYhat) {
  Explainer explainer(context_, *model_);
  size_t cut = 0, not_reached = 0;
  for (size_t i = 0; i < points_.rows(); ++i) {
    for (const ExplainedLabel& label : explainer.explain(points_, i, 5, all_labels())) {
      for (const ExplainedMember& member : label.members) {
        EXPECT_EQ(member.sigmoid_z, sigmoid(member.z));
        if (GetParam().clusters == 0) {
          EXPECT_TRUE(member.paths.empty());
          EXPECT_EQ(member.p, member.sigmoid_z);
          continue;
        }
        float best = 0;
        for (const ExplainedPath& path : member.paths) {
          EXPECT_EQ(path.score, path.cluster_score * path.edge_score);
          if (path.in_beam) best = std::max(best, path.score);
        }
        EXPECT_EQ(member.yhat, best);
        EXPECT_TRUE(std::ranges::is_partitioned(member.paths, &ExplainedPath::in_beam));
        EXPECT_EQ(member.outcome == SearchOutcome::kNotReached, best == 0);
        cut += member.outcome == SearchOutcome::kCut ? 1 : 0;
        not_reached += member.outcome == SearchOutcome::kNotReached ? 1 : 0;
        EXPECT_EQ(member.paths.empty(), label.label == kLabels - 1);  // in no row of the graph
      }
    }
  }
  EXPECT_EQ(cut > 0, GetParam().clusters > 0);
  EXPECT_EQ(not_reached > 0, GetParam().clusters > 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ExplainTest,
                         testing::Values(Kind{6, 1, {}}, Kind{6, 1, RankerParts::kWords},
                                         Kind{6, 1, RankerParts::kBoth}, Kind{6, 3, {}},
                                         Kind{6, 3, RankerParts::kBoth},
                                         Kind{6, 3, RankerParts::kWords, FusionKind::kRanks},
                                         Kind{0, 1, {}}, Kind{0, 1, RankerParts::kVector},
                                         Kind{0, 2, RankerParts::kWords}));

}  // namespace
}  // namespace elias
