// Many points on all threads: each takes a chunk of points and does it alone.
#include <algorithm>
#include <vector>

#include "base/scratch_pool.h"
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

}  // namespace

Csr predict_all(const Context& context, const Predictor& predictor, const PointsView& points,
                int64_t k, const AllowedLabels& allowed) {
  constexpr size_t kMostPoints = 64, kChunks = 64;
  const size_t rows = points.rows();
  const auto places = static_cast<size_t>(std::min(k, predictor.labels()));
  std::vector<int32_t> labels(rows * places);
  std::vector<float> scores(rows * places);
  ScratchPool<Predictor::State> states([&] { return predictor.make_state(); });
  const size_t grain = std::clamp<size_t>(rows / kChunks, 1, kMostPoints);
  context.pool().for_chunks(rows, grain, [&](size_t, size_t begin, size_t end) {
    const auto part = [&](auto& all) {
      return std::span(all).subspan(begin * places, (end - begin) * places);
    };
    states.with([&](Predictor::State& state) {
      predictor.predict(context, points, begin, end, static_cast<int64_t>(places), allowed, state,
                        {part(labels), part(scores)});
    });
  });
  return rows_of({labels, scores}, rows, places, static_cast<uint64_t>(predictor.labels()));
}

}  // namespace elias
