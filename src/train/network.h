// All parameters of a model in training, and the label graph they stand on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "encoder/bag.h"
#include "index/graph_builder.h"
#include "index/label_graph.h"
#include "model/predictor.h"
#include "ops/context.h"
#include "train/optimiser.h"
#include "train/settings.h"

namespace elias {

/// Which learned values a view shows.
enum class Weights : uint8_t { kCurrent, kAveraged };

class Network {
 public:
  /// An encoder over V features and classifiers of L labels with their initial values.
  Network(const Context& context, const Settings& settings, int64_t V, int64_t L);

  int64_t features() const { return table_.weights().shape()[0]; }
  int64_t labels() const { return label_weights_.weights().shape()[0]; }
  int64_t width() const { return table_.weights().shape()[1]; }
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
  /// The classifiers' initial values again, by settings.label_start; begin_stage must follow.
  void reset_labels(const Context& context);

  /// Edge scores from their values, which a step has changed.
  void refresh_edges(const Context& context);
  std::span<const float> edge_log_sums() const { return edge_log_sums_; }
  const LabelGraph& graph() const { return graph_; }
  LabelGraphView graph_view() const;

  Parameter& table() { return table_; }
  Parameter& cluster_weights() { return *cluster_weights_; }
  Parameter& cluster_bias() { return *cluster_bias_; }
  Parameter& label_weights() { return label_weights_; }
  Parameter& label_bias() { return label_bias_; }
  Parameter& edges() { return *edges_; }
  BagWeights<ConstTensorView> encoder(Weights which) const;
  BagWeights<TensorView> encoder_gradients();
  PredictorWeights predictor_weights(Weights which) const;

  /// Steps the dense parameters of the encoder.
  void step_encoder(const Context& context, float share);
  /// Steps clusters, edges and, if they go by blocks, labels.
  void step_heads(const Context& context, float label_share, float index_share);
  void catch_up_all(const Context& context);
  /// All but the edges, which the method does not average.
  void average(const Context& context);

  void save(SafetensorsWriter& writer) const;
  /// `rates` are those of the stage the file was saved in, which it does not hold.
  void load(const Context& context, const Rates& rates, const SafetensorsFile& file);

 private:
  struct Layer {
    Parameter weights, bias, gain, shift;
  };

  void make_clusters(int64_t C);
  void make_edges();
  /// Parameters as they may be used through a Self, which is Network or const Network.
  template <typename Self>
  using Pointers =
      std::vector<std::conditional_t<std::is_const_v<Self>, const Parameter*, Parameter*>>;
  template <typename Self>
  static Pointers<Self> encoder_parameters(Self& self);  // without the table
  template <typename Self>
  static Pointers<Self> all_but_edges(Self& self);

  Settings settings_;
  bool labels_by_blocks_;
  bool labels_are_new_ = true;  // since the last stage began
  Parameter table_, gain_, shift_;
  std::vector<Layer> layers_;
  std::optional<Parameter> cluster_weights_, cluster_bias_, edges_;
  Parameter label_weights_, label_bias_;

  LabelGraph graph_;
  std::vector<float> edge_scores_;    // [E]
  std::vector<float> edge_log_sums_;  // [C]
};

}  // namespace elias
