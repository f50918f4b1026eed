#include "encoder/transformer_layer.h"

#include <algorithm>

#include "base/hash.h"
#include "ops/room.h"
#include "ops/rows/row_access.h"

namespace elias {
namespace {

// The rows of h that are first of their sequence, or gradients of these added to them.
void take_firsts(const Context& context, ConstTensorView h, ConstTensorView offsets,
                 TensorView firsts) {
  const auto begins = offsets.span<int32_t>();
  for_rows(context.pool(), static_cast<size_t>(firsts.rows()), [&](size_t n) {
    std::ranges::copy(row_of(h, static_cast<size_t>(begins[n])), row_of(firsts, n).begin());
  });
}

void add_firsts(const Context& context, ConstTensorView dfirsts, ConstTensorView offsets,
                TensorView dh) {
  const auto begins = offsets.span<int32_t>();
  for_rows(context.pool(), static_cast<size_t>(dfirsts.rows()), [&](size_t n) {
    const auto from = row_of(dfirsts, n);
    const auto to = row_of(dh, static_cast<size_t>(begins[n]));
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  });
}

}  // namespace

DropoutKey LayerNoise::key_at(Place place) const {
  return {.seed = mix_bits(key.seed + place, 0x9E3779B97F4A7C15), .stream = key.stream};
}

PackedTransformerLayer pack_layer(const Context& context,
                                  const TransformerLayer<ConstTensorView>& layer, PackedFor use,
                                  Precision precision, bool first_alone) {
  const auto pack = [&](ConstTensorView w) { return pack_weights(context, w, use, precision); };
  const ConstTensorView qkv = layer.qkv_weights;
  const int64_t D = qkv.width();
  return {.qkv = pack(first_alone ? qkv.slice(0, D) : qkv),
          .mix = pack(layer.mix_weights),
          .up = pack(layer.up_weights),
          .down = pack(layer.down_weights),
          .kv = first_alone ? pack(qkv.slice(D, 3 * D)) : PackedWeights()};
}

AttentionInput LayerPass::attention_input(const LayerNoise& noise, LayerActivations& kept,
                                          int64_t tokens) const {
  const int64_t D = shape_.width;
  AttentionInput input{.q = {},
                       .k = {},
                       .v = {},
                       .query_offsets = first_alone_ ? tokens_.firsts : tokens_.offsets,
                       .offsets = tokens_.offsets,
                       .heads = shape_.heads,
                       .dropout = noise.attention,
                       .key = noise.key_at(LayerNoise::kProbabilities)};
  if (first_alone_) {
    const TensorView kv = room(kept.first_kv, {tokens, 2 * D}, stored());
    input.q = room(kept.qkv, {tokens_.sequences(), D}, stored());
    input.k = kv.columns(0, D);
    input.v = kv.columns(D, 2 * D);
  } else {
    const TensorView qkv = room(kept.qkv, {tokens, 3 * D}, stored());
    input.q = qkv.columns(0, D);
    input.k = qkv.columns(D, 2 * D);
    input.v = qkv.columns(2 * D, 3 * D);
  }
  return input;
}

// Queries, keys and values of h, in the room that attention_input names. Returns what the residual
// is made of: h, or its first rows.
ConstTensorView LayerPass::project(const TransformerLayer<ConstTensorView>& layer,
                                   const PackedTransformerLayer& packed, ConstTensorView h,
                                   LayerActivations& kept) const {
  const int64_t T = h.rows(), D = shape_.width, N = tokens_.sequences();
  const ConstTensorView bias = layer.qkv_bias;
  if (!first_alone_) {
    linear(context_, h, packed.qkv, bias, Activation::kNone, room(kept.qkv, {T, 3 * D}, stored()));
    return h;
  }
  const TensorView firsts = room(kept.first_input, {N, D});
  take_firsts(context_, h, tokens_.offsets, firsts);
  linear(context_, firsts, packed.qkv, bias.slice(0, D), Activation::kNone,
         room(kept.qkv, {N, D}, stored()));
  linear(context_, h, packed.kv, bias.slice(D, 3 * D), Activation::kNone,
         room(kept.first_kv, {T, 2 * D}, stored()));
  return firsts;
}

TensorView LayerPass::forward(const TransformerLayer<ConstTensorView>& layer,
                              const PackedTransformerLayer& packed, const LayerNoise& noise,
                              ConstTensorView h, bool keep, LayerActivations& kept) const {
  const ConstTensorView residual = project(layer, packed, h, kept);
  const int64_t S = residual.rows(), D = shape_.width, F = shape_.inner;
  const TensorView attended = room(kept.attended, {S, D}, stored());
  attention(context_, attention_input(noise, kept, h.rows()), precision_, attended,
            room(kept.log_sums, {shape_.heads, S}));

  const auto norm = [&](TensorView x, ConstTensorView x_residual, ConstTensorView gain,
                        ConstTensorView shift, LayerNoise::Place place, TensorView y,
                        LayerNormSaved saved) {
    residual_norm(context_,
                  {.x = x,
                   .residual = x_residual,
                   .gain = gain,
                   .shift = shift,
                   .epsilon = shape_.epsilon,
                   .dropout = noise.hidden,
                   .key = noise.key_at(place)},
                  keep ? x : TensorView(), y, saved);
  };
  const TensorView mixed = room(kept.attention_sum, {S, D}, stored());
  linear(context_, attended, packed.mix, layer.mix_bias, Activation::kNone, mixed);
  const TensorView middle = room(kept.attention_output, {S, D});
  norm(mixed, residual, layer.attention_gain, layer.attention_shift, LayerNoise::kAttended, middle,
       {room(kept.attention_mean, {S}), room(kept.attention_inverse, {S})});

  const TensorView inner = room(kept.inner, {S, F}, stored());
  linear(context_, middle, packed.up, layer.up_bias, Activation::kGelu, inner,
         keep ? room(kept.before_gelu, {S, F}, stored()) : TensorView());
  const TensorView down = room(kept.output_sum, {S, D}, stored());
  linear(context_, inner, packed.down, layer.down_bias, Activation::kNone, down);
  const TensorView output = room(kept.output, {S, D});
  norm(down, middle, layer.output_gain, layer.output_shift, LayerNoise::kInner, output,
       {room(kept.output_mean, {S}), room(kept.output_inverse, {S})});
  return output;
}

void LayerPass::add_gradients(ConstTensorView dy, ConstTensorView x, TensorView dw,
                              TensorView db) const {
  linear_weight_gradient(context_, dy, x, precision_, dw);
  linear_bias_gradient(context_, dy, db);
}

void LayerPass::backward(const TransformerLayer<ConstTensorView>& layer,
                         const PackedTransformerLayer& packed, const LayerNoise& noise,
                         ConstTensorView h, LayerActivations& kept, LayerRoom& space, TensorView dh,
                         TensorView dh_all, const TransformerLayer<TensorView>& gradients) const {
  const int64_t S = dh.rows(), D = shape_.width, F = shape_.inner;
  const TensorView dbranch = room(space.dbranch, {S, D}, stored());
  // dh becomes the gradient of the residual, to which the branch's adds its own.
  const auto norm_backward = [&](Tensor& sum, ConstTensorView gain, LayerNoise::Place place,
                                 LayerNormSaved saved, TensorView dgain, TensorView dshift) {
    residual_norm_backward(context_,
                           {.x = {},
                            .residual = {},
                            .gain = gain,
                            .shift = {},
                            .dropout = noise.hidden,
                            .key = noise.key_at(place)},
                           room(sum, {S, D}, stored()), saved, dh, dh, dbranch, dgain, dshift);
  };
  norm_backward(kept.output_sum, layer.output_gain, LayerNoise::kInner,
                {room(kept.output_mean, {S}), room(kept.output_inverse, {S})},
                gradients.output_gain, gradients.output_shift);
  add_gradients(dbranch, room(kept.inner, {S, F}, stored()), gradients.down_weights,
                gradients.down_bias);
  const TensorView dinner = room(space.dinner, {S, F}, stored());
  linear_input_gradient_through_gelu(context_, dbranch, packed.down,
                                     room(kept.before_gelu, {S, F}, stored()), dinner);
  add_gradients(dinner, room(kept.attention_output, {S, D}), gradients.up_weights,
                gradients.up_bias);
  add_linear_input_gradient(context_, dinner, packed.up, dh);

  norm_backward(kept.attention_sum, layer.attention_gain, LayerNoise::kAttended,
                {room(kept.attention_mean, {S}), room(kept.attention_inverse, {S})},
                gradients.attention_gain, gradients.attention_shift);
  const TensorView attended = room(kept.attended, {S, D}, stored());
  add_gradients(dbranch, attended, gradients.mix_weights, gradients.mix_bias);
  linear_input_gradient(context_, dbranch, packed.mix, room(space.dattended, {S, D}, stored()));
  attention_part_backward(packed, noise, h, kept, space, dh, dh_all, gradients);
}

void LayerPass::attention_part_backward(const PackedTransformerLayer& packed,
                                        const LayerNoise& noise, ConstTensorView h,
                                        LayerActivations& kept, LayerRoom& space, TensorView dh,
                                        TensorView dh_all,
                                        const TransformerLayer<TensorView>& gradients) const {
  const int64_t T = h.rows(), S = dh.rows(), D = shape_.width;
  const AttentionInput input = attention_input(noise, kept, T);
  const TensorView attended = room(kept.attended, {S, D}, stored());
  const TensorView log_sums = room(kept.log_sums, {shape_.heads, S});
  const TensorView dattended = room(space.dattended, {S, D}, stored());
  const TensorView dw = gradients.qkv_weights, db = gradients.qkv_bias;
  if (!first_alone_) {
    const TensorView dqkv = room(space.dqkv, {T, 3 * D}, stored());
    attention_backward(context_, input, precision_, attended, log_sums, dattended,
                       dqkv.columns(0, D), dqkv.columns(D, 2 * D), dqkv.columns(2 * D, 3 * D));
    add_gradients(dqkv, h, dw, db);
    add_linear_input_gradient(context_, dqkv, packed.qkv, dh);
    return;
  }
  const TensorView dq = room(space.dqkv, {S, D}, stored());
  const TensorView dkv = room(space.dkv, {T, 2 * D}, stored());
  attention_backward(context_, input, precision_, attended, log_sums, dattended, dq,
                     dkv.columns(0, D), dkv.columns(D, 2 * D));
  add_gradients(dq, room(kept.first_input, {S, D}), dw.slice(0, D), db.slice(0, D));
  add_gradients(dkv, h, dw.slice(D, 3 * D), db.slice(D, 3 * D));
  linear_input_gradient(context_, dkv, packed.kv, dh_all);
  add_linear_input_gradient(context_, dq, packed.qkv, dh);
  add_firsts(context_, dh, tokens_.offsets, dh_all);
}

}  // namespace elias
