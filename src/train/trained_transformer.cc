// A transformer keeps what the backward pass needs of a whole batch only where that fits into the
// memory given to it. Otherwise the batch goes forward in parts that are forgotten, and each part
// once more before it goes backward: a third more work, in bounded memory.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "ops/lookup/key_groups.h"
#include "ops/room.h"
#include "train/encoder_start.h"
#include "train/trained_encoder.h"
#include "train/transformer_parameters.h"

namespace elias {
namespace {

class TrainedTransformer : public TrainedEncoder {
 public:
  TrainedTransformer(const Settings& settings, const Pretrained& start);

  ConstTensorView forward(const Context& context, const PointsView& points,
                          std::span<const uint32_t> batch, uint64_t stream) override;
  void backward(const Context& context, TensorView dphi, float share) override;
  EncoderWeights weights(const Context&, Weights which) override {
    return TransformerEncoder{.weights = parameters_.views(which),
                              .unit = settings_.method == Method::kGlas,
                              .precision = precision()};
  }
  std::vector<Parameter*> parameters() override { return parameters_.all(); }

 private:
  // A part of the batch: its points, and where they and their tokens begin in the batch.
  struct Part {
    std::span<const uint32_t> points;
    int64_t point = 0, token = 0;
  };

  Precision precision() const {
    return settings_.bf16 ? Precision::kBFloat16 : Precision::kFloat32;
  }
  TokensWanted wanted() const { return wanted_by(shape_.pooling); }
  PackedTransformer pack(const Context& context, PackedFor use) const {
    return pack_transformer(context, parameters_.views(Weights::kCurrent), use, precision(),
                            wanted());
  }
  void cut(const TokenRows& rows);
  std::optional<TokenNoise> noise_of(size_t part) const;
  void encode(const Context& context, const PackedTransformer& packed, size_t part, bool keep);
  TensorView pool_backward(const Context& context, const Part& part, TensorView dpooled);

  const Settings settings_;
  TransformerShape shape_;
  float hidden_dropout_, attention_dropout_;
  TransformerParameters parameters_;

  // Of the batch.
  const TokenRows* rows_ = nullptr;
  std::vector<uint32_t> points_;
  std::vector<Part> parts_;
  uint64_t stream_ = 0;
  TokenBatch all_, part_;
  TransformerActivations activations_;
  Tensor pooled_, dhidden_, dembedded_;
  std::optional<PhiNoise> phi_noise_;
  PhiEnd end_;
};

// Members of an ensemble have seeds of their own, so new ones begin with weights of their own.
TransformerParameters first_parameters(const Settings& settings, const Pretrained& start) {
  constexpr bool kTableByRows = true;
  if (!is_new_transformer(settings.encoder)) return {start.weights, kTableByRows};
  return {random_transformer(start.config.shape, settings.seed), kTableByRows};
}

TrainedTransformer::TrainedTransformer(const Settings& settings, const Pretrained& start)
    : settings_(settings),
      shape_(start.config.shape),
      hidden_dropout_(start.config.hidden_dropout),
      attention_dropout_(start.config.attention_dropout),
      parameters_(first_parameters(settings, start)) {
  ELIAS_ASSERT(settings.width == shape_.width);
}

// The points of the batch in parts of no more tokens than may be kept, if each point alone does.
void TrainedTransformer::cut(const TokenRows& rows) {
  const auto bytes = double{settings_.activations} * (int64_t{1} << 30);
  const auto most =
      static_cast<int64_t>(bytes / static_cast<double>(activation_bytes(shape_, precision())));
  parts_.clear();
  int64_t token = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    const auto tokens = static_cast<int64_t>(rows.row(points_[i]).size());
    if (parts_.empty() || token + tokens - parts_.back().token > most) {
      parts_.push_back({.points = {}, .point = static_cast<int64_t>(i), .token = token});
    }
    token += tokens;
    Part& part = parts_.back();
    const auto begin = static_cast<size_t>(part.point);
    part.points = std::span(points_).subspan(begin, i + 1 - begin);
  }
}

std::optional<TokenNoise> TrainedTransformer::noise_of(size_t part) const {
  return TokenNoise{.hidden = hidden_dropout_,
                    .attention = attention_dropout_,
                    .seed = mix_bits(settings_.seed + part, 0xA0761D6478BD642F),
                    .step = stream_};
}

void TrainedTransformer::encode(const Context& context, const PackedTransformer& packed,
                                size_t part, bool keep) {
  part_.gather(*rows_, parts_[part].points, shape_);
  encode_tokens(context, parameters_.views(Weights::kCurrent), packed, part_, noise_of(part), keep,
                activations_);
}

ConstTensorView TrainedTransformer::forward(const Context& context, const PointsView& points,
                                            std::span<const uint32_t> batch, uint64_t stream) {
  rows_ = &points.tokens();
  points_.assign(batch.begin(), batch.end());
  stream_ = stream;
  cut(*rows_);
  all_.gather(*rows_, points_, shape_);
  Parameter& table = parameters_.table();
  table.catch_up(context, group_by_key(context, all_.embeddings().ids, shape_.table_rows()).keys);
  const PackedTransformer packed = pack(context, PackedFor::kForward);
  const TensorView pooled = room(pooled_, {std::ssize(batch), shape_.width});
  for (size_t i = 0; i < parts_.size(); ++i) {
    encode(context, packed, i, /*keep=*/parts_.size() == 1);
    pool_tokens(context, shape_.pooling, part_, activations_.hidden(),
                pooled.slice(parts_[i].point, parts_[i].point + part_.points()));
  }
  phi_noise_ = {.dropout = settings_.dropout, .seed = settings_.seed, .step = stream};
  return end_.forward(context, pooled, phi_noise_, settings_.method == Method::kGlas);
}

TensorView TrainedTransformer::pool_backward(const Context& context, const Part& part,
                                             TensorView dpooled) {
  const TensorView own = dpooled.slice(part.point, part.point + part_.points());
  const TensorView dhidden = room(dhidden_, activations_.hidden().shape());
  pool_tokens_backward(context, shape_.pooling, part_, own, dhidden);
  return dhidden;
}

void TrainedTransformer::backward(const Context& context, TensorView dphi, float share) {
  end_.backward(context, phi_noise_, settings_.method == Method::kGlas, dphi);
  const bool again = parts_.size() > 1;
  const PackedTransformer forward =
      again ? pack(context, PackedFor::kForward) : PackedTransformer();
  const PackedTransformer back = pack(context, PackedFor::kInputGradient);
  const TransformerWeights<ConstTensorView> weights = parameters_.views(Weights::kCurrent);
  const TransformerWeights<TensorView> own = parameters_.gradients();
  const TensorView dembedded = room(dembedded_, {all_.tokens(), shape_.width});
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (again) encode(context, forward, i, /*keep=*/true);
    encode_tokens_backward(context, weights, back, part_, noise_of(i),
                           pool_backward(context, parts_[i], dphi), activations_, own,
                           dembedded.slice(parts_[i].token, parts_[i].token + part_.tokens()));
  }
  Parameter& table = parameters_.table();
  table.step(context, share * table.options().rate,
             embedding_bag_backward(context, all_.embeddings(), dembedded, shape_.table_rows()));
  for (Parameter* parameter : parameters_.all()) {
    if (parameter != &table) parameter->step(context, share * parameter->options().rate);
  }
}

}  // namespace

std::unique_ptr<TrainedEncoder> make_trained_transformer(const Settings& settings,
                                                         const Pretrained& start) {
  return std::make_unique<TrainedTransformer>(settings, start);
}

}  // namespace elias
