// Seconds that tf-idf takes to fit and to transform texts already in memory.
//
//   tfidf_bench FILE THREADS REPEAT OUT
//
// FILE holds points with texts. Writes the matrix to OUT (npz) and prints one JSON object with the
// seconds of the fastest fit and transform, and of a loop that only adds up the bytes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>

#include "data/io/npz.h"
#include "data/point_reader.h"
#include "text/tfidf_fitter.h"

namespace {

template <typename Work>
void time_fastest(double& seconds, Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  seconds = std::min(seconds, elapsed.count());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace elias;
  if (argc != 5) {
    fmt::print(stderr, "usage: tfidf_bench FILE THREADS REPEAT OUT\n");
    return 2;
  }
  ThreadPool pool(std::atoi(argv[2]));
  LabelSpace labels;
  const TextRows texts = read_dataset(argv[1], {}, labels, pool).texts;
  double fit = std::numeric_limits<double>::infinity(), transform = fit, bytes = fit;
  Csr matrix;
  uint64_t sum = 0;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    std::optional<Tfidf> model;
    time_fastest(fit, [&] {
      TfidfFitter fitter({}, pool);
      fitter.add(texts);
      model = fitter.finish();
    });
    time_fastest(transform, [&] { matrix = model->transform(texts, pool); });
    time_fastest(bytes, [&] {
      for (char c : texts.bytes) sum += static_cast<unsigned char>(c);
    });
  }
  write_npz(argv[4], matrix);
  fmt::print(
      "{{\"fit\": {}, \"transform\": {}, \"byte_loop\": {}, \"bytes\": {}, \"byte_sum\": {}}}\n",
      fit, transform, bytes, texts.bytes.size(), sum);
}
