#include "metrics/ranked_hits.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace elias {
namespace {

uint32_t rank_of(std::span<const float> values, size_t index) {
  const float score = values[index];
  uint32_t better = 0;
  // Columns ascend within a row: an equal score further left belongs to a lower label and wins.
  for (size_t i = 0; i < index; ++i) better += values[i] >= score;
  for (size_t i = index + 1; i < values.size(); ++i) better += values[i] > score;
  return better + 1;
}

}  // namespace

void ranked_hits(const CsrRow& truth, const CsrRow& scores, std::vector<Hit>& hits) {
  hits.clear();
  auto from = scores.columns.begin();
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!(truth.values[i] > 0)) continue;
    const uint32_t label = truth.columns[i];
    from = std::lower_bound(from, scores.columns.end(), label);
    if (from == scores.columns.end()) break;
    if (*from != label) continue;
    const auto index = static_cast<size_t>(from - scores.columns.begin());
    hits.push_back({label, rank_of(scores.values, index), scores.values[index]});
  }
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.rank < b.rank; });
}

void top_labels(const CsrRow& scores, size_t k, std::vector<uint32_t>& labels) {
  labels.resize(scores.size());
  std::iota(labels.begin(), labels.end(), 0u);
  if (k < labels.size()) {
    std::nth_element(
        labels.begin(), labels.begin() + static_cast<ptrdiff_t>(k), labels.end(),
        [&](uint32_t a, uint32_t b) {
          return scores.values[a] != scores.values[b] ? scores.values[a] > scores.values[b] : a < b;
        });
    labels.resize(k);
  }
  for (uint32_t& entry : labels) entry = scores.columns[entry];
}

}  // namespace elias
