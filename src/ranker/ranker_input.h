// What the sparse ranker sees of a point: x = [words / |words|, phi / |phi|], each part by choice.
//
// Of the words only the largest: on long texts the others cost most of the time and tell nothing
// that these do not.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/csr.h"

namespace elias {

enum class RankerParts : uint8_t { kWords, kVector, kBoth };
inline constexpr std::array<std::string_view, 3> kRankerPartsNames = {"words", "vector", "both"};

struct RankerInputOptions {
  RankerParts parts = RankerParts::kWords;
  int64_t most_words = 256;  // features of a point

  bool has_words() const { return parts != RankerParts::kVector; }
  bool has_vector() const { return parts != RankerParts::kWords; }
};

/// The columns of x: words keep their ids, those of phi follow.
inline int64_t ranker_columns(const RankerInputOptions& options, int64_t V, int64_t D) {
  return V + (options.has_vector() ? D : 0);
}

/// x of one point at a time. One thread's room.
class RankerInput {
 public:
  explicit RankerInput(const RankerInputOptions& options) : options_(options) {}

  /// x of a point with the features `words`, of V, and the vector `phi` [D], which may be empty if
  /// it is no part of x. It stays until the next call.
  CsrRow of(const CsrRow& words, int64_t V, std::span<const float> phi);

 private:
  void add_words(const CsrRow& words);
  void add_vector(int64_t V, std::span<const float> phi);

  RankerInputOptions options_;
  std::vector<float> sizes_;
  std::vector<uint32_t> columns_;
  std::vector<float> values_;
};

}  // namespace elias
