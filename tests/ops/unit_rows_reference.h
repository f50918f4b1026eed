// Rows of unit length the slow and obvious way.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace elias::reference {

struct UnitRows {
  std::vector<double> y, lengths;
};

inline UnitRows unit_rows(const std::vector<double>& x, size_t D) {
  UnitRows result{x, std::vector<double>(D == 0 ? 0 : x.size() / D)};
  for (size_t i = 0; i < result.lengths.size(); ++i) {
    double squares = 0;
    for (size_t d = 0; d < D; ++d) squares += x[i * D + d] * x[i * D + d];
    result.lengths[i] = std::sqrt(squares);
    if (squares == 0) continue;
    for (size_t d = 0; d < D; ++d) result.y[i * D + d] /= result.lengths[i];
  }
  return result;
}

inline std::vector<double> unit_rows_backward(const std::vector<double>& dy,
                                              const UnitRows& forward, size_t D) {
  std::vector<double> dx(dy.size());
  for (size_t i = 0; i < forward.lengths.size(); ++i) {
    if (forward.lengths[i] == 0) continue;
    double along = 0;
    for (size_t d = 0; d < D; ++d) along += dy[i * D + d] * forward.y[i * D + d];
    for (size_t d = 0; d < D; ++d) {
      dx[i * D + d] = (dy[i * D + d] - along * forward.y[i * D + d]) / forward.lengths[i];
    }
  }
  return dx;
}

}  // namespace elias::reference
