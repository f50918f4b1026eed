// The networks and batches that tests of a training step are made on.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "encoder/word_dropout.h"
#include "ops/lookup/top_k.h"
#include "ops/rows/dropout.h"
#include "ops/rows/softmax_clamp.h"
#include "tests/data/sparse.h"
#include "tests/index/graphs.h"
#include "tests/ops/numbers.h"
#include "tests/temporary_folder.h"
#include "tests/train/step_reference.h"
#include "train/step.h"

namespace elias {

constexpr int64_t kFeatures = 15;
constexpr int64_t kClusters = 8;
constexpr size_t kAllPoints = 30;
constexpr StepPosition kPosition{.step = 1, .steps = 1, .stream = 77};

enum class Index { kNone, kPartition, kGraph };

struct Case {
  std::string name;
  Index index = Index::kGraph;
  float alpha = 3;
  float beta = 4;
  LogitLoss logit_loss = LogitLoss::kShortlist;
  float lambda = 0.5F;
  int64_t labels = 30;
  int64_t shortlist = 8;
  int64_t layers = 1;
  float dropout = 0;
  int64_t extra_clusters = 2;
  bool ties = false;  // two clusters alike, and few distinct values of edges
  Regulariser regulariser = Regulariser::kNone;
  RegularisedLabels regularised = RegularisedLabels::kBatch;
  std::optional<EmbeddingLoss> embeddings = {};  // labels are such, and learn by it
  int64_t mined = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Case& own) { return out << own.name; }

inline Settings settings_of(const Case& own) {
  Settings settings;
  settings.method = own.index == Index::kNone ? Method::kOva : Method::kElias;
  settings.seed = 3;
  settings.width = 6;
  settings.layers = own.layers;
  settings.dropout = own.dropout;
  settings.word_dropout = own.dropout;
  settings.clusters = kClusters;
  settings.beam = 3;
  settings.shortlist = own.shortlist;
  settings.alpha = own.alpha;
  settings.beta = own.beta;
  settings.extra_clusters = own.extra_clusters;
  settings.logit_loss = own.logit_loss;
  settings.lambda = own.lambda;
  settings.regulariser = own.regulariser;
  settings.regularised = own.regularised;
  settings.regulariser_weight = 0.7F;
  settings.schedule = Schedule::kStages;
  settings.bf16 = false;
  if (!own.embeddings) return settings;
  settings.method = Method::kGlas;
  settings.seed = 4;  // no unit is off for all points: a shift of 0 would be a kink there
  settings.normalisation = Normalisation::kWeight;
  settings.loss = *own.embeddings;
  settings.mined = own.mined;
  settings.margin = 0.3F;
  settings.scale = *own.embeddings == EmbeddingLoss::kMargin ? 1 : 4;
  return settings;
}

// Labels are in several rows, one, or none.
inline ScoredGraph graph_of(const Case& own) {
  const int32_t alike = own.ties ? 2 : -1;
  ScoredGraph random = random_graph(kClusters, own.labels, 0.2, 5, [&](double uniform) {
    return static_cast<float>(own.ties ? std::floor(uniform * 3) : uniform * 4);
  });
  if (alike < 0) return random;
  ScoredGraph graph;  // the row `alike` twice, the last left out
  graph.graph.label_count = own.labels;
  for (int32_t c = 0; c < kClusters; ++c) {
    const int32_t from = c <= alike ? c : c - 1;
    for (int64_t e = random.graph.offsets[from]; e < random.graph.offsets[from + 1]; ++e) {
      graph.graph.labels.push_back(random.graph.labels[e]);
      graph.scores.push_back(random.scores[e]);
    }
    graph.graph.offsets.push_back(graph.graph.edges());
  }
  return graph;
}

// A network that some steps have moved away from its initial values, and a batch for it. Points
// have 0 to 6 features and 0 to 5 graded labels, some labels have no points: point 5 of the batch
// has no features, point 9 no labels.
class World {
 public:
  World(const Context& context, const Case& own, const Settings& settings)
      : context_(context),
        settings_(settings),
        features_(random_csr(kAllPoints, kFeatures, 6, 4, 1)),
        labels_(random_csr(kAllPoints, static_cast<uint64_t>(own.labels), 5, 4, 2)),
        network_(context, settings_, kFeatures, own.labels),
        step_(context, settings_, features_, labels_, network_) {
    if (own.index != Index::kNone) {
      std::vector<int32_t> cluster_of(static_cast<size_t>(own.labels));
      for (size_t l = 0; l < cluster_of.size(); ++l) {
        cluster_of[l] = static_cast<int32_t>(l * 5 % kClusters);
      }
      network_.set_partition(context, cluster_of, kClusters);
    }
    const ScoredGraph graph = graph_of(own);
    if (own.index == Index::kGraph) network_.set_graph(context, graph.graph, graph.scores);
    network_.begin_stage({.encoder = 0.1F, .clusters = 0.3F, .labels = 0.2F, .edges = 0.2F});
    for (int64_t step = 1; step <= 4; ++step) {
      const auto stream = static_cast<uint64_t>(step);
      run({.step = step, .steps = 4, .steps_before = 0, .run_steps = 4, .stream = stream});
    }
    network_.catch_up_all(context);
    if (own.ties) make_ties(graph.scores);
    network_.begin_stage({.encoder = 0.01F, .clusters = 0.02F, .labels = 0.03F, .edges = 0.04F});
  }

