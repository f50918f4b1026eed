// The loss of masked words: which word of the vocabulary stands at a place, by a softmax over all.
#pragma once

#include <cstdint>
#include <span>

#include "ops/context.h"
#include "ops/product/linear.h"
#include "ops/tensor.h"

namespace elias {

/// At so many places at a time words have scores, which are V numbers each.
inline constexpr int64_t kScoredPlaces = 512;

/// What words are told by: z = h . words[v] + bias[v].
struct WordClassifier {
  ConstTensorView words;  // [V, D]
  ConstTensorView bias;   // [V]
};

struct WordSums {
  double loss = 0;   // over all places: -log softmax(z) of the true word
  int64_t hits = 0;  // where that has the largest z
};

/// Of h [M, D], whose true words are `targets` [M].
WordSums word_losses(const Context& context, const WordClassifier& classifier, Precision precision,
                     ConstTensorView h, std::span<const int32_t> targets);

/// The same, and the gradient of weight * loss: dh [M, D]; adds to dwords [V, D] and dbias [V].
WordSums word_losses_backward(const Context& context, const WordClassifier& classifier,
                              Precision precision, ConstTensorView h,
                              std::span<const int32_t> targets, float weight, TensorView dh,
                              TensorView dwords, TensorView dbias);

}  // namespace elias
