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

#include "data/point_reader.h"

int main(int argc, char** argv) {
  using namespace elias;
  using Clock = std::chrono::steady_clock;
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
  fmt::print("{{\"rows\": {}, \"values\": {}, \"sum\": {}, \"seconds\": {}, \"streamed\": {}}}\n",
             data.rows(), data.features.nonzeros(), checksum, whole, streamed);
}
