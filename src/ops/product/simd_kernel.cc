// The product's innermost part in float32, on vectors.
//
// A tile of C, kRows x two vectors, is held in registers while one panel of A and one of B go by:
// for each k two vectors of B and kRows single values of A, each of which meets both. kRows is what
// the registers leave room for: 14 x 2 sums of the 32 of AVX-512, 6 x 2 of the 16 of AVX2.
#include <algorithm>
#include <utility>

#include "ops/product/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/simd_kernel.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = HWY_LANES(float);
constexpr int kRows = kLanes == 16 ? 14 : kLanes == 8 ? 6 : 4;
constexpr int64_t kColumns = 2 * kLanes;

HWY_INLINE float rounded(float value, bool to_bf16) {
  return to_bf16 ? to_float(to_bfloat16(value)) : value;
}

// A panel [depth, kWidth] of `width` lines: element (k, line) is data[line * line_step + k *
// depth_step]. Zeros beyond width.
template <int64_t kWidth, bool kRound>
HWY_INLINE void pack(const float* data, int64_t line_step, int64_t depth_step, int64_t width,
                     int64_t depth, float* panel) {
  for (int64_t k = 0; k < depth; ++k, data += depth_step, panel += kWidth) {
    for (int64_t i = 0; i < width; ++i) panel[i] = rounded(data[i * line_step], kRound);
    for (int64_t i = width; i < kWidth; ++i) panel[i] = 0;
  }
}

// One loop for each way the memory lies and for full panels, so that the compiler knows the inner
// one's length and whether it is over consecutive values.
template <int64_t kWidth, bool kRound>
void pack_panel(const float* data, int64_t stride, bool along, int64_t width, int64_t depth,
                float* panel) {
  if (width < kWidth) {
    pack<kWidth, kRound>(data, along ? stride : 1, along ? 1 : stride, width, depth, panel);
  } else if (along) {
    pack<kWidth, kRound>(data, stride, 1, kWidth, depth, panel);
  } else {
    pack<kWidth, kRound>(data, 1, stride, kWidth, depth, panel);
  }
}

template <bool kRound>
void pack_rows(const Matrix& a, int64_t rows, int64_t depth, void* panel) {
  pack_panel<kRows, kRound>(a.data, a.stride, !a.transposed, rows, depth,
                            static_cast<float*>(panel));
}

template <bool kRound>
void pack_columns(const Matrix& b, int64_t columns, int64_t depth, void* panel) {
  pack_panel<kColumns, kRound>(b.data, b.stride, b.transposed, columns, depth,
                               static_cast<float*>(panel));
}

// The sums of one tile, as 2 * kRows vectors that the compiler keeps in registers.
struct Sums {
  Vector at[2 * kRows];
};

template <size_t... kRow>
HWY_INLINE Sums multiply_panels(const float* a, const float* b, int64_t depth,
                                std::index_sequence<kRow...>) {
  const Lanes d;
  Sums sums{{((void)kRow, hn::Zero(d))..., ((void)kRow, hn::Zero(d))...}};
  for (int64_t k = 0; k < depth; ++k) {
    const Vector left = hn::LoadU(d, b);
    const Vector right = hn::LoadU(d, b + kLanes);
    ((sums.at[2 * kRow] = hn::MulAdd(hn::Set(d, a[kRow]), left, sums.at[2 * kRow]),
      sums.at[2 * kRow + 1] = hn::MulAdd(hn::Set(d, a[kRow]), right, sums.at[2 * kRow + 1])),
     ...);
    a += kRows;
    b += kColumns;
  }
  return sums;
}

HWY_INLINE Vector finish(Vector sum, const PanelBlock& block, int64_t column, const float* c,
                         size_t n) {
  const Lanes d;
  if (block.accumulate) {
    sum = hn::Add(load(d, c, n), sum);
  } else if (block.bias != nullptr) {
    sum = hn::Add(load(d, block.bias + column, n), sum);
  }
  // Not a maximum, which may turn a NaN into 0.
  if (block.activation == Activation::kRelu) {
    sum = hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(d)), sum);
  }
  return sum;
}

void multiply_tile(const float* a, const float* b, const PanelBlock& block, int64_t row,
                   int64_t column) {
  const int64_t rows = std::min<int64_t>(kRows, block.rows - row);
  const int64_t columns = std::min(kColumns, block.columns - column);
  float* corner = block.c + row * block.c_stride + column;
  for (int64_t r = 0; r < rows; ++r) {  // C is called into cache while the products run
    __builtin_prefetch(corner + r * block.c_stride, /*for writing=*/1);
    __builtin_prefetch(corner + r * block.c_stride + columns - 1, 1);
  }
  const Sums sums = multiply_panels(a, b, block.depth, std::make_index_sequence<kRows>());
  for (int64_t r = 0; r < rows; ++r) {
    float* c = corner + r * block.c_stride;
    for (int64_t i = 0, v = 0; i < columns; i += kLanes, ++v) {
      const size_t n = std::min(kLanes, columns - i);
      store(finish(sums.at[2 * r + v], block, column + i, c + i, n), Lanes(), c + i, n);
    }
  }
}

void multiply_block(const PanelBlock& block) {
  const auto* right = static_cast<const float*>(block.right);
  for (int64_t column = 0; column < block.columns; column += kColumns) {
    const auto* left = static_cast<const float*>(block.left);
    for (int64_t row = 0; row < block.rows; row += kRows) {
      multiply_tile(left, right, block, row, column);
      left += block.left_step;
    }
    right += block.right_step;
  }
}

template <bool kRound>
const ProductKernel& kernel() {
  static constexpr ProductKernel kKernel{
      kRows, kColumns, 1, DType::kFloat32, pack_rows<kRound>, pack_columns<kRound>, multiply_block};
  return kKernel;
}

const ProductKernel& float_kernel() { return kernel<false>(); }
const ProductKernel& rounding_kernel() { return kernel<true>(); }

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

const ProductKernel& simd_kernel(Isa isa, Precision precision) {
  return precision == Precision::kFloat32 ? ELIAS_BY_ISA(float_kernel)(isa)()
                                          : ELIAS_BY_ISA(rounding_kernel)(isa)();
}

}  // namespace elias::cpu
#endif
