#include "ranker/dual_descent.h"

#include <gmock/gmock.h>
#include <linear.h>

#include <cmath>

#include "tests/data/sparse.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Classifier {
  std::vector<double> weights;  // [V]
  double bias = 0;
};

struct Problem {
  Csr features;
  std::vector<float> squared_lengths{};
  std::vector<uint32_t> points{};
  std::vector<uint8_t> positive;

  DescentProblem view() const { return {features, squared_lengths, points, positive}; }
};

Problem problem_of(Csr features, std::vector<uint8_t> positive) {
  Problem problem{.features = std::move(features), .positive = std::move(positive)};
  for (size_t i = 0; i < problem.features.rows(); ++i) {
    float sum = 0;
    for (const float value : problem.features.row(i).values) sum += value * value;
    problem.squared_lengths.push_back(sum);
    problem.points.push_back(static_cast<uint32_t>(i));
  }
  return problem;
}

/// Points whose sign follows the weights of a hidden classifier, but for some noise.
Problem random_problem(size_t points, uint64_t seed) {
  Csr features = random_csr(points, 40, 12, 7, seed);
  RandomSequence random(seed, 9);
  std::vector<double> hidden(features.cols);
  for (double& weight : hidden) weight = random.uniform() * 2 - 1;
  std::vector<uint8_t> positive;
  for (size_t i = 0; i < points; ++i) {
    double sum = random.uniform() - 0.8;
    const CsrRow row = features.row(i);
    for (size_t j = 0; j < row.size(); ++j) sum += double{row.values[j]} * hidden[row.columns[j]];
    positive.push_back(sum > 0 ? 1 : 0);
  }
  return problem_of(std::move(features), std::move(positive));
}

Classifier solved(const Problem& problem, const DescentOptions& options, Isa isa = Isa::kScalar,
                  const WeightCut& cut = {}) {
  DualDescent descent(problem.features.cols, isa);
  descent.solve(problem.view(), options, 5, 6);
  Classifier result{.weights = std::vector<double>(problem.features.cols)};
  for (const auto& [feature, weight] : descent.take_weights(cut)) {
    result.weights[feature] = weight;
  }
  result.bias = descent.bias();
  return result;
}

double margin_of(const CsrRow& row, const Classifier& classifier) {
  double margin = classifier.bias;
  for (size_t j = 0; j < row.size(); ++j) {
    margin += double{row.values[j]} * classifier.weights[row.columns[j]];
  }
  return margin;
}

double objective(const Problem& problem, const DescentOptions& options,
                 const Classifier& classifier) {
  double sum = classifier.bias * classifier.bias;
  for (const double weight : classifier.weights) sum += weight * weight;
  sum /= 2;
  for (const uint32_t point : problem.points) {
    double margin = margin_of(problem.features.row(point), classifier);
    const bool positive = problem.positive[point] != 0;
    if (!positive) margin = -margin;
    const double cost = double{options.cost} * (positive ? double{options.positive_weight} : 1);
    const double short_of = std::max(0.0, 1 - margin);
    sum += cost * (options.loss == RankerLoss::kSquaredHinge ? short_of * short_of
                                                             : std::log1p(std::exp(-margin)));
  }
  return sum;
}

/// LIBLINEAR's solution of the same problem, to far more digits than ours.
Classifier reference(const Problem& problem, const DescentOptions& options) {
  const auto V = static_cast<int>(problem.features.cols);
  std::vector<std::vector<feature_node>> nodes;
  std::vector<feature_node*> rows;
  std::vector<double> signs;
  for (const uint32_t point : problem.points) {
    const CsrRow row = problem.features.row(point);
    std::vector<feature_node>& own = nodes.emplace_back();
    for (size_t j = 0; j < row.size(); ++j) {
      own.push_back({static_cast<int>(row.columns[j]) + 1, row.values[j]});
    }
    own.push_back({V + 1, 1});  // the bias
    own.push_back({-1, 0});
    signs.push_back(problem.positive[point] != 0 ? 1 : -1);
  }
  for (auto& own : nodes) rows.push_back(own.data());
  const ::problem given{static_cast<int>(rows.size()), V + 1, signs.data(), rows.data(), 1};
  ::parameter parameters{};
  // Newton's method on the primal problem: its descent on the dual one gives up before the end.
  parameters.solver_type = options.loss == RankerLoss::kSquaredHinge ? L2R_L2LOSS_SVC : L2R_LR;
  parameters.eps = 1e-10;
  parameters.C = double{options.cost};
  int positive = 1;
  auto weight = double{options.positive_weight};
  parameters.nr_weight = 1;
  parameters.weight_label = &positive;
  parameters.weight = &weight;
  set_print_string_function([](const char*) {});
  ::model* model = ::train(&given, &parameters);
  const double flip = model->label[0] == 1 ? 1 : -1;  // its weights are of the label it saw first
  Classifier result;
  for (int v = 0; v < V; ++v) result.weights.push_back(flip * model->w[v]);
  result.bias = flip * model->w[V];
  free_and_destroy_model(&model);
  return result;
}

void expect_near(const Classifier& a, const Classifier& b, double tolerance) {
  EXPECT_NEAR(a.bias, b.bias, tolerance);
  ASSERT_EQ(a.weights.size(), b.weights.size());
  for (size_t i = 0; i < a.weights.size(); ++i) EXPECT_NEAR(a.weights[i], b.weights[i], tolerance);
}

