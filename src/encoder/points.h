// Points as encoders read them: features for a bag of embeddings, tokens for a transformer.
#pragma once

#include <cstddef>
#include <span>

#include "data/csr.h"
#include "text/wordpiece.h"

namespace elias {

/// Points of others, to read. Features may be what a ranker sees, whatever the encoder.
class PointsView {
 public:
  /// Without tokens.
  PointsView(const Csr& features)  // NOLINT(google-explicit-constructor): as span of vector
      : features_(&features) {}
  PointsView(const Csr& features, const TokenRows& tokens)
      : features_(&features), tokens_(tokens.rows() > 0 ? &tokens : nullptr) {}

  size_t rows() const { return features_->rows(); }
  const Csr& features() const { return *features_; }  // [N x V]
  bool has_tokens() const { return tokens_ != nullptr; }
  const TokenRows& tokens() const { return *tokens_; }  // N rows, if there are any

 private:
  const Csr* features_;
  const TokenRows* tokens_ = nullptr;
};

struct Points {
  Csr features;
  TokenRows tokens;  // without rows: there are none

  operator PointsView() const {  // NOLINT(google-explicit-constructor)
    return {features, tokens};
  }
};

/// The given rows, in the given order.
TokenRows select_rows(const TokenRows& tokens, std::span<const size_t> rows);
Points select_rows(const PointsView& points, std::span<const size_t> rows);

/// As sample_rows of a matrix, the same rows.
Points sample_rows(const PointsView& points, size_t size);

}  // namespace elias
