#include "ranker/fusion.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "ranker/log_odds.h"

namespace elias {
namespace {

// The last labels of a list are hardly better than those that are not in it.
constexpr float kLeastLogOdds = -10;

float held_log_odds(float score) { return std::max(log_odds(score), kLeastLogOdds); }

/// The rows that a fusion is learned from: log odds of the members [n, M], and what was true.
struct Rows {
  std::vector<float> values;
  std::vector<uint8_t> is_true;
};

/// A row for every label that a member found for a point.
Rows rows_of(std::span<const Csr> found, const Csr& truth) {
  const size_t M = found.size();
  Rows rows;
  std::vector<uint32_t> labels;
  for (size_t i = 0; i < truth.rows(); ++i) {
    labels.clear();
    for (const Csr& member : found) {
      const auto own = member.row(i).columns;
      labels.insert(labels.end(), own.begin(), own.end());
    }
    std::ranges::sort(labels);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    const size_t first = rows.values.size();
    rows.values.resize(first + labels.size() * M, kLeastLogOdds);
    for (size_t m = 0; m < M; ++m) {
      const CsrRow own = found[m].row(i);
      for (size_t j = 0, place = 0; j < own.size(); ++j) {
        while (labels[place] != own.columns[j]) ++place;
        rows.values[first + place * M + m] = held_log_odds(own.values[j]);
      }
    }
    const auto true_labels = truth.row(i).columns;
    for (const uint32_t label : labels) {
      rows.is_true.push_back(std::ranges::binary_search(true_labels, label) ? 1 : 0);
    }
  }
  return rows;
}

MonotoneLogistic fit_learned(const Rows& rows, size_t M, ThreadPool& pool) {
  constexpr std::array kShares = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9};
  std::vector<PiecewiseInput> inputs;
  for (size_t m = 0; m < M; ++m) {
    // Knots where true labels are: elsewhere there is nothing to tell apart.
    std::vector<float> of_true;
    for (size_t i = 0; i < rows.is_true.size(); ++i) {
      if (rows.is_true[i] != 0) of_true.push_back(rows.values[i * M + m]);
    }
    inputs.push_back({.knots = quantile_knots(std::move(of_true), kShares),
                      .monotone = true,
                      .prior_slope = 1 / static_cast<float>(M)});
  }
  return fit_monotone_logistic({rows.values, rows.is_true}, inputs, {}, pool);
}

}  // namespace

float Fusion::evidence(float score, size_t place) const {
  if (kind == FusionKind::kMean) return score;
  return kind == FusionKind::kRanks ? 1 / static_cast<float>(place + 1) : held_log_odds(score);
}

float Fusion::no_evidence() const { return kind == FusionKind::kLearned ? kLeastLogOdds : 0; }

float Fusion::score(std::span<const float> evidence) const {
  if (kind == FusionKind::kLearned) return learned.probability(evidence);
  return std::accumulate(evidence.begin(), evidence.end(), 0.0F) /
         static_cast<float>(evidence.size());
}

std::span<ScoredLabel> Fuser::fuse(const Fusion& fusion, std::span<const MemberList> lists) {
  found_.clear();
  for (uint32_t m = 0; m < lists.size(); ++m) {
    const MemberList& list = lists[m];
    for (size_t i = 0; i < list.labels.size() && list.labels[i] >= 0; ++i) {
      found_.push_back({list.labels[i], m, fusion.evidence(list.scores[i], i)});
    }
  }
  std::ranges::sort(found_, {}, &Found::label);
  fused_.clear();
  for (size_t begin = 0, end = 0; begin < found_.size(); begin = end) {
    const int32_t label = found_[begin].label;
    evidence_.assign(lists.size(), fusion.no_evidence());
    for (; end < found_.size() && found_[end].label == label; ++end) {
      evidence_[found_[end].member] = found_[end].evidence;
    }
    fused_.push_back({.score = fusion.score(evidence_), .label = label});
  }
  return fused_;
}

Fusion fit_fusion(std::span<const Csr> found, const Csr& truth, ThreadPool& pool) {
  return {.kind = FusionKind::kLearned,
          .learned = fit_learned(rows_of(found, truth), found.size(), pool)};
}

void check_fusion(const Fusion& fusion, size_t members, const std::string& name) {
  if (fusion.kind != FusionKind::kLearned) return;
  check_monotone_logistic(fusion.learned, name);
  if (fusion.learned.inputs.size() == members) return;
  throw InputError("{}: its fusion is of {} members, but there are {}: copy the model again", name,
                   fusion.learned.inputs.size(), members);
}

}  // namespace elias
