// The bags of a batch: chosen rows of the feature matrix, in training without some of their
// features.
//
// Whether a feature stays is a function of seed, step, point and the feature's place in its row: it
// does not depend on what else is in the batch. A point that has features keeps at least one, its
// first if chance would leave none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "ops/lookup/embedding_bag.h"

namespace elias {

/// Owns the features of a batch. Kept between batches: its memory grows to the largest.
class BagBatch {
 public:
  /// Of the last gather_bags; valid until the next.
  Bags view() const;

 private:
  friend void gather_bags(const Csr&, std::span<const uint32_t>, float, uint64_t, uint64_t,
                          BagBatch&, ThreadPool&);

  std::vector<int32_t> offsets_{0};  // [N + 1]
  std::vector<int32_t> ids_;         // of the largest batch so far
  std::vector<float> weights_;
};

/// The features of points [N], rows of `features`. 0 <= word_dropout < 1; with 0 nothing is left
/// out, and seed and step do not matter. step < 2^56. Throws InputError if the batch has 2^31
/// features or more.
void gather_bags(const Csr& features, std::span<const uint32_t> points, float word_dropout,
                 uint64_t seed, uint64_t step, BagBatch& batch, ThreadPool& pool);

}  // namespace elias
