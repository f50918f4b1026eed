#include "encoder/points.h"

namespace elias {

TokenRows select_rows(const TokenRows& tokens, std::span<const size_t> rows) {
  TokenRows selected;
  for (const size_t row : rows) {
    const auto ids = tokens.row(row);
    selected.ids.insert(selected.ids.end(), ids.begin(), ids.end());
    selected.offsets.push_back(selected.ids.size());
  }
  return selected;
}

Points select_rows(const PointsView& points, std::span<const size_t> rows) {
  Points selected{.features = select_rows(points.features(), rows), .tokens = {}};
  if (points.has_tokens()) selected.tokens = select_rows(points.tokens(), rows);
  return selected;
}

Points sample_rows(const PointsView& points, size_t size) {
  return select_rows(points, sampled_rows(points.rows(), size));
}

}  // namespace elias