  void set_accumulation(int64_t batches) { settings_.accumulation = batches; }

  StepSums run(const StepPosition& position) {
    parents_ = network_.has_index() ? label_parents(network_.graph_view()) : std::vector<int32_t>();
    return step_.run(points_, parents_, position);
  }

  reference::NetworkWeights weights() {
    const Network& network = network_;
    const EncoderWeights views = network_.encoder().weights(context_, Weights::kCurrent);
    const BagWeights<ConstTensorView>& encoder = views.bag();
    reference::NetworkWeights weights{
        .encoder = {.table = values_of<double>(encoder.table),
                    .gain = values_of<double>(encoder.gain),
                    .shift = values_of<double>(encoder.shift),
                    .layers = {},
                    .form = encoder.form},
        .cluster_weights = {},
        .cluster_bias = {},
        .edges = {},
        .label_weights = values_of<double>(std::as_const(network_.label_weights()).weights()),
        .label_bias = values_of<double>(std::as_const(network_.label_bias()).weights()),
        .label_log_length = {}};
    for (const auto& layer : encoder.layers) {
      weights.encoder.layers.push_back(
          {values_of<double>(layer.weights), values_of<double>(layer.bias),
           values_of<double>(layer.gain), values_of<double>(layer.shift)});
    }
    if (settings_.normalisation == Normalisation::kWeight) normalise(weights);
    if (settings_.method == Method::kGlas) {
      weights.label_log_length = {std::log(double{network.embeddings().length})};
    }
    if (network_.has_index()) {
      weights.cluster_weights =
          values_of<double>(std::as_const(network_.cluster_weights()).weights());
      weights.cluster_bias = values_of<double>(std::as_const(network_.cluster_bias()).weights());
    }
    if (network_.has_learned_edges()) {
      weights.edges = values_of<double>(std::as_const(network_.edges()).weights());
    }
    return weights;
  }

  reference::StepInput input(uint64_t stream) {
    gather_bags(features_, points_, settings_.word_dropout, settings_.seed, stream, bags_,
                context_.pool());
    const Bags bags = bags_.view();
    reference::StepInput input{.settings = &settings_,
                               .graph = &network_.graph(),
                               .bags = {bags.offsets.span<int32_t>(), bags.ids.span<int32_t>(),
                                        bags.weights.span<float>()},
                               .mask = {},
                               .labels = {.matrix = &labels_, .points = points_}};
    draw(stream, input);
    if (settings_.dropout == 0) return input;
    Tensor ones = random_floats({std::ssize(points_), settings_.width}, 0, 1, 1);
    dropout(context_, ones, settings_.dropout, {settings_.seed, phi_dropout_stream(stream)}, ones);
    input.mask = values_of<double>(ones);
    return input;
  }

  // The clusters each point explores: the rule itself is held to its own test.
  std::vector<std::vector<int32_t>> lists(const std::vector<double>& all_logits, uint64_t stream) {
    const int64_t N = std::ssize(points_);
    if (!network_.has_index()) return std::vector<std::vector<int32_t>>(points_.size());
    Tensor logits({N, kClusters}, DType::kFloat32);
    std::ranges::transform(all_logits, logits.span<float>().begin(),
                           [](double logit) { return static_cast<float>(logit); });
    Tensor scores(logits.shape(), DType::kFloat32);
    Tensor log_sums({N}, DType::kFloat32);
    Tensor values({N, settings_.beam}, DType::kFloat32);
    Tensor best({N, settings_.beam}, DType::kInt32);
    softmax_clamp(context_, logits, settings_.alpha, scores, log_sums);
    top_k(context_, logits, values, best);
    Exploration exploration(network_.labels());
    Shortlists shortlists(N, settings_.shortlist);
    const auto parents = label_parents(network_.graph_view());
    exploration.search(context_,
                       {.parents = parents,
                        .extra_clusters = settings_.extra_clusters,
                        .seed = settings_.seed,
                        .step = stream},
                       {.logits = logits,
                        .scores = scores,
                        .log_sums = log_sums,
                        .best = best,
                        .alpha = settings_.alpha},
                       network_.graph_view(), {.matrix = &labels_, .points = points_}, shortlists);
    std::vector<std::vector<int32_t>> all;
    for (size_t i = 0; i < points_.size(); ++i) {
      const auto own = exploration.explored(i);
      all.emplace_back(own.begin(), own.end());
    }
    return all;
  }

