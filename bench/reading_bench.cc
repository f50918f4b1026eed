// Seconds that reading a file of points takes, whole, into memory.
//
//   reading_bench FILE THREADS REPEAT
//
// prints one JSON object with the shape of what was read and the seconds of the fastest run.
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
  double seconds = std::numeric_limits<double>::infinity(), checksum = 0;
  Dataset data;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    LabelSpace labels;
    const auto start = Clock::now();
    data = read_dataset(argv[1], {}, labels, pool);
    seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - start).count());
  }
  for (float value : data.features.values) checksum += value;
  fmt::print("{{\"rows\": {}, \"values\": {}, \"sum\": {}, \"seconds\": {}}}\n", data.rows(),
             data.features.nonzeros(), checksum, seconds);
}
