#include "metrics/ranked_hits.h"

#include <algorithm>
#include <span>

namespace elias {
namespace {

/// std::lower_bound without branches: in lists of a hundred nearly every step is mispredicted.
size_t first_not_below(std::span<const uint32_t> columns, uint32_t label) {
  size_t first = 0, size = columns.size();
  while (size > 1) {
    const size_t half = size / 2;
    first += half & -static_cast<size_t>(columns[first + half - 1] < label);
    size -= half;
  }
  return first + static_cast<size_t>(size == 1 && columns[first] < label);
}

uint32_t rank_of(std::span<const float> values, size_t index) {
  const float score = values[index];
  uint32_t better = 0, as_good = 0;
  for (const float other : values) {
    better += other > score;
    as_good += other >= score;
  }
  if (as_good == better + 1) return as_good;
  // A tie. Columns ascend within a row: what stands further left has the lower label and wins.
  return better + 1 +
         static_cast<uint32_t>(
             std::count(values.begin(), values.begin() + static_cast<ptrdiff_t>(index), score));
}

}  // namespace

void ranked_hits(const CsrRow& truth, const CsrRow& scores, std::vector<Hit>& hits) {
  hits.clear();
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!(truth.values[i] > 0)) continue;
    const uint32_t label = truth.columns[i];
    // From the start each time, not from where the last search ended: searches that do not depend
    // on each other overlap.
    const size_t index = first_not_below(scores.columns, label);
    if (index == scores.size() || scores.columns[index] != label) continue;
    hits.push_back({label, rank_of(scores.values, index), scores.values[index]});
  }
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.rank < b.rank; });
}

void top_labels(const CsrRow& scores, size_t k, std::vector<uint32_t>& labels) {
  labels.clear();
  if (k == 0) return;
  // A heap of entries with the worst of those kept in front.
  const auto beats = [&](uint32_t a, uint32_t b) {
    return scores.values[a] != scores.values[b] ? scores.values[a] > scores.values[b] : a < b;
  };
  for (uint32_t i = 0; i < scores.size(); ++i) {
    if (labels.size() == k) {
      // Entries come by ascending label, so an equal score does not beat one already kept.
      if (!(scores.values[i] > scores.values[labels.front()])) continue;
      std::pop_heap(labels.begin(), labels.end(), beats);
      labels.pop_back();
    }
    labels.push_back(i);
    std::push_heap(labels.begin(), labels.end(), beats);
  }
  for (uint32_t& entry : labels) entry = scores.columns[entry];
}

}  // namespace elias
