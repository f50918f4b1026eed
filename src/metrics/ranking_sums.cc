#include "metrics/ranking_sums.h"

#include <algorithm>
#include <cmath>

namespace elias {
namespace {

template <typename T>
void add_to(std::vector<T>& sum, const std::vector<T>& other) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
}

}  // namespace

uint32_t Cutoffs::deepest() const {
  uint32_t depth = 0;
  for (const auto* list : {&k, &recall, &mrr}) {
    if (!list->empty()) depth = std::max(depth, list->back());
  }
  return depth;
}

Discounts::Discounts(uint32_t depth) : discount_(depth + 1), sum_(depth + 1) {
  for (uint32_t rank = 1; rank <= depth; ++rank) {
    discount_[rank] = 1 / std::log2(rank + 1.0);
    sum_[rank] = sum_[rank - 1] + discount_[rank];
  }
}

RankingSums::RankingSums(const Cutoffs& cutoffs)
    : hits_(cutoffs.k.size()),
      ndcg_(cutoffs.k.size()),
      gain_(cutoffs.k.size()),
      best_gain_(cutoffs.k.size()),
      dcg_gain_(cutoffs.k.size()),
      best_dcg_gain_(cutoffs.k.size()),
      recall_(cutoffs.recall.size()),
      mrr_(cutoffs.mrr.size()) {}

void RankingSums::add_row(size_t positives, std::span<const Hit> hits,
                          std::span<const double> weights, std::span<const double> hit_weights,
                          const Cutoffs& cutoffs, const Discounts& discounts) {
  ++rows_;
  double dcg = 0;
  size_t h = 0;  // hits within the cut-off, which grows
  for (size_t i = 0; i < cutoffs.k.size(); ++i) {
    for (; h < hits.size() && hits[h].rank <= cutoffs.k[i]; ++h) dcg += discounts.at(hits[h].rank);
    hits_[i] += h;
    ndcg_[i] += dcg / discounts.ideal(std::min<size_t>(cutoffs.k[i], positives));
  }
  if (!weights.empty()) add_weights(hits, weights, hit_weights, cutoffs, discounts);
  h = 0;
  for (size_t i = 0; i < cutoffs.recall.size(); ++i) {
    while (h < hits.size() && hits[h].rank <= cutoffs.recall[i]) ++h;
    recall_[i] += static_cast<double>(h) / static_cast<double>(positives);
  }
  if (hits.empty()) return;
  for (size_t i = 0; i < cutoffs.mrr.size(); ++i) {
    if (hits[0].rank <= cutoffs.mrr[i]) mrr_[i] += 1.0 / hits[0].rank;
  }
}

void RankingSums::add_weights(std::span<const Hit> hits, std::span<const double> weights,
                              std::span<const double> hit_weights, const Cutoffs& cutoffs,
                              const Discounts& discounts) {
  double gain = 0, dcg = 0, best_gain = 0, best_dcg = 0;
  size_t h = 0, j = 0;  // hits within the cut-off, true labels that fit into it
  for (size_t i = 0; i < cutoffs.k.size(); ++i) {
    for (; h < hits.size() && hits[h].rank <= cutoffs.k[i]; ++h) {
      gain += hit_weights[h];
      dcg += hit_weights[h] * discounts.at(hits[h].rank);
    }
    for (; j < weights.size() && j < cutoffs.k[i]; ++j) {
      best_gain += weights[j];
      best_dcg += weights[j] * discounts.at(static_cast<uint32_t>(j + 1));
    }
    gain_[i] += gain;
    best_gain_[i] += best_gain;
    dcg_gain_[i] += dcg / discounts.ideal(j);
    best_dcg_gain_[i] += best_dcg / discounts.ideal(j);
  }
}

void RankingSums::add(const RankingSums& other) {
  rows_ += other.rows_;
  add_to(hits_, other.hits_);
  add_to(ndcg_, other.ndcg_);
  add_to(gain_, other.gain_);
  add_to(best_gain_, other.best_gain_);
  add_to(dcg_gain_, other.dcg_gain_);
  add_to(best_dcg_gain_, other.best_dcg_gain_);
  add_to(recall_, other.recall_);
  add_to(mrr_, other.mrr_);
}

double RankingSums::precision(size_t i, uint64_t all_rows, uint32_t k) const {
  return ratio(static_cast<double>(hits_[i]), static_cast<double>(all_rows) * k);
}

}  // namespace elias
