// Many points on all threads: each takes a chunk of points and does it alone. But where every label
// is scored, and points are too few for a chunk a thread that is worth reading all labels for,
// chunks go one after the other and all threads read labels for each. Scores are the same in
// chunks of any size.
#include <algorithm>
#include <vector>

#include "base/scratch_pool.h"
#include "model/member_room.h"
#include "model/predictor.h"

namespace elias {
namespace {

Csr rows_of(const RankedLabels& ranked, size_t rows, size_t k, uint64_t L) {
  Csr matrix;
  matrix.cols = L;
  matrix.offsets.reserve(rows + 1);
  matrix.columns.reserve(ranked.labels.size());
  matrix.values.reserve(ranked.labels.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t place = row * k; place < (row + 1) * k && ranked.labels[place] >= 0; ++place) {
      matrix.columns.push_back(static_cast<uint32_t>(ranked.labels[place]));
      matrix.values.push_back(ranked.scores[place]);
    }
    matrix.finish_row(Csr::Repeats::kSum);
  }
  return matrix;
}

// Points a chunk. A scan reads the weights of all labels once for each.
size_t chunk_points(const Predictor& predictor, size_t rows, size_t threads) {
  constexpr size_t kFewestScanned = 64, kMostSearched = 64, kChunks = 64;
  if (predictor.scans()) {
    return std::clamp(chunk_count(rows, threads), kFewestScanned, MemberRoom::kMostPoints);
  }
  return std::clamp<size_t>(rows / kChunks, 1, kMostSearched);
}

}  // namespace

Csr predict_all(const Context& context, const Predictor& predictor, const PointsView& points,
                int64_t k, const AllowedLabels& allowed) {
  const size_t rows = points.rows();
  const auto places = static_cast<size_t>(std::min(k, predictor.labels()));
  std::vector<int32_t> labels(rows * places);
  std::vector<float> scores(rows * places);
  ScratchPool<Predictor::State> states([&] { return predictor.make_state(); });
  const auto predict = [&](size_t begin, size_t end) {
    const auto part = [&](auto& all) {
      return std::span(all).subspan(begin * places, (end - begin) * places);
    };
    states.with([&](Predictor::State& state) {
      predictor.predict(context, points, begin, end, static_cast<int64_t>(places), allowed, state,
                        {part(labels), part(scores)});
    });
  };
  const auto threads = static_cast<size_t>(context.pool().threads());
  const size_t grain = chunk_points(predictor, rows, threads);
  if (predictor.scans() && chunk_count(rows, grain) < threads) {
    for (size_t begin = 0; begin < rows; begin += grain) {
      predict(begin, std::min(rows, begin + grain));
    }
  } else {
    context.pool().for_chunks(rows, grain,
                              [&](size_t, size_t begin, size_t end) { predict(begin, end); });
  }
  return rows_of({labels, scores}, rows, places, static_cast<uint64_t>(predictor.labels()));
}

}  // namespace elias
