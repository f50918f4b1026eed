#include "metrics/row_pass.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "metrics/score_range.h"

namespace elias {

void RowPass::add_rows(size_t begin, size_t end) {
  constexpr size_t kFull = 1 << 16;
  for (size_t row = begin; row < end; ++row) {
    add_row(row);
    if (batch_.predicted.size() > kFull) labels_.add(batch_);
  }
  labels_.add(batch_);
}

void RowPass::add_row(size_t row) {
  const CsrRow truth = setting_.truth.row(row), scores = setting_.scores.row(row);
  // First what reads the row from end to end: the searches after it then find it in the cache.
  const ScoreRange range = score_range(scores.values);
  if (!range.finite) refuse(row, scores);
  if (range.probabilities) {
    add_pairs(scores);
  } else {
    sums_.probabilities = false;
  }
  add_predicted(scores);
  ranked_hits(truth, scores, hits_);
  batch_.hits.insert(batch_.hits.end(), hits_.begin(), hits_.end());
  if (range.probabilities) {
    for (const Hit& hit : hits_) {
      sums_.calibration[setting_.group_of[hit.label]].add_hit(hit.score);
    }
  }
  add_ranking(truth);
  if (setting_.options.labels) {
    top_labels(scores, setting_.options.cutoffs.k.back(), selected_);
    batch_.listed.insert(batch_.listed.end(), selected_.begin(), selected_.end());
  }
  sums_.rows_without_predictions += scores.size() == 0;
}

void RowPass::refuse(size_t row, const CsrRow& scores) const {
  const auto bad = std::find_if(scores.values.begin(), scores.values.end(),
                                [](float score) { return !std::isfinite(score); });
  throw InputError("{}: row {}, label {}: the score is {}, not a finite number: mend or remove it",
                   setting_.source, row, scores.columns[bad - scores.values.begin()], *bad);
}

void RowPass::add_pairs(const CsrRow& scores) {
  if (!setting_.options.groups) return sums_.calibration[0].add_pairs(scores.values);
  for (size_t i = 0; i < scores.size(); ++i) {
    sums_.calibration[setting_.group_of[scores.columns[i]]].add_pair(scores.values[i], i);
  }
}

void RowPass::add_predicted(const CsrRow& scores) {
  // Collected without a branch, which would be mispredicted at every score above the threshold.
  selected_.resize(scores.size());
  uint32_t* const selected = selected_.data();
  size_t count = 0;
  const auto collect = [&](auto threshold_of) {
    for (size_t i = 0; i < scores.size(); ++i) {
      selected[count] = scores.columns[i];
      count += scores.values[i] >= threshold_of(scores.columns[i]);
    }
  };
  const auto by_label = setting_.options.label_thresholds;
  if (by_label.empty()) {
    collect([threshold = setting_.threshold](uint32_t) { return threshold; });
  } else {
    collect([by_label](uint32_t label) { return by_label[label]; });
  }
  batch_.predicted.insert(batch_.predicted.end(), selected, selected + count);
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

}  // namespace elias
