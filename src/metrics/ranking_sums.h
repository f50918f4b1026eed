// The running totals behind P@k, nDCG@k, PSP@k, PSnDCG@k, R@k and MRR@k.
//
// A group of labels is measured by the same code as all labels: the caller hands in the row's true
// labels and hits of that group only, with their ranks in the whole list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/ranked_hits.h"

namespace elias {

/// Where lists are cut. Every list ascends, without repeats, from 1.
struct Cutoffs {
  std::vector<uint32_t> k{1, 3, 5};  // P, nDCG, PSP, PSnDCG, coverage
  std::vector<uint32_t> recall{10, 20, 50, 100};
  std::vector<uint32_t> mrr{10};

  uint32_t deepest() const;
};

/// 1 / log2(rank + 1), and its running sums, up to a depth.
class Discounts {
 public:
  explicit Discounts(uint32_t depth);
  double at(uint32_t rank) const { return discount_[rank]; }
  /// The best DCG of `count` true labels.
  double ideal(size_t count) const { return sum_[count]; }

 private:
  std::vector<double> discount_, sum_;
};

class RankingSums {
 public:
  explicit RankingSums(const Cutoffs& cutoffs);

  /// A row with `positives` true labels, at least one. `weights` are their inverse propensities,
  /// descending, and `hit_weights` those of the hits; both empty where there are none.
  void add_row(size_t positives, std::span<const Hit> hits, std::span<const double> weights,
               std::span<const double> hit_weights, const Cutoffs& cutoffs,
               const Discounts& discounts);
  void add(const RankingSums& other);

  uint64_t rows() const { return rows_; }
  /// The figures, given all rows N. Means over rows with a true label are 0 if there are none.
  double precision(size_t i, uint64_t all_rows, uint32_t k) const;
  double ndcg(size_t i) const { return ratio(ndcg_[i], static_cast<double>(rows_)); }
  double psp(size_t i) const { return ratio(gain_[i], best_gain_[i]); }
  double psndcg(size_t i) const { return ratio(dcg_gain_[i], best_dcg_gain_[i]); }
  double recall(size_t i) const { return ratio(recall_[i], static_cast<double>(rows_)); }
  double mrr(size_t i) const { return ratio(mrr_[i], static_cast<double>(rows_)); }

 private:
  static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
  void add_weights(std::span<const Hit> hits, std::span<const double> weights,
                   std::span<const double> hit_weights, const Cutoffs& cutoffs,
                   const Discounts& discounts);

  uint64_t rows_ = 0;  // with at least one true label
  std::vector<uint64_t> hits_;
  std::vector<double> ndcg_, gain_, best_gain_, dcg_gain_, best_dcg_gain_;
  std::vector<double> recall_, mrr_;
};

}  // namespace elias
