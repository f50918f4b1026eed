#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "encoder/affine.h"
#include "encoder/word_dropout.h"
#include "ops/lookup/key_groups.h"
#include "train/initial_values.h"
#include "train/trained_encoder.h"

namespace elias {
namespace {

class TrainedBag : public TrainedEncoder {
 public:
  TrainedBag(const Context& context, const Settings& settings, int64_t V);

  ConstTensorView forward(const Context& context, const PointsView& points,
                          std::span<const uint32_t> batch, uint64_t stream) override;
  void backward(const Context& context, TensorView dphi, float share) override;
  EncoderWeights weights(const Context& context, Weights which) override {
    scale_columns(context, which);
    return bag(which);
  }
  std::vector<Parameter*> parameters() override;

 private:
  struct Layer {
    Parameter weights, bias, gain, shift;
  };

  bool normalises_weights() const { return settings_.normalisation == Normalisation::kWeight; }
  Precision precision() const {
    return settings_.bf16 ? Precision::kBFloat16 : Precision::kFloat32;
  }
  BagForm form() const;
  BagWeights<ConstTensorView> bag(Weights which);
  BagWeights<TensorView> gradients();
  void start_columns(const Context& context);
  void scale_columns(const Context& context, Weights which);
  void add_column_gradients();

  const Settings settings_;
  Parameter table_;
  Parameter gain_;  // [D] of the layer norm, or [1] the length that all columns of the table share
  Parameter shift_;
  std::vector<Layer> layers_;
  // Where the table's columns have one length: their own, what it makes of them, its gradient. [D]
  Tensor column_lengths_, column_scales_, dcolumn_scales_;

