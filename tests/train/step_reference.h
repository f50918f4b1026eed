// One training step in double, equation by equation: the encoder, the scores of clusters and edges
// (eq. 1 and 2), the best path to each label (eq. 3), the K best labels, and the losses (eq. 6 to
// 8) with the means of the published code. Gradients are its differences.
//
// Which paths are taken, and which labels are in a shortlist, is chosen once (select) and then
// kept: the step too sends its gradient along these alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "index/label_graph.h"
#include "index/shortlists.h"
#include "tests/encoder/bag_reference.h"
#include "tests/head/label_losses_reference.h"
#include "tests/head/label_regularisers_reference.h"
#include "tests/head/sampled_losses_reference.h"
#include "tests/ops/softmax_clamp_reference.h"
#include "tests/ops/unit_rows_reference.h"
#include "train/settings.h"

namespace elias::reference {

struct NetworkWeights {
  BagWeights<double> encoder;
  std::vector<double> cluster_weights, cluster_bias;  // [C, D], [C]; empty: one-vs-all
  std::vector<double> edges;                          // [E]; empty: a partition
  std::vector<double> label_weights, label_bias;      // [L, D], [L]
  std::vector<double> label_log_length;               // [1]; empty unless labels are embeddings
  // 1 / the length of each column of the table, by which the encoder's gain [1] is then multiplied;
  // given, as a step takes it. [D], or empty: there is no weight normalisation.
  std::vector<double> column_scales = {};
};

// What a step is given beside the weights.
struct StepInput {
  const Settings* settings;
  const LabelGraph* graph;
  BagsOf bags;
  std::vector<double> mask;  // of dropout, or empty
  BatchLabels labels;
  DrawnLabels drawn = {};
  std::vector<int32_t> regularised = {};  // labels
  std::vector<double> similarity = {};    // [R, R] of these
};

// A path that is taken to a label of a point.
struct TakenPath {
  size_t point;
  size_t label;
  size_t cluster;
  size_t edge;
};

struct Selection {
  std::vector<TakenPath> shortlisted;
  std::vector<double> logits;        // of these
  std::vector<TakenPath> positives;  // of labels that the point has
  int64_t missed = 0;                // such labels that no path leads to
};

struct StepLosses {
  double on_p = 0, on_z = 0, shortlist = 0, regulariser = 0;  // as they are weighted
  double sum() const { return on_p + on_z + shortlist + regulariser; }
};

class Step {
 public:
  Step(const StepInput& input, const NetworkWeights& weights)
      : input_(input),
        settings_(*input.settings),
        weights_(weights),
        points_(input.bags.points()),
        width_(static_cast<size_t>(settings_.width)),
        clusters_(weights.cluster_bias.size()),
        labels_(weights.label_bias.size()),
        phi_(encode_bags(input.bags, normalised(weights), input.mask)) {
    if (clusters_ == 0) return;
    cluster_logits_ = linear(phi_, weights.cluster_weights, weights.cluster_bias, /*relu=*/false,
                             points_, width_, clusters_);
    cluster_scores_ = softmax_clamp(cluster_logits_, clusters_, double{settings_.alpha}).s;
    edge_scores_.assign(input.graph->labels.size(), 1);
    if (weights.edges.empty()) return;
    for (size_t c = 0; c < clusters_; ++c) {
      const auto begin = input.graph->offsets[c];
      const auto end = input.graph->offsets[c + 1];
      if (begin == end) continue;
      const std::vector<double> row(weights.edges.begin() + begin, weights.edges.begin() + end);
      std::ranges::copy(softmax_clamp(row, row.size(), double{settings_.beta}).s,
                        edge_scores_.begin() + begin);
    }
  }

  const std::vector<double>& cluster_logits() const { return cluster_logits_; }
  double cluster_score(const TakenPath& path) const {
    return cluster_scores_[path.point * clusters_ + path.cluster];
  }
  double edge_score(const TakenPath& path) const { return edge_scores_[path.edge]; }
  double score(const TakenPath& path) const { return cluster_score(path) * edge_score(path); }

  // `lists` are the clusters each point explores, in their order.
  Selection select(const std::vector<std::vector<int32_t>>& lists) const {
    Selection selection;
    for (size_t i = 0; i < points_; ++i) {
      const auto best = best_paths(i, lists[i]);
      for (const uint32_t label : input_.labels.row(i).columns) {
        const auto path = best.find(label);
        if (path == best.end()) {
          ++selection.missed;
        } else {
          selection.positives.push_back(path->second);
        }
      }
      std::vector<TakenPath> found;
      found.reserve(best.size());
      for (const auto& [label, path] : best) found.push_back(path);
      std::ranges::stable_sort(found, [&](const TakenPath& left, const TakenPath& right) {
        return score(left) > score(right);
      });
      found.resize(std::min(found.size(), static_cast<size_t>(settings_.shortlist)));
      for (const TakenPath& path : found) selection.logits.push_back(logit(i, path.label));
      selection.shortlisted.insert(selection.shortlisted.end(), found.begin(), found.end());
    }
    return selection;
  }