  // Of the first step after begin_stage, by the names in a checkpoint: the first moment, which it
  // keeps, is then a tenth of the gradient.
  std::map<std::string, std::vector<double>> gradients() const {
    const TemporaryFolder folder;
    SafetensorsWriter writer;
    network_.save(writer);
    writer.write(folder / "checkpoint");
    const SafetensorsFile file(folder / "checkpoint");
    std::map<std::string, std::vector<double>> gradients;
    for (const auto& [name, tensor] : file.tensors()) {
      const std::string_view moment = ".first_moment";
      if (!name.ends_with(moment)) continue;
      std::vector<float> values(tensor.elements());
      std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      auto& gradient = gradients[name.substr(0, name.size() - moment.size())];
      for (const float value : values) gradient.push_back(double{value} / (1 - double{0.9F}));
    }
    return gradients;
  }

  Network& network() { return network_; }
  size_t points() const { return points_.size(); }

 private:
  // What is drawn, and how alike labels are, is held to tests of its own.
  void draw(uint64_t stream, reference::StepInput& input) const {
    input.drawn = draw_labels(input.labels, settings_.seed, stream);
    input.regularised = input.drawn.labels;
    if (settings_.regularised == RegularisedLabels::kBatch) {
      std::set<int32_t> all;
      for (size_t i = 0; i < points_.size(); ++i) {
        for (const uint32_t label : input.labels.row(i).columns) {
          all.insert(static_cast<int32_t>(label));
        }
      }
      input.regularised.assign(all.begin(), all.end());
    }
    const auto R = std::ssize(input.regularised);
    Tensor block({R, R}, DType::kFloat32);
    similarity_block(label_similarity(labels_, settings_.similarity, context_.pool()),
                     input.regularised, context_.pool(), block);
    input.similarity = values_of<double>(block);
  }

  // The lengths of the table's columns, and the one that they share.
  void normalise(reference::NetworkWeights& weights) const {
    const auto D = static_cast<size_t>(settings_.width);
    std::vector<double> squares(D, 0.0);
    for (size_t i = 0; i < weights.encoder.table.size(); ++i) {
      squares[i % D] += weights.encoder.table[i] * weights.encoder.table[i];
    }
    for (const double square : squares) weights.column_scales.push_back(1 / std::sqrt(square));
    const std::vector<double> scaled = weights.encoder.gain;
    weights.encoder.gain = {scaled[0] / weights.column_scales[0]};
    for (size_t d = 0; d < D; ++d) {
      EXPECT_NEAR(scaled[d] / weights.column_scales[d], weights.encoder.gain[0], 1e-5)
          << "column " << d << " has a length of its own";
    }
  }

  void make_ties(const std::vector<float>& edges) {
    const TensorView weights = network_.cluster_weights().weights();
    copy(weights.slice(2, 3), weights.slice(3, 4));
    const auto bias = network_.cluster_bias().weights().span<float>();
    bias[3] = bias[2];
    std::ranges::copy(edges, network_.edges().weights().span<float>().begin());
    network_.refresh_edges(context_);
  }

