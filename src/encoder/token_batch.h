// The tokens of some points, one sequence behind the other, as a transformer reads them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/transformer_layer.h"
#include "encoder/transformer_weights.h"
#include "ops/lookup/embedding_bag.h"
#include "text/wordpiece.h"

namespace elias {

/// Owns the tokens of a batch. Kept between batches: its memory grows to the largest.
class TokenBatch {
 public:
  /// The rows `points` [N] of `rows`. Each must have a token at least, and none may have more than
  /// the shape has positions, or an id beyond its vocabulary.
  void gather(const TokenRows& rows, std::span<const uint32_t> points,
              const TransformerShape& shape);

  int64_t points() const { return static_cast<int64_t>(offsets_.size()) - 1; }  // N
  int64_t tokens() const { return offsets_.back(); }                            // T
  /// Views are valid until the next gather.
  TokenOffsets offsets() const;
  /// The rows of the table that each token is the sum of: its word, position and type.
  Bags embeddings() const;

 private:
  std::vector<int32_t> offsets_{0}, firsts_{0};  // [N + 1]
  std::vector<int32_t> bag_offsets_{0}, ids_;    // [T + 1], of the rows of all tokens
  std::vector<float> ones_;
};

}  // namespace elias