class DualDescentTest : public testing::TestWithParam<RankerLoss> {
 protected:
  DescentOptions options(float cost = 1, float positive_weight = 1) const {
    return {.loss = GetParam(),
            .cost = cost,
            .positive_weight = positive_weight,
            .tolerance = 1e-5F,
            .passes = 5000};
  }
};

TEST_P(DualDescentTest, FindsTheSolutionOfLiblinear) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = random_problem(3 + 20 * seed, seed);
    for (const auto& [cost, weight] :
         {std::pair(0.1F, 1.0F), {1.0F, 1.0F}, {1.0F, 0.5F}, {5.0F, 1.0F}, {0.5F, 3.0F}}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", costs " << cost << ", " << weight);
      const DescentOptions wanted = options(cost, weight);
      const Classifier ours = solved(problem, wanted);
      const Classifier theirs = reference(problem, wanted);
      expect_near(ours, theirs, 3e-4);
      const double least = objective(problem, wanted, theirs);
      EXPECT_NEAR(objective(problem, wanted, ours), least, 1e-5 * least);
    }
  }
}

TEST_P(DualDescentTest, ComesCloseWithTheUsualTolerance) {
  const Problem problem = random_problem(400, 1);
  const DescentOptions usual{.loss = GetParam()};
  const double least = objective(problem, usual, reference(problem, usual));
  EXPECT_LT(objective(problem, usual, solved(problem, usual)), 1.02 * least);
}

TEST_P(DualDescentTest, DoesNotDependOnTheInstructionSet) {
  const Problem problem = random_problem(200, 2);
  const Classifier scalar = solved(problem, options());
  for (const Isa isa : supported_isas()) expect_near(solved(problem, options(), isa), scalar, 1e-3);
}

TEST_P(DualDescentTest, LeavesNoTraceForTheNextClassifier) {
  const Problem first = random_problem(100, 3), second = random_problem(100, 4);
  const Classifier alone = solved(second, options());
  DualDescent descent(first.features.cols, Isa::kScalar);
  descent.solve(first.view(), options(), 5, 6);
  descent.take_weights({.least = 0.5F, .most = 3});
  descent.solve(second.view(), options(), 5, 6);
  for (const auto& [feature, weight] : descent.take_weights({})) {
    EXPECT_EQ(weight, static_cast<float>(alone.weights[feature]));
  }
  EXPECT_EQ(descent.bias(), static_cast<float>(alone.bias));
}

TEST_P(DualDescentTest, LearnsFromPointsOfOneSideAlone) {
  const Csr features = csr_of(3, {{{0, 1.0F}}, {{1, 1.0F}}});
  for (const uint8_t side : std::vector<uint8_t>{0, 1}) {
    const Classifier result = solved(problem_of(features, {side, side}), options());
    for (const size_t feature : {0, 1}) {
      EXPECT_GT((result.weights[feature] + result.bias) * (side != 0 ? 1 : -1), 0.3);
    }
    EXPECT_EQ(result.weights[2], 0);
  }
}

TEST_P(DualDescentTest, TakesPointsWithoutFeaturesAndNoPointsAtAll) {
  EXPECT_GT(solved(problem_of(csr_of(2, {{}, {}}), {1, 1}), options()).bias, 0.3);
  EXPECT_EQ(solved(problem_of(csr_of(2, {}), {}), options()).bias, 0);
}

TEST_P(DualDescentTest, WeightsThatGoLeaveTheirMeanInTheBias) {
  const Problem problem = random_problem(100, 7);
  const auto mean_margin = [&](const WeightCut& cut) {
    const Classifier classifier = solved(problem, options(), Isa::kScalar, cut);
    double sum = 0;
    for (const uint32_t point : problem.points) {
      sum += margin_of(problem.features.row(point), classifier);
    }
    return sum / static_cast<double>(problem.points.size());
  };
  const double whole = mean_margin({});
  for (const WeightCut& cut : {WeightCut{.least = 0.3F}, WeightCut{.dropped_share = 0.3F},
                               WeightCut{.dropped_share = 1}, WeightCut{.most = 5}}) {
    EXPECT_NEAR(mean_margin(cut), whole, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, DualDescentTest,
                         testing::Values(RankerLoss::kSquaredHinge, RankerLoss::kLogistic));

TEST(DualDescentWeightsTest, AreCutBySizeByShareAndByNumber) {
  // One point: its weights are as its features.
  const Problem problem =
      problem_of(csr_of(5, {{{4, 0.2F}, {1, -1.0F}, {2, 0.8F}, {0, 0.4F}}}), {1});
  const DescentOptions options{.tolerance = 1e-6F, .passes = 1000};
  const auto features = [&](const WeightCut& cut) {
    DualDescent descent(5, Isa::kScalar);
    descent.solve(problem.view(), options, 1, 1);
    std::vector<uint32_t> kept;
    for (const FeatureWeight& one : descent.take_weights(cut)) kept.push_back(one.feature);
    return kept;
  };
  EXPECT_THAT(features({}), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(features({.least = 0.1F}), ElementsAre(0, 1, 2));
  EXPECT_THAT(features({.most = 2}), ElementsAre(1, 2));
  EXPECT_THAT(features({.least = 10}), IsEmpty());
  // Of the sum of squares, 1.84, the two smallest have 0.20.
  EXPECT_THAT(features({.dropped_share = 0.1F}), ElementsAre(0, 1, 2));
  EXPECT_THAT(features({.dropped_share = 0.12F}), ElementsAre(1, 2));
  EXPECT_THAT(features({.dropped_share = 1}), IsEmpty());
}

}  // namespace
}  // namespace elias
