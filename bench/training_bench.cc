// Training's speed, as a ratio to what the machine can do in what dominates it (bench/roofline.h).
//
//   training_bench THREADS
//
// prints one JSON object: for the two ways of label classifiers (head/label_losses.h) and each
// stage the points a second, what the dominant operator must at least do for a point, and the ratio
// of the two to the bound, which is measured before and after. Points are random: time hardly
// depends on what they are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/random.h"
#include "bench/roofline.h"
#include "ops/tensor.h"
#include "train/trainer.h"

namespace elias::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kPoints = 30'000, kFeatures = 50'000;
constexpr uint64_t kFeaturesPerPoint = 20, kLabelsPerPoint = 4;

Csr random_rows(uint64_t columns, uint64_t a_row, uint64_t stream) {
  RandomSequence random(1, stream);
  Csr csr;
  csr.cols = columns;
  for (uint64_t row = 0; row < kPoints; ++row) {
    for (uint64_t i = 0; i < a_row; ++i) {
      csr.columns.push_back(static_cast<uint32_t>(random.below(columns)));
      csr.values.push_back(1);
    }
    csr.finish_row(Csr::Repeats::kMaximum);
  }
  return csr;
}

// Floating-point operations or bytes a second, at this moment.
double bound_rate(ThreadPool& pool, bool products, const Tensor& memory) {
  if (!products) {
    const auto values = memory.span<float>();
    return static_cast<double>(values.size_bytes()) / seconds_of([&] { largest(pool, values); });
  }
  double operations = 0;
  const double seconds = seconds_of([&] { operations = multiply_add(pool, chosen_isa()); });
  return operations / seconds;
}

struct Way {
  std::string name;
  int64_t labels;
  LogitLoss loss;
};

// What the classifiers must do for a point: three products with all labels; or the rows of its
// shortlist, in bfloat16, read for scores and again for the gradient of phi.
double amount_a_point(const Settings& settings, bool products, int64_t labels) {
  const auto width = static_cast<double>(settings.width);
  return products ? 6 * width * static_cast<double>(labels)
                  : 2 * 2 * width * static_cast<double>(settings.shortlist);
}

Json measure(ThreadPool& pool, const Way& way, const Tensor& memory) {
  const TrainingData data{
      .features = random_rows(kFeatures, kFeaturesPerPoint, 1),
      .labels = random_rows(static_cast<uint64_t>(way.labels), kLabelsPerPoint, 2),
      .held_out_features = {},
      .held_out_labels = {}};
  Settings settings;
  settings.logit_loss = way.loss;
  settings.batch = 1024;
  settings.held_out = 0;
  settings.warm_epochs = settings.stage1_epochs = settings.stage2_epochs = 1;
  resolve(settings, {.points = static_cast<int64_t>(kPoints),
                     .labels = way.labels,
                     .labels_per_point = double{kLabelsPerPoint},
                     .features = static_cast<int64_t>(kFeatures),
                     .features_per_point = double{kFeaturesPerPoint}});
  const bool products = labels_go_by_blocks(settings, way.labels);
  const double amount = amount_a_point(settings, products, way.labels);
  Json stages = Json::array();
  double before = bound_rate(pool, products, memory);
  const auto log = [&](const std::string& event, const Json& fields) {
    if (event == "stage") before = bound_rate(pool, products, memory);
    if (event != "epoch") return;
    const double bound = (before + bound_rate(pool, products, memory)) / 2;
    const double points = fields.at("points_per_second");
    stages.push_back({{"name", way.name + ", " + fields.at("stage").get<std::string>()},
                      {"bound", products ? "bf16" : "read"},
                      {"points per second", points},
                      {"amount", amount},
                      {"bound rate", bound},
                      {"ratio", points * amount / bound}});
  };
  const TrainingHooks hooks{.stop = [] { return false; },
                            .progress = [](const TrainingProgress&) {},
                            .log = log,
                            .checkpoint_due = [] { return false; },
                            .checkpoint = [](const SafetensorsWriter&) {},
                            .keep = [](const Member&) {}};
  train(Context(pool), settings, data, hooks, std::nullopt);
  return stages;
}

int run(int threads) {
  ThreadPool pool(threads);
  const Tensor memory({1 << 26}, DType::kFloat32);
  Json cases = Json::array();
  for (const Way& way : {Way{"all of 25,000 labels", 25'000, LogitLoss::kAll},
                         Way{"shortlists from 100,000 labels", 100'000, LogitLoss::kShortlist}}) {
    for (Json& stage : measure(pool, way, memory)) cases.push_back(std::move(stage));
  }
  fmt::print("{}\n", Json{{"threads", pool.threads()}, {"cases", cases}}.dump());
  return 0;
}

}  // namespace
}  // namespace elias::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: training_bench THREADS\n");
    return 2;
  }
  return elias::bench::run(std::atoi(argv[1]));
}
