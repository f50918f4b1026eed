// Where the true labels of a row stand in its list of predictions.
//
// The list is never sorted. A row has a hundred predictions and a handful of true labels among
// them, and the rank of one is one more than the number of predictions that beat it: a scan that
// the compiler turns into vector compares, and which costs less than any selection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/csr.h"

namespace elias {

/// A true label (relevance above zero) among the predictions.
struct Hit {
  uint32_t label;
  uint32_t rank;  // from 1; by score descending, equal scores by label id ascending
  float score;
};

/// Sets `hits` to the hits of a row, by rank. Every stored prediction counts, one of score zero or
/// below too; scores are finite.
void ranked_hits(const CsrRow& truth, const CsrRow& scores, std::vector<Hit>& hits);

/// Sets `labels` to the first min(k, size) labels of a row, in no particular order.
void top_labels(const CsrRow& scores, size_t k, std::vector<uint32_t>& labels);

}  // namespace elias
