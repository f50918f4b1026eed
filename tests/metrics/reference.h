// The metrics again, slow and obvious: dense matrices, a full sort of each row, every figure its
// own loop straight from the formula in docs/metrics.md. evaluate() is held to this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/csr.h"
#include "metrics/evaluate.h"

namespace elias::reference {

struct Problem {
  std::vector<std::vector<bool>> truth;                   // N x L
  std::vector<std::vector<std::optional<float>>> scores;  // N x L; empty: not predicted
  std::vector<double> weights;                            // L inverse propensities, or none
  Cutoffs cutoffs;
  std::optional<float> threshold;
  bool probabilities = false;

  size_t rows() const { return truth.size(); }
  size_t labels() const { return truth.empty() ? 0 : truth[0].size(); }
};

/// The labels of a row, best first.
inline std::vector<size_t> ranking(const Problem& p, size_t row) {
  std::vector<size_t> order;
  for (size_t l = 0; l < p.labels(); ++l) {
    if (p.scores[row][l]) order.push_back(l);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return *p.scores[row][a] > *p.scores[row][b]; });
  return order;
}

inline size_t positives(const Problem& p, size_t row) {
  return static_cast<size_t>(std::count(p.truth[row].begin(), p.truth[row].end(), true));
}

inline double safe(double a, double b) { return b > 0 ? a / b : 0; }

/// Sum over the first k of a row of gain(label) / discount(position), on hits.
template <typename Gain, typename Discount>
double sum_hits(const Problem& p, size_t row, uint32_t k, Gain gain, Discount discount) {
  const auto order = ranking(p, row);
  double sum = 0;
  for (size_t j = 0; j < order.size() && j < k; ++j) {
    if (p.truth[row][order[j]]) sum += gain(order[j]) / discount(j + 1);
  }
  return sum;
}

/// The same sum for the best possible list.
template <typename Gain, typename Discount>
double best_sum(const Problem& p, size_t row, uint32_t k, Gain gain, Discount discount) {
  std::vector<double> gains;
  for (size_t l = 0; l < p.labels(); ++l) {
    if (p.truth[row][l]) gains.push_back(gain(l));
  }
  std::sort(gains.rbegin(), gains.rend());
  double sum = 0;
  for (size_t j = 0; j < gains.size() && j < k; ++j) sum += gains[j] / discount(j + 1);
  return sum;
}

inline double one(size_t) { return 1; }
inline double log_discount(size_t position) { return std::log2(static_cast<double>(position) + 1); }

using Figures = std::map<std::string, double>;

inline void add_precision(const Problem& p, uint32_t k, Figures& out) {
  double hits = 0, ndcg = 0, rows = 0;
  for (size_t i = 0; i < p.rows(); ++i) {
    hits += sum_hits(p, i, k, one, one);
    if (positives(p, i) == 0) continue;
    rows += 1;
    ndcg += sum_hits(p, i, k, one, log_discount) / best_sum(p, i, k, one, log_discount);
  }
  out["P@" + std::to_string(k)] = safe(hits, static_cast<double>(p.rows()) * k);
  out["nDCG@" + std::to_string(k)] = safe(ndcg, rows);
}

inline void add_propensity(const Problem& p, uint32_t k, Figures& out) {
  const auto weight = [&](size_t l) { return p.weights[l]; };
  double gain = 0, best_gain = 0, dcg = 0, best_dcg = 0;
  for (size_t i = 0; i < p.rows(); ++i) {
    if (positives(p, i) == 0) continue;
    const double ideal = best_sum(p, i, k, one, log_discount);
    gain += sum_hits(p, i, k, weight, one);
    best_gain += best_sum(p, i, k, weight, one);
    dcg += sum_hits(p, i, k, weight, log_discount) / ideal;
    best_dcg += best_sum(p, i, k, weight, log_discount) / ideal;
  }
  out["PSP@" + std::to_string(k)] = safe(gain, best_gain);
  out["PSnDCG@" + std::to_string(k)] = safe(dcg, best_dcg);
}

inline void add_recall(const Problem& p, uint32_t k, Figures& out) {
  double recall = 0, rows = 0;
  for (size_t i = 0; i < p.rows(); ++i) {
    if (positives(p, i) == 0) continue;
    rows += 1;
    recall += sum_hits(p, i, k, one, one) / static_cast<double>(positives(p, i));
  }
  out["R@" + std::to_string(k)] = safe(recall, rows);
}

