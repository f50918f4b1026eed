// Inner products with a few rows at a time, for searches that go from row to row: what to read next
// is known only when the last result is there, so there is no batch to make an operator of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/isa.h"
#include "ops/tensor.h"

namespace elias {

namespace cpu {

/// Rows of one type, `stride` elements apart, each with a bias.
struct BiasedRows {
  const void* w = nullptr;
  const float* bias = nullptr;
  size_t stride = 0, width = 0;
};

struct RowDotKernels {
  void (*prepare)(const float* x, size_t width, float* point);
  void (*with_point)(const BiasedRows& rows, const float* point, const int32_t* ids, size_t count,
                     float* z);
  float (*between)(const BiasedRows& rows, int32_t a, int32_t b);
};

}  // namespace cpu

class RowDots {
 public:
  /// The rows of w [L, D], float32 or bfloat16, and bias [L], on the CPU; both must outlive it.
  RowDots(Isa isa, ConstTensorView w, ConstTensorView bias);

  /// `point` [D] is x [D] as with_point() reads it: its values in the order of those of a row.
  void prepare(std::span<const float> x, std::span<float> point) const {
    kernels_.prepare(x.data(), rows_.width, point.data());
  }

  /// z[i] = w[ids[i]] . x + bias[ids[i]], to the bit what gather_dot computes.
  void with_point(std::span<const float> point, std::span<const int32_t> ids,
                  std::span<float> z) const {
    kernels_.with_point(rows_, point.data(), ids.data(), ids.size(), z.data());
  }

  /// w[a] . w[b] + bias[a] * bias[b], with a at hand and b anywhere in memory.
  float between(int32_t a, int32_t b) const { return kernels_.between(rows_, a, b); }

 private:
  cpu::BiasedRows rows_;
  cpu::RowDotKernels kernels_;
};

}  // namespace elias
