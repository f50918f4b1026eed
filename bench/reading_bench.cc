// Seconds that reading a file of points takes.
//
//   reading_bench FILE THREADS REPEAT
//
// prints one JSON object with the shape of what was read and the seconds of the fastest run: of
// reading it into memory, and of reading it past, batch by batch, as streaming verbs do.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <vector>

#include "data/point_reader.h"

namespace {

using Clock = std::chrono::steady_clock;

// Work done a second by all threads at once, in units of what one does alone: the most that any
// program can gain here. Two virtual cores are often less than two.
double machine_speed_up(elias::ThreadPool& pool) {
  const auto seconds_of = [&](size_t copies) {
    std::vector<uint64_t> sums(copies);
    const auto start = Clock::now();
    pool.for_each(copies, [&](size_t copy) {
      uint64_t sum = copy;
      for (uint64_t i = 0; i < 50'000'000; ++i) sum = sum * 6364136223846793005 + i;
      sums[copy] = sum;
    });
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    // Never true, but the compiler cannot know that, so the loops stay.
    if (sums[0] == 1) fmt::print(stderr, "\n");
    return elapsed.count();
  };
  const auto threads = static_cast<size_t>(pool.threads());
  return static_cast<double>(threads) * seconds_of(1) / seconds_of(threads);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace elias;
  if (argc != 4) {
    fmt::print(stderr, "usage: reading_bench FILE THREADS REPEAT\n");
    return 2;
  }
  ThreadPool pool(std::atoi(argv[2]));
  double whole = std::numeric_limits<double>::infinity(), streamed = whole, checksum = 0;
  Dataset data;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    LabelSpace labels, streamed_labels;
    const auto start = Clock::now();
    data = read_dataset(argv[1], {}, labels, pool);
    const auto middle = Clock::now();
    const auto reader = open_points(argv[1], {}, streamed_labels, pool);
    for (PointBatch batch; reader->next(batch);) {
    }
    const std::chrono::duration<double> first = middle - start, second = Clock::now() - middle;
    whole = std::min(whole, first.count());
    streamed = std::min(streamed, second.count());
  }
  for (float value : data.features.values) checksum += value;
  fmt::print(
      "{{\"values\": {}, \"sum\": {}, \"seconds\": {}, \"streamed\": {}, \"machine_speed_up\": "
      "{}}}\n",
      data.features.nonzeros(), checksum, whole, streamed, machine_speed_up(pool));
}
