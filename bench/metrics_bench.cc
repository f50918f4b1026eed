// Seconds that evaluate() takes on files already loaded, as metrics_numpy.py measures itself.
//
//   metrics_bench TRUTH PREDICTIONS TRAIN THREADS REPEAT
//
// prints one JSON object with the figures and the seconds of the fastest run. bench/metrics.py runs
// both and prints the ratio.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/label_matrix.h"
#include "data/predictions.h"
#include "metrics/evaluate.h"

int main(int argc, char** argv) {
  using namespace elias;
  using Clock = std::chrono::steady_clock;
  if (argc != 6) {
    fmt::print(stderr, "usage: metrics_bench TRUTH PREDICTIONS TRAIN THREADS REPEAT\n");
    return 2;
  }
  ThreadPool pool(std::atoi(argv[4]));
  LabelSpace labels;
  const Csr truth = read_label_matrix(argv[1], {}, labels, pool).labels;
  const Csr train = read_label_matrix(argv[3], {}, labels, pool).labels;
  const Csr scores = read_predictions(argv[2], std::nullopt, LabelForm::kUnknown, labels, pool);
  double seconds = std::numeric_limits<double>::infinity();
  nlohmann::ordered_json metrics;
  for (int i = 0; i < std::atoi(argv[5]); ++i) {
    const auto start = Clock::now();
    const Training training{
        .points = train.rows(), .counts = column_counts(train), .propensity = {}};
    const Evaluation result = evaluate(truth, scores, &training, {}, pool);
    seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - start).count());
    for (const Metric& metric : result.metrics) metrics[metric.name] = metric.value;
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"metrics", metrics}, {"seconds", seconds}}.dump());
}
