#include "train/network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "head/directions.h"
#include "index/edge_scores.h"
#include "ops/rows/unit_rows.h"
#include "train/initial_values.h"

namespace elias {
namespace {

// Every row lies within the edges, every edge leads to a label, those of a row to rising ones.
bool is_sound(const LabelGraph& graph) {
  const auto& labels = graph.labels;
  if (graph.offsets.empty() || graph.offsets.front() != 0 ||
      graph.offsets.back() != graph.edges() || !std::ranges::is_sorted(graph.offsets) ||
      !std::ranges::all_of(labels, [&](int64_t l) { return l >= 0 && l < graph.label_count; })) {
    return false;
  }
  for (int64_t c = 0; c < graph.clusters(); ++c) {
    for (int64_t e = graph.offsets[c] + 1; e < graph.offsets[c + 1]; ++e) {
      if (labels[e] <= labels[e - 1]) return false;
    }
  }
  return true;
}

}  // namespace

Network::Network(const Context& context, const Settings& settings, int64_t V, int64_t L,
                 const Pretrained* start)
    : settings_(settings),
      labels_by_blocks_(labels_go_by_blocks(settings, L)),
      features_(V),
      encoder_(start == nullptr ? make_trained_bag(context, settings, V)
                                : make_trained_transformer(settings, *start)),
      label_weights_({L, settings.width}, {.name = "label_weights", .rows = !labels_by_blocks_}),
      label_bias_({L, 1}, {.name = "label_bias", .rows = !labels_by_blocks_}) {
  if (settings.method == Method::kGlas) {
    label_log_length_.emplace(Shape{1}, ParameterOptions{.name = "label_log_length"});
    fill(label_log_length_->weights(), std::log(settings.scale));
  }
  reset_labels(context);
}

void Network::reset_labels(const Context& context) {
  labels_are_new_ = true;
  const bool published = settings_.label_start == LabelStart::kPublished;
  const float bound =
      published ? std::sqrt(6 / static_cast<float>(width())) : uniform_bound(width());
  fill_uniform(context, label_weights_.weights(), bound, settings_.seed, kLabelValues);
  if (draws_labels(settings_)) {  // told apart by directions alone
    fill(label_bias_.weights(), 0);
    return;
  }
  if (published) {
    fill_uniform(context, label_bias_.weights(), 0.5F, settings_.seed, kLabelBiasValues);
    for (float& bias : label_bias_.weights().span<float>()) bias += 0.5F;  // in [0, 1)
    return;
  }
  // A label's share of a shortlist: what its classifier should say as long as it knows nothing.
  const auto candidates = static_cast<float>(settings_.method != Method::kElias ||
                                                     settings_.logit_loss == LogitLoss::kAll
                                                 ? labels()
                                                 : settings_.shortlist);
  fill(label_bias_.weights(), -std::log(candidates));
}

void Network::make_clusters(int64_t C) {
  cluster_weights_.emplace(Shape{C, width()}, ParameterOptions{.name = "cluster_weights"});
  cluster_bias_.emplace(Shape{C}, ParameterOptions{.name = "cluster_bias"});
}

void Network::set_partition(const Context& context, std::span<const int32_t> cluster_of,
                            int64_t C) {
  make_clusters(C);
  fill_uniform(context, cluster_weights_->weights(), uniform_bound(width()), settings_.seed,
               kClusterValues);
  fill_uniform(context, cluster_bias_->weights(), uniform_bound(width()), settings_.seed,
               kClusterBiasValues);
  edges_.reset();
  graph_ = partition_graph(cluster_of, C);
  edge_scores_.assign(static_cast<size_t>(graph_.edges()), 1.0F);
  edge_log_sums_.clear();
}

void Network::make_edges() {
  edges_.emplace(Shape{graph_.edges()}, ParameterOptions{.name = "edges"});
  edge_scores_.resize(static_cast<size_t>(graph_.edges()));
  edge_log_sums_.resize(static_cast<size_t>(graph_.clusters()));
}

void Network::set_graph(const Context& context, LabelGraph graph, std::span<const float> values) {
  // Paths name their edge in an int32 (index/search.h); resolve refuses what would be more.
  ELIAS_ASSERT(graph.edges() <= std::numeric_limits<int32_t>::max());
  graph_ = std::move(graph);
  make_edges();
  std::copy(values.begin(), values.end(), edges_->weights().span<float>().begin());
  refresh_edges(context);
}

void Network::refresh_edges(const Context& context) {
  score_edges(context, graph_, std::as_const(*edges_).weights().span<float>(), settings_.beta,
              edge_scores_, edge_log_sums_);
}

LabelGraphView Network::graph_view() const {
  return {.label_count = graph_.label_count,
          .offsets = graph_.offsets,
          .labels = graph_.labels,
          .scores = edge_scores_};
}

template <typename Self>
Network::Pointers<Self> Network::all_but_edges(Self& self) {
  Pointers<Self> parameters;
  for (Parameter* parameter : self.encoder_->parameters()) parameters.push_back(parameter);
  parameters.insert(parameters.end(), {&self.label_weights_, &self.label_bias_});
  if (self.label_log_length_) parameters.push_back(&*self.label_log_length_);
  if (self.has_index()) {
    parameters.insert(parameters.end(), {&*self.cluster_weights_, &*self.cluster_bias_});
  }
  return parameters;
}

void Network::begin_stage(const Rates& rates) {
  // Weight decay is for matrices: biases, gains and edges go without (ELIAS, section C).
  const auto begin = [&](Parameter& parameter, float rate, bool decays, bool anew) {
    parameter.set_rates(rate, decays ? settings_.weight_decay : 0);
    if (anew) parameter.restart();
  };
  const bool anew = settings_.schedule != Schedule::kOne;
  for (Parameter* parameter : encoder_->parameters()) {
    begin(*parameter, rates.encoder, parameter->weights().rank() == 2, anew);
  }
  begin(label_weights_, rates.labels, true, anew || labels_are_new_);
  begin(label_bias_, rates.labels, false, anew || labels_are_new_);
  if (label_log_length_) begin(*label_log_length_, rates.labels, false, anew || labels_are_new_);
  labels_are_new_ = false;
  if (!has_index()) return;
  begin(*cluster_weights_, rates.clusters, true, true);
  begin(*cluster_bias_, rates.clusters, false, true);
  if (edges_) begin(*edges_, rates.edges, false, true);
}

LabelEmbeddings Network::embeddings() const {
  return {.weights = label_weights_.weights(),
          .bias = label_bias_.weights().reshaped({labels()}),
          .length = label_length(Weights::kCurrent)};
}

float Network::label_length(Weights which) const {
  return std::exp(label_log_length_->values(which).span<float>()[0]);
}

// Directions and biases on the line. Of drawn labels, whose scores mean something beside each other
// alone, the highest score is 0, so that none is lost in what a sigmoid rounds to 1.
void Network::make_embeddings(const Context& context, Weights which, const ScoreLine& line) {
  const ConstTensorView rows = label_weights_.values(which);
  if (!embeddings_) {
    embeddings_ = Tensor(rows.shape(), DType::kFloat32);
    embedding_bias_ = Tensor({labels()}, DType::kFloat32);
  }
  Tensor lengths({labels()}, DType::kFloat32);
  unit_rows(context, rows, embeddings_, lengths);
  const float length = label_length(which);
  scale(context.pool(), line.slope, embeddings_);
  const float highest = draws_labels(settings_) ? -1 : 0;
  std::ranges::transform(
      label_bias_.values(which).span<float>(), embedding_bias_.span<float>().begin(),
      [&](float bias) { return line.slope * (bias / length + highest) + line.offset; });
  if (!draws_labels(settings_)) return;
  // The lowest product of two unit vectors is 2 below the highest.
  for (const int32_t label : unseen_) embedding_bias_.span<float>()[label] -= 2 * line.slope;
}

PredictorWeights Network::predictor_weights(const Context& context, Weights which,
                                            const ScoreLine& line) {
  const auto view = [&](const Parameter& parameter) { return parameter.values(which); };
  PredictorWeights weights;
  weights.features = features_;
  weights.encoder = encoder_->weights(context, which);
  weights.label_weights = view(label_weights_);
  weights.label_bias = view(label_bias_).reshaped({labels()});
  if (label_log_length_) {
    make_embeddings(context, which, line);
    weights.label_weights = embeddings_;
    weights.label_bias = embedding_bias_;
  }
  if (has_index()) {
    weights.cluster_weights = view(*cluster_weights_);
    weights.cluster_bias = view(*cluster_bias_);
    weights.graph = graph_view();
  }
  return weights;
}

void Network::step_heads(const Context& context, float label_share, float index_share) {
  const auto step = [&](Parameter& parameter, float share) {
    parameter.step(context, share * parameter.options().rate);
  };
  if (labels_by_blocks_) {
    step(label_weights_, label_share);
    step(label_bias_, label_share);
  }
  if (label_log_length_) step(*label_log_length_, label_share);
  if (!has_index()) return;
  step(*cluster_weights_, index_share);
  step(*cluster_bias_, index_share);
  if (!edges_) return;
  step(*edges_, index_share);
  refresh_edges(context);
}

void Network::catch_up_all(const Context& context) {
  for (Parameter* parameter : encoder_->parameters()) parameter->catch_up_all(context);
  if (labels_by_blocks_) return;
  label_weights_.catch_up_all(context);
  label_bias_.catch_up_all(context);
}

void Network::average(const Context& context) {
  for (Parameter* parameter : all_but_edges(*this)) parameter->average(context);
}

void Network::save(SafetensorsWriter& writer) const {
  for (const Parameter* parameter : all_but_edges(*this)) parameter->save(writer);
  if (edges_) edges_->save(writer);
  if (!has_index()) return;
  writer.add<int64_t>("graph.offsets", graph_.offsets);
  writer.add<int32_t>("graph.labels", graph_.labels);
}

void Network::load(const Context& context, const Rates& rates, const SafetensorsFile& file) {
  const auto has = [&](const char* name) { return file.tensors().contains(name); };
  if (has("graph.offsets")) {
    const auto offsets = file.vector<int64_t>("graph.offsets");
    const auto graph_labels = file.vector<int32_t>("graph.labels");
    graph_.label_count = labels();
    graph_.offsets.assign(offsets.begin(), offsets.end());
    graph_.labels.assign(graph_labels.begin(), graph_labels.end());
    if (!is_sound(graph_)) {
      throw InputError("{}: its label graph is damaged: remove it to start anew", file.name());
    }
    make_clusters(graph_.clusters());
    edge_scores_.assign(static_cast<size_t>(graph_.edges()), 1.0F);
    if (has("edges.weights")) make_edges();
  }
  begin_stage(rates);
  for (Parameter* parameter : all_but_edges(*this)) parameter->load(file);
  if (!edges_) return;
  edges_->load(file);
  refresh_edges(context);
}

}  // namespace elias
