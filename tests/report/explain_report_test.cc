#include "report/explain_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/report/tiny_model_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;

class ExplainReport : public testing::Test {
 protected:
  PointExplanation point_of(std::vector<ExplainedLabel> labels) const {
    return {.number = 2,
            .line = 7,
            .text = {},
            .features = 3,
            .truth = {truth_, truth_values_},
            .space = space_,
            .labels = std::move(labels)};
  }

  static ExplainedLabel tea() {
    ExplainedLabel tea;
    tea.rank = 1;
    tea.score = tea.p.emplace(0.9F);
    tea.members = {{.outcome = SearchOutcome::kScored,
                    .z = 3,
                    .sigmoid_z = 0.95F,
                    .yhat = 0.5F,
                    .p = 0.9F,
                    .paths = {{0, 0.5F, 1, 0.5F, true}, {1, 1e-4F, 0.75F, 7.5e-5F, false}}}};
    return tea;
  }

  static ExplainedLabel milk(SearchOutcome outcome, std::vector<ExplainedPath> paths) {
    ExplainedLabel milk;
    milk.label = 4;
    milk.members = {{.outcome = outcome,
                     .z = -3,
                     .sigmoid_z = 0.05F,
                     .yhat = outcome == SearchOutcome::kCut ? 0.25F : 0,
                     .p = 0,
                     .paths = std::move(paths)}};
    return milk;
  }

  const TinyModelFolder folder_;
  ThreadPool pool_{1};
  const Context context_{pool_};
  const Model model_ = Model::load(folder_.path(), context_);
  const std::vector<uint32_t> truth_ = {0, 6};
  const std::vector<float> truth_values_ = {1, 1};
  LabelSpace space_ = [this] {
    LabelSpace space = model_.label_space();
    space.resolve_name("rum", "here");
    return space;
  }();
};

TEST_F(ExplainReport, OfALabelThatWasFound) {
  EXPECT_EQ(explanation_report(model_, point_of({tea()}), 8),
            "\n"
            "Point 2, line 7: 3 features\n"
            "  true labels: tea, rum (unknown to the model)\n"
            "\n"
            "  1. tea *  score 0.9000, 9 training points\n"
            "     search   p 0.9000 = sigmoid(z) 0.9500 x yhat 0.5000 ^ 0.25\n"
            "       cluster 0 s 0.500 x edge 1.000 = 0.500 (coffee, green tea, cocoa)\n");
}

TEST_F(ExplainReport, OfLabelsThatWereNotFound) {
  const auto says = [&](SearchOutcome outcome, std::vector<ExplainedPath> paths) {
    return explanation_report(model_, point_of({milk(outcome, std::move(paths))}), 8);
  };
  EXPECT_THAT(
      says(SearchOutcome::kNotReached, {{0, 1e-4F, 0.5F, 5e-5F, false}}),
      HasSubstr("\n"
                "   - milk  not predicted, 1 training point\n"
                "     search   p none: its 1 cluster is not searched; sigmoid(z) 0.0500\n"
                "       cluster 0 s 1e-04 x edge 0.500, not searched (tea, coffee, green tea)\n"));
  EXPECT_THAT(says(SearchOutcome::kNotReached, {}),
              HasSubstr("p none: no cluster leads to it; sigmoid(z) 0.0500\n"));
  EXPECT_THAT(says(SearchOutcome::kNotReached, {{0, 1, 0, 0, true}, {1, 1, 1, 1, false}}),
              HasSubstr("p none: its paths have the score 0; sigmoid(z) 0.0500\n"));
  EXPECT_THAT(says(SearchOutcome::kCut, {{0, 1, 0.25F, 0.25F, true}}),
              HasSubstr("p none: yhat 0.2500 is below the 5 best; sigmoid(z) 0.0500\n"));
}

TEST_F(ExplainReport, NamesAFewPathsAndCountsTheOthers) {
  ExplainedLabel label = tea();
  label.members[0].paths.assign(9, {0, 0.5F, 1, 0.5F, true});
  EXPECT_THAT(explanation_report(model_, point_of({label}), 8),
              HasSubstr("       and 6 paths of lower score\n"));
}

TEST_F(ExplainReport, FitsATerminal) {
  ExplainedLabel label = milk(SearchOutcome::kNotReached, {});
  label.members[0].paths.assign(3, {1, 1e-4F, 0.75F, 7.5e-5F, false});
  std::istringstream lines(explanation_legend(model_) +
                           explanation_report(model_, point_of({tea(), label}), 8));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(ExplainReport, AsJson) {
  const auto json =
      explanation_json(model_, point_of({tea(), milk(SearchOutcome::kNotReached, {})}), 8);
  EXPECT_EQ(json["true_labels"].dump(), R"(["tea","rum"])");
  EXPECT_EQ(json["labels"][0].dump(),
            R"({"label":"tea","id":0,"rank":1,"score":0.9,"true":true,"train_points":9,"p":0.9,)"
            R"("members":[{"outcome":"scored","p":0.9,"z":3.0,"sigmoid_z":0.95,"yhat":0.5,)"
            R"("gamma":0.25,"paths":[{"cluster":0,"cluster_score":0.5,"edge_score":1.0,)"
            R"("score":0.5,"searched":true,"other_labels":["coffee","green tea","cocoa"]}]}],)"
            R"("ranker":null})");
  EXPECT_TRUE(json["labels"][1]["rank"].is_null());
  EXPECT_TRUE(json["labels"][1]["score"].is_null());
  EXPECT_EQ(json["labels"][1]["members"][0]["outcome"], "not reached");
}

}  // namespace
}  // namespace elias
