#include "train/step.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/random.h"
#include "head/directions.h"
#include "head/label_regularisers.h"
#include "head/label_similarity.h"
#include "index/edge_scores.h"
#include "ops/lookup/row_gradient_sum.h"
#include "ops/lookup/top_k.h"
#include "ops/rows/convert.h"
#include "ops/rows/softmax_clamp.h"

namespace elias {
namespace {

size_t most_labels(const BatchLabels& labels) {
  size_t most = 1;
  for (size_t i = 0; i < labels.points.size(); ++i) most = std::max(most, labels.row(i).size());
  return most;
}

// All labels of the points, rising.
std::vector<int32_t> labels_of(const BatchLabels& labels) {
  std::vector<int32_t> all;
  for (size_t i = 0; i < labels.points.size(); ++i) {
    const CsrRow row = labels.row(i);
    for (size_t j = 0; j < row.size(); ++j) {
      if (row.values[j] > 0) all.push_back(static_cast<int32_t>(row.columns[j]));
    }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// `most` of the labels by chance, rising: a function of seed and step.
void sample_labels(size_t most, uint64_t seed, uint64_t step, std::vector<int32_t>& labels) {
  if (labels.size() <= most) return;
  constexpr uint64_t kRegularised = 0x7265677561;  // apart from the streams of other uses
  const Random random(seed ^ kRegularised, step);
  for (size_t i = 0; i < most; ++i) {
    std::swap(labels[i], labels[i + random.below(i, labels.size() - i)]);
  }
  labels.resize(most);
  std::ranges::sort(labels);
}

// The labels in any of the shortlists, or among others, rising.
std::vector<int32_t> distinct_labels(const Shortlists& shortlists, std::span<const int32_t> others,
                                     int64_t L) {
  std::vector<uint8_t> used(static_cast<size_t>(L), 0);
  for (const int32_t label : others) used[label] = 1;
  for (size_t i = 0; i < shortlists.counts.size(); ++i) {
    for (const int32_t label : shortlists.row<int32_t>(shortlists.labels, i)) used[label] = 1;
  }
  std::vector<int32_t> labels;
  for (int32_t label = 0; label < static_cast<int32_t>(L); ++label) {
    if (used[label] != 0) labels.push_back(label);
  }
  return labels;
}

// A tensor of that shape: the one that is there, if it has it.
void shape_to(Tensor& tensor, Shape shape, DType dtype) {
  if (!tensor || !(tensor.shape() == shape)) tensor = Tensor(shape, dtype);
}

}  // namespace

void StepSums::add(const StepSums& other) {
  points += other.points;
  on_p += other.on_p;
  on_z += other.on_z;
  shortlist += other.shortlist;
  regulariser += other.regulariser;
  positives += other.positives;
  missed += other.missed;
}

double StepSums::loss() const {
  const double all = on_p + on_z + shortlist + regulariser;
  return points == 0 ? 0 : all / static_cast<double>(points);
}

TrainingStep::TrainingStep(const Context& context, const Settings& settings,
                           const PointsView& points, const Csr& labels, Network& network)
    : context_(context),
      settings_(settings),
      points_(points),
      labels_(labels),
      network_(network),
      precision_(settings.bf16 ? Precision::kBFloat16 : Precision::kFloat32),
      exploration_(network.labels()) {
  if (needs_similarity(settings.regulariser)) {
    similarity_ = label_similarity(labels, settings.similarity, context.pool());
  }
}

// Of their peak rates, those of clusters and edges.
float TrainingStep::index_share(const StepPosition& position) const {
  const int64_t every = settings_.accumulation;
  return scheduled_rate(1, settings_.warm_up, (position.step + every - 1) / every,
                        (position.steps + every - 1) / every);
}

// Those of all else, if stepped once for `every` batches.
float TrainingStep::share(const StepPosition& position, int64_t every) const {
  const bool one = settings_.schedule == Schedule::kOne;
  const int64_t before = one ? position.steps_before : 0;
  const int64_t steps = one ? position.run_steps : position.steps;
  return scheduled_rate(1, settings_.warm_up, (before + position.step + every - 1) / every,
                        (steps + every - 1) / every);
}

StepSums TrainingStep::run(std::span<const uint32_t> points, std::span<const int32_t> parents,
                           const StepPosition& position) {
  const float rate = share(position, 1);
  const ConstTensorView phi =
      network_.encoder().forward(context_, points_, points, position.stream);
  Tensor dphi(phi.shape(), DType::kFloat32);
  StepSums sums = heads_backward(points, parents, position, phi, dphi);
  network_.encoder().backward(context_, dphi, rate);
  // What is left at a stage's end is not the next one's.
  if (position.step % settings_.accumulation == 0 || position.step == position.steps) {
    network_.step_heads(context_, share(position, settings_.accumulation), index_share(position));
  }
  return sums;
}

ClusterScores TrainingStep::score_clusters(ConstTensorView phi) {
  const int64_t N = phi.rows();
  const ConstTensorView w = std::as_const(network_.cluster_weights()).weights();
  const int64_t C = w.rows();
  const int64_t b = std::min(settings_.beam, C);
  shape_to(heads_.logits, {N, C}, DType::kFloat32);
  shape_to(heads_.scores, {N, C}, DType::kFloat32);
  shape_to(heads_.log_sums, {N}, DType::kFloat32);
  shape_to(heads_.best_values, {N, b}, DType::kFloat32);
  shape_to(heads_.best, {N, b}, DType::kInt32);
  linear(context_, phi, pack_weights(context_, w, PackedFor::kForward, precision_),
         std::as_const(network_.cluster_bias()).weights(), Activation::kNone, heads_.logits);
  softmax_clamp(context_, heads_.logits, settings_.alpha, heads_.scores, heads_.log_sums);
  // By logits: clamped scores are all equal.
  top_k(context_, heads_.logits, heads_.best_values, heads_.best);
  return {.logits = heads_.logits,
          .scores = heads_.scores,
          .log_sums = heads_.log_sums,
          .best = heads_.best,
          .alpha = settings_.alpha};
}

StepSums TrainingStep::heads_backward(std::span<const uint32_t> points,
                                      std::span<const int32_t> parents,
                                      const StepPosition& position, ConstTensorView phi,
                                      TensorView dphi) {
  const int64_t N = phi.rows();
  const BatchLabels labels{.matrix = &labels_, .points = points};
  if (settings_.method == Method::kGlas) return embeddings_backward(labels, position, phi, dphi);
  LabelLossOptions options{
      .weights = {},
      .all_labels = !network_.has_index() || settings_.logit_loss == LogitLoss::kAll,
      .precision = precision_};
  StepSums sums;
  sums.points = N;
  const auto scale = static_cast<double>(N);
  if (!network_.has_index()) {
    // Before an index the scale is that of the stages after it, whose steps keep the moments.
    const int64_t places =
        settings_.method == Method::kOva ? network_.labels() : settings_.shortlist;
    options.weights.on_z = 1 / (static_cast<float>(N) * static_cast<float>(places));
    heads_.shortlists = Shortlists();
    const LossSums own = labels_backward(options, position, phi, labels, dphi);
    sums.on_z = own.on_z * double{options.weights.on_z} * scale;
    sums.regulariser = heads_.regulariser * scale;
    return sums;
  }
  const ClusterScores clusters = score_clusters(phi);
  if (heads_.shortlists.points() != N) heads_.shortlists = Shortlists(N, settings_.shortlist);
  exploration_.search(context_,
                      {.parents = parents,
                       .extra_clusters = settings_.extra_clusters,
                       .seed = settings_.seed,
                       .step = position.stream},
                      clusters, network_.graph_view(), labels, heads_.shortlists);
  // Means over the batch's places, as the published code takes them: K, or fewer where the clusters
  // hold fewer labels.
  const auto& counts = heads_.shortlists.counts;
  const auto places =
      static_cast<float>(std::max(1, *std::max_element(counts.begin(), counts.end())));
  const float mean = 1 / (static_cast<float>(N) * places);
  options.weights = {.on_p = mean, .on_z = settings_.logit_loss == LogitLoss::kNone ? 0 : mean};
  const float found_weight =
      settings_.lambda / (static_cast<float>(N) * static_cast<float>(most_labels(labels)));
  const LossSums own = labels_backward(options, position, phi, labels, dphi);
  sums.on_p = own.on_p * double{options.weights.on_p} * scale;
  sums.on_z = own.on_z * double{options.weights.on_z} * scale;
  sums.regulariser = heads_.regulariser * scale;
  sums.shortlist = exploration_.add_shortlist_loss(found_weight) * double{found_weight} * scale;
  sums.positives = exploration_.positives();
  sums.missed = exploration_.missed();
  clusters_backward(clusters, phi, dphi);
  return sums;
}

LossSums TrainingStep::labels_backward(const LabelLossOptions& options,
                                       const StepPosition& position, ConstTensorView phi,
                                       const BatchLabels& labels, TensorView dphi) {
  Parameter& weights = network_.label_weights();
  Parameter& bias = network_.label_bias();
  LabelClassifiers classifiers{.weights = std::as_const(weights).weights(),
                               .bias = std::as_const(bias).weights().reshaped({network_.labels()})};
  const std::vector<int32_t> regularised =
      regularised_labels(labels,
                         settings_.regularised == RegularisedLabels::kDrawn
                             ? draw_labels(labels, settings_.seed, position.stream)
                             : DrawnLabels(),
                         position);
  if (network_.labels_by_blocks()) {
    const LossSums sums =
        label_losses_by_blocks(context_, options, phi, classifiers, labels, heads_.shortlists, dphi,
                               weights.gradient(), bias.gradient().reshaped({network_.labels()}));
    add_rows(context_.pool(), regularised, regularise(regularised, phi, dphi), weights.gradient());
    return sums;
  }
  const std::vector<int32_t> used =
      distinct_labels(heads_.shortlists, regularised, network_.labels());
  const ConstTensorView rows(used.data(), {static_cast<int64_t>(used.size())});
  weights.catch_up(context_, rows);
  bias.catch_up(context_, rows);
  if (precision_ == Precision::kBFloat16) {
    shape_to(heads_.rounded_labels, classifiers.weights.shape(), DType::kBFloat16);
    convert_rows(context_, classifiers.weights, rows, heads_.rounded_labels);
    classifiers.weights = heads_.rounded_labels;
  }
  LossSums sums;
  LabelRowGradients gradients = label_losses_by_rows(context_, options, phi, classifiers, labels,
                                                     heads_.shortlists, dphi, sums);
  const Tensor drows = regularise(regularised, phi, dphi);
  const RowGradientSum both(context_, gradients.weights, regularised, drows);
  // A published rate is for steps of several batches; without, the authors' is 0.003 for 0.01.
  const float rate = share(position, 1) / std::sqrt(static_cast<float>(settings_.accumulation));
  weights.step(context_, rate * weights.options().rate, both.gradient());
  bias.step(context_, rate * bias.options().rate, gradients.bias);
  return sums;
}

StepSums TrainingStep::embeddings_backward(const BatchLabels& labels, const StepPosition& position,
                                           ConstTensorView phi, TensorView dphi) {
  const auto N = static_cast<double>(phi.rows());
  const DrawnLabels drawn = draw_labels(labels, settings_.seed, position.stream);
  EmbeddingSums own;
  double weight = 1;  // of the loss, where the sum is over the batch's points
  if (settings_.loss == EmbeddingLoss::kOva) {
    Parameter& weights = network_.label_weights();
    Parameter& bias = network_.label_bias();
    weight = 1 / static_cast<double>(network_.labels());
    own = all_embedding_losses(context_, static_cast<float>(weight / N), precision_, phi,
                               network_.embeddings(), labels, dphi, weights.gradient(),
                               bias.gradient().reshaped({network_.labels()}));
    const std::vector<int32_t> regularised = regularised_labels(labels, drawn, position);
    add_rows(context_.pool(), regularised, regularise(regularised, phi, dphi), weights.gradient());
  } else {
    own = drawn_embeddings_backward(labels, drawn, position, phi, dphi);
  }
  // A margin is one between unit vectors: were their length learned, it would be none.
  if (settings_.loss != EmbeddingLoss::kMargin) {
    const double dlog = own.dlength * double{network_.embeddings().length};
    network_.label_log_length().gradient().span<float>()[0] += static_cast<float>(dlog);
  }
  StepSums sums;
  sums.points = phi.rows();
  sums.on_z = own.loss * weight;
  sums.regulariser = heads_.regulariser * N;
  return sums;
}

EmbeddingSums TrainingStep::drawn_embeddings_backward(const BatchLabels& labels,
                                                      const DrawnLabels& drawn,
                                                      const StepPosition& position,
                                                      ConstTensorView phi, TensorView dphi) {
  Parameter& weights = network_.label_weights();
  const std::vector<int32_t> regularised = regularised_labels(labels, drawn, position);
  std::vector<int32_t> used;
  std::ranges::set_union(regularised, drawn.labels, std::back_inserter(used));
  weights.catch_up(context_, ConstTensorView(used.data(), {std::ssize(used)}));
  const SampledLossOptions options{.kind = settings_.loss == EmbeddingLoss::kMargin
                                               ? SampledLoss::kMargin
                                               : SampledLoss::kSoftmax,
                                   .margin = settings_.margin,
                                   .mined = settings_.mined,
                                   .weight = 1 / static_cast<float>(phi.rows())};
  Tensor drows({std::ssize(drawn.labels), phi.width()}, DType::kFloat32);
  const EmbeddingSums sums = sampled_embedding_losses(
      context_, options, precision_, phi, network_.embeddings(), labels, drawn, dphi, drows);
  const RowGradient own = gradient_of_rows(drawn.labels, drows);
  const Tensor more = regularise(regularised, phi, dphi);
  const RowGradientSum both(context_, own, regularised, more);
  weights.step(context_, share(position, 1) * weights.options().rate, both.gradient());
  return sums;
}

// The labels of a batch whose directions are regularised, rising.
std::vector<int32_t> TrainingStep::regularised_labels(const BatchLabels& labels,
                                                      const DrawnLabels& drawn,
                                                      const StepPosition& position) const {
  if (settings_.regulariser == Regulariser::kNone) return {};
  std::vector<int32_t> all =
      settings_.regularised == RegularisedLabels::kDrawn ? drawn.labels : labels_of(labels);
  sample_labels(kMostRegularised, settings_.seed, position.stream, all);
  return all;
}

// What the regulariser adds to the gradient of the labels' rows, [R, D]; to that of phi it adds
// itself.
Tensor TrainingStep::regularise(std::span<const int32_t> labels, ConstTensorView phi,
                                TensorView dphi) {
  Tensor drows({std::ssize(labels), phi.width()}, DType::kFloat32);
  heads_.regulariser = 0;
  if (labels.empty()) return drows;
  const double loss = regularise_directions(
      context_, settings_.regulariser, settings_.regulariser_weight, phi,
      std::as_const(network_.label_weights()).weights(), similarity_, labels, dphi, drows);
  heads_.regulariser = loss * double{settings_.regulariser_weight};
  return drows;
}

void TrainingStep::clusters_backward(const ClusterScores& clusters, ConstTensorView phi,
                                     TensorView dphi) {
  shape_to(heads_.dlogits, clusters.logits.shape(), DType::kFloat32);
  exploration_.cluster_gradient(context_, clusters, heads_.shortlists, heads_.dlogits);
  const ConstTensorView w = std::as_const(network_.cluster_weights()).weights();
  add_linear_input_gradient(context_, heads_.dlogits,
                            pack_weights(context_, w, PackedFor::kInputGradient, precision_), dphi);
  linear_weight_gradient(context_, heads_.dlogits, phi, precision_,
                         network_.cluster_weights().gradient());
  linear_bias_gradient(context_, heads_.dlogits, network_.cluster_bias().gradient());
  if (!network_.has_learned_edges()) return;
  heads_.dlog_scores.resize(static_cast<size_t>(network_.graph().edges()));
  exploration_.edge_gradient(context_, network_.graph_view(), heads_.shortlists,
                             heads_.dlog_scores);
  score_edges_backward(context_, network_.graph(),
                       std::as_const(network_.edges()).weights().span<float>(),
                       network_.edge_log_sums(), settings_.beta, heads_.dlog_scores,
                       network_.edges().gradient().span<float>());
}

}  // namespace elias