inline void add_mrr(const Problem& p, uint32_t k, Figures& out) {
  double sum = 0, rows = 0;
  for (size_t i = 0; i < p.rows(); ++i) {
    if (positives(p, i) == 0) continue;
    rows += 1;
    const auto order = ranking(p, i);
    for (size_t j = 0; j < order.size() && j < k; ++j) {
      if (!p.truth[i][order[j]]) continue;
      sum += 1 / static_cast<double>(j + 1);
      break;
    }
  }
  out["MRR@" + std::to_string(k)] = safe(sum, rows);
}

inline void add_coverage(const Problem& p, uint32_t k, Figures& out) {
  std::vector<bool> in_truth(p.labels()), hit(p.labels());
  for (size_t i = 0; i < p.rows(); ++i) {
    for (size_t l = 0; l < p.labels(); ++l) in_truth[l] = in_truth[l] || p.truth[i][l];
    const auto order = ranking(p, i);
    for (size_t j = 0; j < order.size() && j < k; ++j) {
      if (p.truth[i][order[j]]) hit[order[j]] = true;
    }
  }
  out["coverage@" + std::to_string(k)] =
      safe(static_cast<double>(std::count(hit.begin(), hit.end(), true)),
           static_cast<double>(std::count(in_truth.begin(), in_truth.end(), true)));
}

inline void add_f1(const Problem& p, Figures& out) {
  double all_tp = 0, all_fp = 0, all_fn = 0, macro = 0, labels = 0;
  for (size_t l = 0; l < p.labels(); ++l) {
    double tp = 0, fp = 0, fn = 0;
    for (size_t i = 0; i < p.rows(); ++i) {
      const bool predicted = p.scores[i][l] && *p.scores[i][l] >= *p.threshold;
      tp += predicted && p.truth[i][l];
      fp += predicted && !p.truth[i][l];
      fn += !predicted && p.truth[i][l];
    }
    all_tp += tp;
    all_fp += fp;
    all_fn += fn;
    if (tp + fn == 0) continue;
    labels += 1;
    macro += 2 * tp / (2 * tp + fp + fn);
  }
  out["micro-F1"] = safe(2 * all_tp, 2 * all_tp + all_fp + all_fn);
  out["macro-F1"] = safe(macro, labels);
}

inline void add_calibration(const Problem& p, Figures& out) {
  double error = 0, pairs = 0;
  for (size_t bin = 0; bin < 10; ++bin) {
    double in_bin = 0, score = 0, hits = 0;
    for (size_t i = 0; i < p.rows(); ++i) {
      for (size_t l = 0; l < p.labels(); ++l) {
        if (!p.scores[i][l] || Calibration::bin_of(*p.scores[i][l]) != bin) continue;
        in_bin += 1;
        score += static_cast<double>(*p.scores[i][l]);
        hits += p.truth[i][l];
      }
    }
    if (in_bin > 0) error += in_bin * std::abs(score / in_bin - hits / in_bin);
    pairs += in_bin;
  }
  out["ECE"] = safe(error, pairs);
}

inline Figures figures(const Problem& p) {
  Figures out;
  for (uint32_t k : p.cutoffs.k) {
    add_precision(p, k, out);
    if (!p.weights.empty()) add_propensity(p, k, out);
    add_coverage(p, k, out);
  }
  for (uint32_t k : p.cutoffs.recall) add_recall(p, k, out);
  for (uint32_t k : p.cutoffs.mrr) add_mrr(p, k, out);
  if (p.threshold) add_f1(p, out);
  if (p.probabilities) add_calibration(p, out);
  return out;
}

/// The problem of one group: the truth of other labels is struck out. Ranking figures keep the list
/// whole; F1 and calibration, which know no ranks, drop the other labels' predictions as well.
inline Figures group_figures(Problem p, const std::vector<uint8_t>& group_of, uint8_t group) {
  Problem pairs = p;
  for (size_t i = 0; i < p.rows(); ++i) {
    for (size_t l = 0; l < p.labels(); ++l) {
      if (group_of[l] == group) continue;
      p.truth[i][l] = pairs.truth[i][l] = false;
      pairs.scores[i][l].reset();
    }
  }
  Figures out = figures(p);
  const Figures by_pair = figures(pairs);
  for (const char* name : {"micro-F1", "macro-F1", "ECE"}) {
    if (by_pair.contains(name)) out[name] = by_pair.at(name);
  }
  return out;
}

}  // namespace elias::reference
