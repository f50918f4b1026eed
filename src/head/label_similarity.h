// How alike labels are, judged by the points that they share (GLaS, section 3.2).
//
// With n_y the training points of label y and n_yy' those of y and y', of N points in all:
//
//   arithmetic   (n_yy' / n_y + n_yy' / n_y') / 2      the mean of F(y' | y) and F(y | y')
//   geometric    n_yy' / sqrt(n_y n_y')
//   jaccard      n_yy' / (n_y + n_y' - n_yy')
//   pmi          log(N n_yy' / (n_y n_y')) / log(N / n_yy'), no less than 0: pointwise mutual
//                information, divided by the most it can be
//
// All are in [0, 1], 0 of labels that share no point, and 1 of a label and itself, which is left
// out. As most labels share no point, they are a sparse matrix; L x L numbers never exist.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "ops/tensor.h"

namespace elias {

enum class Similarity : uint8_t { kArithmetic, kGeometric, kJaccard, kPmi };
inline constexpr std::array<std::string_view, 4> kSimilarityNames = {"arithmetic", "geometric",
                                                                     "jaccard", "pmi"};

/// U [L x L] of the labels [N x L], of which those with a value above zero count. A row is made of
/// the points of its label alone.
Csr label_similarity(const Csr& labels, Similarity kind, ThreadPool& pool);

/// block [R, R] = U of the labels [R], rising and each but once; 0 on the diagonal.
void similarity_block(const Csr& similarity, std::span<const int32_t> labels, ThreadPool& pool,
                      TensorView block);

}  // namespace elias
