// All parameters of a model in training, and the label graph they stand on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "head/embedding_losses.h"
#include "index/graph_builder.h"
#include "index/label_graph.h"
#include "model/predictor.h"
#include "ops/context.h"
#include "train/optimiser.h"
#include "train/settings.h"
#include "train/trained_encoder.h"

namespace elias {

/// What makes log odds of an embedding classifier's scores: slope * z / a + offset, with the length
/// a that labels share. As they are, z / a, scores are in a range that a sigmoid tells apart.
struct ScoreLine {
  float slope = 1;
  float offset = 0;
};

class Network {
 public:
  /// Classifiers of L labels with their initial values, and an encoder: a bag of V features, or a
  /// transformer that starts with the weights of `start`, if it is not null.
  Network(const Context& context, const Settings& settings, int64_t V, int64_t L,
          const Pretrained* start = nullptr);

  int64_t labels() const { return label_weights_.weights().shape()[0]; }
  int64_t width() const { return label_weights_.weights().shape()[1]; }
  bool has_index() const { return cluster_weights_.has_value(); }
  bool has_learned_edges() const { return edges_.has_value(); }
  /// True if the classifiers are stepped as a whole, false if row by row (head/label_losses.h).
  bool labels_by_blocks() const { return labels_by_blocks_; }

  /// A stage begins: fresh rates and moments. With `rates.edges` unused unless edges are learned.
  void begin_stage(const Rates& rates);
  /// Clusters with fresh weights, each label reached through its own alone.
  void set_partition(const Context& context, std::span<const int32_t> cluster_of, int64_t C);
  /// The graph with learned edges, from their initial values.
  void set_graph(const Context& context, LabelGraph graph, std::span<const float> values);
  /// Labels without a point to learn from, which no drawn label's loss ever pushes away: where
  /// labels are drawn, these are found behind all others.
  void set_unseen(std::vector<int32_t> labels) { unseen_ = std::move(labels); }
  /// The classifiers' initial values again, by settings.label_start; begin_stage must follow.
  void reset_labels(const Context& context);

  /// Edge scores from their values, which a step has changed.
  void refresh_edges(const Context& context);
  std::span<const float> edge_log_sums() const { return edge_log_sums_; }
  const LabelGraph& graph() const { return graph_; }
  LabelGraphView graph_view() const;

  TrainedEncoder& encoder() { return *encoder_; }
  Parameter& cluster_weights() { return *cluster_weights_; }
  Parameter& cluster_bias() { return *cluster_bias_; }
  Parameter& label_weights() { return label_weights_; }
  Parameter& label_bias() { return label_bias_; }
  Parameter& edges() { return *edges_; }
  /// The logarithm of the length that the embeddings of all labels share, which a step can then
  /// change by a share of itself; of method glas.
  Parameter& label_log_length() { return *label_log_length_; }
  float label_length(Weights which) const;
  /// Views of them.
  LabelEmbeddings embeddings() const;
  /// Valid until the next call, or a step. The line is of embeddings alone.
  PredictorWeights predictor_weights(const Context& context, Weights which,
                                     const ScoreLine& line = {});

  /// Steps clusters, edges and, if they go by blocks, labels.
  void step_heads(const Context& context, float label_share, float index_share);
  void catch_up_all(const Context& context);
  /// All but the edges, which the method does not average.
  void average(const Context& context);

  void save(SafetensorsWriter& writer) const;
  /// `rates` are those of the stage the file was saved in, which it does not hold.
  void load(const Context& context, const Rates& rates, const SafetensorsFile& file);

 private:
  void make_embeddings(const Context& context, Weights which, const ScoreLine& line);
  void make_clusters(int64_t C);
  void make_edges();
  /// Parameters as they may be used through a Self, which is Network or const Network.
  template <typename Self>
  using Pointers =
      std::vector<std::conditional_t<std::is_const_v<Self>, const Parameter*, Parameter*>>;
  template <typename Self>
  static Pointers<Self> all_but_edges(Self& self);

  Settings settings_;
  bool labels_by_blocks_;
  bool labels_are_new_ = true;   // since the last stage began
  std::vector<int32_t> unseen_;  // labels
  int64_t features_;             // V
  std::unique_ptr<TrainedEncoder> encoder_;
  std::optional<Parameter> cluster_weights_, cluster_bias_, edges_;
  Parameter label_weights_, label_bias_;
  std::optional<Parameter> label_log_length_;  // [1]

  Tensor embeddings_, embedding_bias_;  // [L, D], [L] of labels as they predict; of method glas

  LabelGraph graph_;
  std::vector<float> edge_scores_;    // [E]
  std::vector<float> edge_log_sums_;  // [C]
};

}  // namespace elias