  StepLosses losses(const Selection& selection) const {
    StepLosses losses;
    losses.regulariser = double{settings_.regulariser_weight} * regulariser_loss();
    if (settings_.method == Method::kGlas) {
      losses.on_z = embedding_loss();
      return losses;
    }
    const double mean = 1 / (static_cast<double>(points_) * static_cast<double>(places(selection)));
    for (size_t j = 0; j < selection.shortlisted.size(); ++j) {
      const TakenPath& path = selection.shortlisted[j];
      const bool given = settings_.logit_loss == LogitLoss::kAll;
      const double z = given ? selection.logits[j] : logit(path.point, path.label);
      losses.on_p += mean * loss_on_p(z, std::log(score(path)), target(path));
    }
    losses.on_z = mean * sum_on_z(selection);
    size_t most_labels = 1;
    for (size_t i = 0; i < points_; ++i)
      most_labels = std::max(most_labels, input_.labels.row(i).size());
    for (const TakenPath& path : selection.positives) {
      losses.shortlist -= double{settings_.lambda} * target(path) * std::log(score(path)) /
                          static_cast<double>(points_ * most_labels);
    }
    return losses;
  }

 private:
  static BagWeights<double> normalised(const NetworkWeights& weights) {
    BagWeights<double> encoder = weights.encoder;
    if (weights.column_scales.empty()) return encoder;
    encoder.gain = weights.column_scales;
    for (double& scale : encoder.gain) scale *= weights.encoder.gain[0];
    return encoder;
  }

  // A mean over points and, where all labels count, over these.
  double embedding_loss() const {
    const std::vector<double> v = unit_rows(weights_.label_weights, width_).y;
    const auto score = [&](size_t i, size_t label) {
      double sum = 0;
      for (size_t d = 0; d < width_; ++d) sum += phi_[i * width_ + d] * v[label * width_ + d];
      return std::exp(weights_.label_log_length[0]) * sum;
    };
    const auto points = static_cast<double>(points_);
    if (settings_.loss == EmbeddingLoss::kOva) {
      double sum = 0;
      for (size_t i = 0; i < points_; ++i) {
        for (size_t l = 0; l < labels_; ++l) {
          sum +=
              loss_on_z(score(i, l) + weights_.label_bias[l], target_of(input_.labels.row(i), l));
        }
      }
      return sum / (points * static_cast<double>(labels_));
    }
    std::vector<double> scores;
    for (size_t i = 0; i < points_; ++i) {
      for (const int32_t label : input_.drawn.labels) {
        scores.push_back(score(i, static_cast<size_t>(label)));
      }
    }
    const SampledLossOptions options{.kind = settings_.loss == EmbeddingLoss::kMargin
                                                 ? SampledLoss::kMargin
                                                 : SampledLoss::kSoftmax,
                                     .margin = settings_.margin,
                                     .mined = settings_.mined};
    return sampled_losses(options, input_.labels, input_.drawn, scores) / points;
  }

  double regulariser_loss() const {
    if (settings_.regulariser == Regulariser::kNone) return 0;
    std::vector<double> rows;
    for (const int32_t label : input_.regularised) {
      const auto row = weights_.label_weights.begin() + label * static_cast<ptrdiff_t>(width_);
      rows.insert(rows.end(), row, row + static_cast<ptrdiff_t>(width_));
    }
    const std::vector<double> v = unit_rows(rows, width_).y;
    if (settings_.regulariser == Regulariser::kGravity) {
      return gravity(unit_rows(phi_, width_).y, v, width_);
    }
    return regulariser(
        settings_.regulariser,
        {.labels = input_.regularised.size(), .width = width_, .v = v, .u = input_.similarity});
  }

  // All labels without an index; else those of the longest shortlist, K at most.
  size_t places(const Selection& selection) const {
    if (clusters_ == 0) return labels_;
    std::vector<size_t> counts(points_, 0);
    for (const TakenPath& path : selection.shortlisted) ++counts[path.point];
    return std::max<size_t>(1, *std::ranges::max_element(counts));
  }

  std::map<size_t, TakenPath> best_paths(size_t i, const std::vector<int32_t>& list) const {
    std::map<size_t, TakenPath> best;
    for (const int32_t cluster : list) {
      for (int64_t e = input_.graph->offsets[cluster]; e < input_.graph->offsets[cluster + 1];
           ++e) {
        const TakenPath path{.point = i,
                             .label = static_cast<size_t>(input_.graph->labels[e]),
                             .cluster = static_cast<size_t>(cluster),
                             .edge = static_cast<size_t>(e)};
        const auto [known, is_new] = best.try_emplace(path.label, path);
        if (!is_new && score(path) > score(known->second)) known->second = path;
      }
    }
    return best;
  }

  double sum_on_z(const Selection& selection) const {
    double sum = 0;
    if (clusters_ == 0 || settings_.logit_loss == LogitLoss::kAll) {
      for (size_t i = 0; i < points_; ++i) {
        for (size_t l = 0; l < labels_; ++l) {
          sum += loss_on_z(logit(i, l), target_of(input_.labels.row(i), l));
        }
      }
    } else if (settings_.logit_loss == LogitLoss::kShortlist) {
      for (const TakenPath& path : selection.shortlisted) {
        sum += loss_on_z(logit(path.point, path.label), target(path));
      }
    }
    return sum;
  }

  double logit(size_t i, size_t label) const {
    double z = weights_.label_bias[label];
    for (size_t d = 0; d < width_; ++d)
      z += phi_[i * width_ + d] * weights_.label_weights[label * width_ + d];
    return z;
  }
  double target(const TakenPath& path) const {
    return target_of(input_.labels.row(path.point), path.label);
  }

  const StepInput& input_;
  const Settings& settings_;
  const NetworkWeights& weights_;
  size_t points_, width_, clusters_, labels_;  // N, D, C, L
  std::vector<double> phi_, cluster_logits_, cluster_scores_, edge_scores_;
};

}  // namespace elias::reference
