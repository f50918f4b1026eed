#include "metrics/filter.h"

#include <algorithm>

namespace elias {

size_t remove_pairs(Csr& scores, std::vector<std::pair<uint64_t, LabelId>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  auto next = pairs.begin();
  size_t out = 0, begin = 0;
  for (size_t row = 0; row < scores.rows(); ++row) {
    const size_t end = scores.offsets[row + 1];
    for (size_t i = begin; i < end; ++i) {
      const std::pair<uint64_t, LabelId> here{row, scores.columns[i]};
      while (next != pairs.end() && *next < here) ++next;
      if (next != pairs.end() && *next == here) continue;
      scores.columns[out] = scores.columns[i];
      scores.values[out++] = scores.values[i];
    }
    begin = end;
    scores.offsets[row + 1] = out;
  }
  const size_t removed = scores.columns.size() - out;
  scores.columns.resize(out);
  scores.values.resize(out);
  return removed;
}

}  // namespace elias
