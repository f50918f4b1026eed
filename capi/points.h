// Points in the arrays of a caller, looked at once and then read part by part: they may be
// millions, and what a model reads of a text takes more room than the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "elias/elias.h"
#include "encoder/points.h"

namespace elias {

class CallersPoints {
 public:
  virtual ~CallersPoints() = default;
  size_t rows() const { return rows_; }
  /// What the model reads of the rows [begin, end). Throws InputError if it cannot.
  virtual Points read(size_t begin, size_t end) const = 0;

 protected:
  explicit CallersPoints(size_t rows) : rows_(rows) {}

 private:
  size_t rows_;
};

class CallersTexts : public CallersPoints {
 public:
  /// Throws InputError if the model takes features.
  CallersTexts(const elias_model& model, const char* const* texts, const size_t* lengths, size_t n);
  Points read(size_t begin, size_t end) const override;

 private:
  /// Throws InputError if it is not UTF-8.
  std::string_view text(size_t i) const;

  const elias_model& model_;
  const char* const* texts_;
  const size_t* lengths_;  // null: texts end with a NUL
};

class CallersFeatures : public CallersPoints {
 public:
  /// Throws InputError if the model takes texts, or the offsets do not rise.
  CallersFeatures(const elias_model& model, const uint64_t* offsets, const uint32_t* columns,
                  const float* values, size_t n);
  Points read(size_t begin, size_t end) const override;

 private:
  const elias_model& model_;
  const uint64_t* offsets_;  // [rows + 1]
  const uint32_t* columns_;
  const float* values_;
};

}  // namespace elias
