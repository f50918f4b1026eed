// The figures of bench/metrics_numpy.py, written down by bench/metrics_fixture.py, from files.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/label_matrix.h"
#include "data/predictions.h"
#include "metrics/evaluate.h"

namespace elias {
namespace {

TEST(Fixture, AgreesWithNumpy) {
  const std::string folder = ELIAS_METRICS_FIXTURE;
  ThreadPool pool(2);
  LabelSpace labels;
  const Csr truth = read_label_matrix(folder + "/truth.txt", {}, labels, pool).labels;
  const Csr train = read_label_matrix(folder + "/train.txt", {}, labels, pool).labels;
  const Csr scores = read_predictions(folder + "/predictions.txt", std::nullopt,
                                      LabelForm::kUnknown, labels, pool);
  const Training training{.points = train.rows(), .counts = column_counts(train), .propensity = {}};
  const Evaluation result = evaluate(truth, scores, &training, {}, pool);
  std::ifstream file(folder + "/expected.json");
  const auto expected = nlohmann::json::parse(file);
  EXPECT_EQ(result.metrics.size(), expected.size());
  for (const auto& [name, value] : expected.items()) {
    ASSERT_TRUE(result.find(name)) << name;
    EXPECT_NEAR(*result.find(name), value.get<double>(), 1e-9 * value.get<double>()) << name;
  }
}

}  // namespace
}  // namespace elias