  const Context& context_;
  Settings settings_;
  Csr features_, labels_;
  std::vector<uint32_t> points_ = {4, 29, 5, 11, 9, 8, 22, 16, 3, 19, 13};
  std::vector<int32_t> parents_;
  Network network_;
  TrainingStep step_;
  BagBatch bags_;
};

// Every parameter of the reference under its name in a checkpoint.
inline std::vector<std::pair<std::string, std::vector<double>*>> groups_of(
    reference::NetworkWeights& weights) {
  std::vector<std::pair<std::string, std::vector<double>*>> groups = {
      {"table", &weights.encoder.table},
      {"gain", &weights.encoder.gain},
      {"shift", &weights.encoder.shift},
      {"label_weights", &weights.label_weights},
      {"label_bias", &weights.label_bias}};
  if (!weights.label_log_length.empty()) {
    groups.emplace_back("label_log_length", &weights.label_log_length);
  }
  for (size_t i = 0; i < weights.encoder.layers.size(); ++i) {
    auto& layer = weights.encoder.layers[i];
    const std::string name = "layers." + std::to_string(i);
    groups.insert(groups.end(), {{name + ".weights", &layer.weights},
                                 {name + ".bias", &layer.bias},
                                 {name + ".gain", &layer.gain},
                                 {name + ".shift", &layer.shift}});
  }
  if (!weights.cluster_bias.empty()) {
    groups.emplace_back("cluster_weights", &weights.cluster_weights);
    groups.emplace_back("cluster_bias", &weights.cluster_bias);
  }
  if (!weights.edges.empty()) groups.emplace_back("edges", &weights.edges);
  return groups;
}

// Central differences of the whole loss with respect to one group.
inline std::vector<double> differences(const reference::StepInput& input,
                                       const reference::NetworkWeights& weights,
                                       const reference::Selection& selection,
                                       std::vector<double>& group) {
  constexpr double kStep = 1e-6;
  const auto loss = [&] { return reference::Step(input, weights).losses(selection).sum(); };
  std::vector<double> gradient;
  for (double& value : group) {
    const double at = std::exchange(value, value + kStep);
    const double above = loss();
    value = at - kStep;
    gradient.push_back((above - loss()) / (2 * kStep));
    value = at;
  }
  return gradient;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

inline const std::vector<Case>& cases() {
  constexpr float kNever = 0.4F;  // a softmax times that is never clamped
  constexpr float kAlways = 1e7F;
  static const std::vector<Case> kCases = {
      {.name = "Graph"},
      {.name = "GraphWithoutClamps", .alpha = kNever, .beta = kNever},
      {.name = "GraphWithClampedClusters", .alpha = kAlways, .beta = kNever},
      {.name = "GraphWithClampedEdges", .alpha = kNever, .beta = kAlways},
      {.name = "GraphWithAllClamped", .alpha = kAlways, .beta = kAlways},
      {.name = "GraphWithTies", .extra_clusters = 6, .ties = true},
      {.name = "GraphWithTiesWithoutClamps",
       .alpha = kNever,
       .beta = kNever,
       .extra_clusters = 6,
       .ties = true},
      {.name = "GraphWithDropout", .layers = 2, .dropout = 0.3F},
      {.name = "GraphAsPublished", .logit_loss = LogitLoss::kNone},
      {.name = "GraphWithAllLabels", .logit_loss = LogitLoss::kAll},
      {.name = "GraphWithoutShortlistLoss", .lambda = 0, .extra_clusters = 0},
      {.name = "GraphWithRoomForAll", .shortlist = 30, .layers = 0},
      {.name = "GraphByRows", .beta = 8, .labels = 50, .shortlist = 5},
      {.name = "GraphByRowsAsPublished",
       .beta = 8,
       .logit_loss = LogitLoss::kNone,
       .labels = 50,
       .shortlist = 5,
       .dropout = 0.3F},
      {.name = "Partition", .index = Index::kPartition},
      {.name = "PartitionWithoutClamps", .index = Index::kPartition, .alpha = kNever},
      {.name = "PartitionByRows",
       .index = Index::kPartition,
       .alpha = 6,
       .labels = 50,
       .shortlist = 5},
      {.name = "OneVsAll", .index = Index::kNone},
      {.name = "OneVsAllWithGlas", .index = Index::kNone, .regulariser = Regulariser::kGlas},
      {.name = "GraphWithSpreadout",
       .regulariser = Regulariser::kSpreadout,
       .regularised = RegularisedLabels::kDrawn},
      {.name = "GraphWithGravity", .regulariser = Regulariser::kGravity},
      {.name = "GraphByRowsWithGlas",
       .beta = 8,
       .labels = 50,
       .shortlist = 5,
       .regulariser = Regulariser::kGlas},
      {.name = "GraphByRowsWithDrawnGlas",
       .beta = 8,
       .labels = 50,
       .shortlist = 5,
       .regulariser = Regulariser::kGlas,
       .regularised = RegularisedLabels::kDrawn},
      {.name = "PartitionByRowsWithLaplacian",
       .index = Index::kPartition,
       .alpha = 6,
       .labels = 50,
       .shortlist = 5,
       .regulariser = Regulariser::kLaplacian},
      {.name = "EmbeddingsByRows", .index = Index::kNone, .embeddings = EmbeddingLoss::kMargin},
      {.name = "EmbeddingsByRowsWithGlas",
       .index = Index::kNone,
       .layers = 0,
       .dropout = 0.3F,
       .regulariser = Regulariser::kGlas,
       .embeddings = EmbeddingLoss::kMargin},
      {.name = "EmbeddingsByRowsMined",
       .index = Index::kNone,
       .regulariser = Regulariser::kGravity,
       .embeddings = EmbeddingLoss::kMargin,
       .mined = 2},
      {.name = "EmbeddingsByRowsWithSoftmax",
       .index = Index::kNone,
       .regulariser = Regulariser::kLaplacian,
       .regularised = RegularisedLabels::kDrawn,
       .embeddings = EmbeddingLoss::kSoftmax},
      {.name = "EmbeddingsOfAllLabels",
       .index = Index::kNone,
       .regulariser = Regulariser::kSpreadout,
       .embeddings = EmbeddingLoss::kOva},
      {.name = "OneVsAllWithDropout", .index = Index::kNone, .layers = 0, .dropout = 0.3F}};
  return kCases;
}

}  // namespace elias
