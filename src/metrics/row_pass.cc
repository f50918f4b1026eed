#include "metrics/row_pass.h"

#include <algorithm>

namespace elias {

void RowPass::add_row(size_t row) {
  const CsrRow truth = setting_.truth.row(row), scores = setting_.scores.row(row);
  ranked_hits(truth, scores, hits_);
  sums_.rows_without_predictions += scores.size() == 0;
  add_ranking(truth);
  if (setting_.threshold) add_threshold(scores, *setting_.threshold);
  if (setting_.probabilities) add_calibration(scores);
  for (const Hit& hit : hits_) LabelTotals::lower(labels_.best_rank[hit.label], hit.rank);
  if (setting_.options.labels) add_listed(scores);
}

void RowPass::add_ranking(const CsrRow& truth) {
  positives_.clear();
  bool all_unseen = !setting_.counts.empty();
  uint32_t groups = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (!(truth.values[i] > 0)) continue;
    const uint32_t label = truth.columns[i];
    const uint8_t group = setting_.group_of[label];
    positives_.push_back({group, setting_.weights.empty() ? 0 : setting_.weights[label]});
    groups |= 1u << group;
    all_unseen = all_unseen && setting_.counts[label] == 0;
  }
  if (positives_.empty()) return;
  sums_.rows_all_unseen += all_unseen;
  std::sort(positives_.begin(), positives_.end(),
            [](const Positive& a, const Positive& b) { return a.weight > b.weight; });
  add_part(0, [](uint8_t) { return true; });
  if (!setting_.options.groups) return;
  for (uint8_t g = 0; g < LabelDeciles::kGroups; ++g) {
    if (groups & (1u << g)) add_part(1 + g, [g](uint8_t group) { return group == g; });
  }
}

template <typename In>
void RowPass::add_part(size_t slot, In in) {
  part_weights_.clear();
  part_hits_.clear();
  part_hit_weights_.clear();
  size_t count = 0;
  for (const Positive& positive : positives_) {
    if (!in(positive.group)) continue;
    ++count;
    if (!setting_.weights.empty()) part_weights_.push_back(positive.weight);
  }
  for (const Hit& hit : hits_) {
    if (!in(setting_.group_of[hit.label])) continue;
    part_hits_.push_back(hit);
    if (!setting_.weights.empty()) part_hit_weights_.push_back(setting_.weights[hit.label]);
  }
  sums_.ranking[slot].add_row(count, part_hits_, part_weights_, part_hit_weights_,
                              setting_.options.cutoffs, setting_.discounts);
}

void RowPass::add_threshold(const CsrRow& scores, float threshold) {
  // Collected without a branch, which would be mispredicted at every score above the threshold.
  selected_.resize(scores.size());
  size_t count = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    selected_[count] = scores.columns[i];
    count += scores.values[i] >= threshold;
  }
  for (size_t i = 0; i < count; ++i) LabelTotals::count(labels_.predicted[selected_[i]]);
  for (const Hit& hit : hits_) {
    if (hit.score >= threshold) LabelTotals::count(labels_.hits[hit.label]);
  }
}

void RowPass::add_calibration(const CsrRow& scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    sums_.calibration[setting_.group_of[scores.columns[i]]].add_pair(scores.values[i], i);
  }
  for (const Hit& hit : hits_) {
    sums_.calibration[setting_.group_of[hit.label]].add_hit(hit.score);
  }
}

void RowPass::add_listed(const CsrRow& scores) {
  const uint32_t k = setting_.options.cutoffs.k.back();
  top_labels(scores, k, selected_);
  for (uint32_t label : selected_) LabelTotals::count(labels_.listed[label]);
  for (const Hit& hit : hits_) {
    if (hit.rank <= k) LabelTotals::count(labels_.listed_hits[hit.label]);
  }
}

}  // namespace elias
