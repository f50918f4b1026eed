// Predictions in this process, without a server: what `elias serve` is held to.
//
//   serving_bench MODEL FILE THREADS
//
// prints one JSON object: texts of FILE a second, all at once on so many threads, each with its
// five best labels; and the microseconds in which a replica answers a text alone, the median.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "data/point_reader.h"
#include "serve/replica.h"

namespace elias::bench {
namespace {

constexpr int64_t kBest = 5;
constexpr double kSeconds = 2;  // of each figure

double texts_per_second(const Model& model, const TextRows& texts, ThreadPool& pool) {
  const Context context(pool);
  const auto pass = [&] {
    predict_all(context, model.predictor(), model.points_of(texts, pool), kBest);
  };
  pass();  // what is touched for the first time
  const Stopwatch time;
  size_t passes = 0;
  for (; time.seconds() < kSeconds; ++passes) pass();
  return static_cast<double>(passes * texts.rows()) / time.seconds();
}

double lone_microseconds(std::shared_ptr<const ServedModel> served, const TextRows& texts) {
  Replica replica(std::move(served));
  std::vector<double> times;
  for (const Stopwatch all; all.seconds() < kSeconds;) {
    TextRows one;
    one.add(texts.row(times.size() % texts.rows()));
    const Stopwatch time;
    replica.predict(one, kBest, {});
    times.push_back(1e6 * time.seconds());
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void measure(const std::string& folder, const std::string& file, int threads) {
  ThreadPool pool(threads);
  LabelSpace ignored;
  ReadOptions reading;
  reading.labels = ReadOptions::Labels::kIgnored;
  const Dataset data = read_dataset(file, reading, ignored, pool);
  const auto served = ServedModel::load(folder, threads);
  fmt::print("{{\"texts_per_second\": {:.1f}, \"lone_microseconds\": {:.1f}}}\n",
             texts_per_second(served->model(), data.texts, pool),
             lone_microseconds(served, data.texts));
}

}  // namespace
}  // namespace elias::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: serving_bench MODEL FILE THREADS\n");
    return 2;
  }
  elias::bench::measure(argv[1], argv[2], std::stoi(argv[3]));
  return 0;
}
