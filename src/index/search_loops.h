// The inner loops of a search, by vectors.
//
// Where they write entries they write whole vectors, of which only the entries they say they wrote
// count: there must be room for kSearchSlack more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/isa.h"

namespace elias {

constexpr size_t kSearchSlack = 64;

/// The n edges of a cluster, and the score of the cluster itself: path i leads to labels[i] and has
/// the score factor * scores[i]. A row names a label once, so the entries of a vector never meet.
struct RowPaths {
  const int32_t* labels;
  const float* scores;
  size_t size;
  float factor;
};

struct SearchLoops {
  /// best[label] = max(best[label], score) for each path. Writes the labels that had a 0 there and
  /// no longer do to `found`, in the row's order, and returns their number.
  size_t (*raise_scores)(const RowPaths& row, float* best, int32_t* found);
  /// Writes the places in the row, rising, of the paths whose score is the best of their label, at
  /// least `least`, and not 0; returns their number.
  size_t (*best_paths)(const RowPaths& row, const float* best, float least, int32_t* places);
  /// own[i] = best[labels[i]] for n labels.
  void (*take_scores)(const int32_t* labels, size_t n, const float* best, float* own);
  /// Writes the scores of n that are in [low, high); returns their number.
  size_t (*keep_scores)(const float* scores, size_t n, float low, float high, float* kept);
  /// Writes the labels of n whose scores are at least `low`; returns their number.
  size_t (*keep_labels)(const float* scores, const int32_t* labels, size_t n, float low,
                        int32_t* kept);
};

SearchLoops search_loops(Isa isa);

}  // namespace elias