  // Of the batch.
  BagBatch bags_;
  std::optional<PhiNoise> noise_;
  BagActivations activations_;
};

TrainedBag::TrainedBag(const Context& context, const Settings& settings, int64_t V)
    : settings_(settings),
      table_({V, settings.width}, {.name = "table", .rows = true}),
      gain_({normalises_weights() ? 1 : settings.width}, {.name = "gain"}),
      shift_({settings.width}, {.name = "shift"}) {
  const int64_t D = settings.width;
  fill_uniform(context, table_.weights(), uniform_bound(D), settings.seed, kTableValues);
  fill(gain_.weights(), 1);
  if (normalises_weights()) start_columns(context);
  for (int64_t i = 0; i < settings.layers; ++i) {
    const auto named = [&](const char* what) {
      return ParameterOptions{.name = fmt::format("layers.{}.{}", i, what)};
    };
    layers_.push_back({.weights = Parameter({D, D}, named("weights")),
                       .bias = Parameter({D}, named("bias")),
                       .gain = Parameter({D}, named("gain")),
                       .shift = Parameter({D}, named("shift"))});
    fill_uniform(context, layers_.back().weights.weights(), uniform_bound(D), settings.seed,
                 kLayerValues + static_cast<uint64_t>(i));
    fill(layers_.back().gain.weights(), 1);
  }
}

// The length that columns have: at first nothing is scaled.
void TrainedBag::start_columns(const Context& context) {
  const int64_t D = settings_.width;
  column_lengths_ = Tensor({D}, DType::kFloat32);
  column_scales_ = Tensor({D}, DType::kFloat32);
  dcolumn_scales_ = Tensor({D}, DType::kFloat32);
  column_lengths(context, std::as_const(table_).weights(), column_lengths_);
  const auto lengths = column_lengths_.span<float>();
  fill(gain_.weights(),
       std::accumulate(lengths.begin(), lengths.end(), 0.0F) / static_cast<float>(lengths.size()));
}

ConstTensorView TrainedBag::forward(const Context& context, const PointsView& points,
                                    std::span<const uint32_t> batch, uint64_t stream) {
  gather_bags(points.features(), batch, settings_.word_dropout, settings_.seed, stream, bags_,
              context.pool());
  const Bags bags = bags_.view();
  const KeyGroups used = group_by_key(context, bags.ids, table_.weights().shape()[0]);
  table_.catch_up(context, used.keys);
  noise_ = {.dropout = settings_.dropout, .seed = settings_.seed, .step = stream};
  scale_columns(context, Weights::kCurrent);
  const auto weights = bag(Weights::kCurrent);
  encode_bags(context, weights, pack_bag(context, weights, precision()), bags, noise_,
              activations_);
  return activations_.phi();
}

void TrainedBag::backward(const Context& context, TensorView dphi, float share) {
  const auto weights = bag(Weights::kCurrent);  // scaled as the forward pass had them
  const RowGradient table = encode_bags_backward(context, weights, precision(), bags_.view(),
                                                 noise_, dphi, activations_, gradients());
  table_.step(context, share * table_.options().rate, table);
  if (normalises_weights()) add_column_gradients();
  for (Parameter* parameter : parameters()) {
    if (parameter != &table_) parameter->step(context, share * parameter->options().rate);
  }
}

// From the gradients of the columns' scales to that of the length they share.
void TrainedBag::add_column_gradients() {
  const auto dscales = dcolumn_scales_.span<float>(), lengths = column_lengths_.span<float>();
  for (size_t d = 0; d < dscales.size(); ++d) {
    if (lengths[d] > 0) gain_.gradient().span<float>()[0] += dscales[d] / lengths[d];
  }
  std::ranges::fill(dscales, 0.0F);
}

BagForm TrainedBag::form() const {
  return {.layer_norm = !normalises_weights(),
          .relu = settings_.activation == BagActivation::kRelu,
          .unit = settings_.method == Method::kGlas};
}

// What gives all columns the length that they share. The whole table is read for it.
void TrainedBag::scale_columns(const Context& context, Weights which) {
  if (!normalises_weights()) return;
  column_lengths(context, table_.values(which), column_lengths_);
  const float shared = gain_.values(which).span<float>()[0];
  std::ranges::transform(column_lengths_.span<float>(), column_scales_.span<float>().begin(),
                         [&](float length) { return length > 0 ? shared / length : 0; });
}

// The columns' scales are those that scale_columns() left.
BagWeights<ConstTensorView> TrainedBag::bag(Weights which) {
  const auto view = [&](const Parameter& parameter) { return parameter.values(which); };
  BagWeights<ConstTensorView> weights{.table = view(table_),
                                      .gain = normalises_weights() ? column_scales_ : view(gain_),
                                      .shift = view(shift_),
                                      .layers = {},
                                      .form = form()};
  for (const Layer& layer : layers_) {
    weights.layers.push_back({.weights = view(layer.weights),
                              .bias = view(layer.bias),
                              .gain = view(layer.gain),
                              .shift = view(layer.shift)});
  }
  return weights;
}

BagWeights<TensorView> TrainedBag::gradients() {
  BagWeights<TensorView> gradients{
      .table = {},
      .gain = normalises_weights() ? TensorView(dcolumn_scales_) : gain_.gradient(),
      .shift = shift_.gradient(),
      .layers = {}};
  for (Layer& layer : layers_) {
    gradients.layers.push_back({.weights = layer.weights.gradient(),
                                .bias = layer.bias.gradient(),
                                .gain = layer.gain.gradient(),
                                .shift = layer.shift.gradient()});
  }
  return gradients;
}

std::vector<Parameter*> TrainedBag::parameters() {
  std::vector<Parameter*> all = {&table_, &gain_, &shift_};
  for (Layer& layer : layers_) {
    all.insert(all.end(), {&layer.weights, &layer.bias, &layer.gain, &layer.shift});
  }
  return all;
}

}  // namespace

std::unique_ptr<TrainedEncoder> make_trained_bag(const Context& context, const Settings& settings,
                                                 int64_t V) {
  return std::make_unique<TrainedBag>(context, settings, V);
}

}  // namespace elias
