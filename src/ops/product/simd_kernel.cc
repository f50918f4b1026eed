// The product's innermost part in float32, on vectors.
//
// A tile of C, kRows x two vectors, is held in registers while one panel of A and one of B go by:
// for each k two vectors of B and kRows single values of A, each of which meets both. kRows is what
// the registers leave room for: 14 x 2 sums of the 32 of AVX-512, 6 x 2 of the 16 of AVX2.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "ops/product/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/simd_kernel.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = HWY_LANES(float);
constexpr int kRows = kLanes == 16 ? 14 : kLanes == 8 ? 6 : 4;
constexpr int64_t kColumns = 2 * kLanes;
// Up to so many columns are taken one by one.
constexpr int64_t kFewColumns = std::min<int64_t>(4, kLanes);

HWY_INLINE float value_of(float value, bool to_bf16) {
  return to_bf16 ? to_float(to_bfloat16(value)) : value;
}
HWY_INLINE float value_of(BFloat16 value, bool) { return to_float(value); }

// A panel [depth, kWidth] of `width` lines: element (k, line) is data[line * line_step + k *
// depth_step]. Zeros beyond width.
template <int64_t kWidth, bool kRound, typename Value>
HWY_INLINE void pack(const Value* data, int64_t line_step, int64_t depth_step, int64_t width,
                     int64_t depth, float* panel) {
  for (int64_t k = 0; k < depth; ++k, data += depth_step, panel += kWidth) {
    for (int64_t i = 0; i < width; ++i) panel[i] = value_of(data[i * line_step], kRound);
    for (int64_t i = width; i < kWidth; ++i) panel[i] = 0;
  }
}

// One loop for each way the memory lies and for full panels, so that the compiler knows the inner
// one's length and whether it is over consecutive values.
template <int64_t kWidth, bool kRound, typename Value>
void pack_panel(const Value* data, int64_t stride, bool along, int64_t width, int64_t depth,
                float* panel) {
  if (width < kWidth) {
    pack<kWidth, kRound>(data, along ? stride : 1, along ? 1 : stride, width, depth, panel);
  } else if (along) {
    pack<kWidth, kRound>(data, stride, 1, kWidth, depth, panel);
  } else {
    pack<kWidth, kRound>(data, 1, stride, kWidth, depth, panel);
  }
}

// The vectors of a square of values become those of its columns: each of these passes takes the
// lowest bit of a value's place in its vector to the top of the vector's number.
HWY_INLINE void transpose([[maybe_unused]] Vector (&square)[kLanes]) {
#if HWY_TARGET != HWY_SCALAR  // whose single lane is its own column
  const Lanes d;
  for (int64_t pass = 1; pass < kLanes; pass *= 2) {
    Vector next[kLanes];
    for (int64_t i = 0; i < kLanes / 2; ++i) {
      next[i] = hn::ConcatEven(d, square[2 * i + 1], square[2 * i]);
      next[i + kLanes / 2] = hn::ConcatOdd(d, square[2 * i + 1], square[2 * i]);
    }
    for (int64_t i = 0; i < kLanes; ++i) square[i] = next[i];
  }
#endif
}

// A whole panel of rows as they lie, square by square. What a vector holds beyond the panel's kRows
// values is written over by the next.
template <typename Value>
void pack_whole(const Value* a, int64_t stride, int64_t depth, float* panel) {
  const Lanes d;
  Vector square[kLanes];
  const auto take = [&](int64_t k, size_t n) HWY_ATTR {
    for (int64_t row = 0; row < kRows; ++row) {
      hwy::Prefetch(a + (row + kRows) * stride + k);  // of the next panel
      square[row] = load(d, a + row * stride + k, n);
    }
    for (int64_t row = kRows; row < kLanes; ++row) square[row] = hn::Zero(d);
    transpose(square);
  };
  int64_t k = 0;
  for (; k + kLanes < depth; k += kLanes) {
    take(k, kLanes);
    for (int64_t i = 0; i < kLanes; ++i) hn::StoreU(square[i], d, panel + (k + i) * kRows);
  }
  take(k, static_cast<size_t>(depth - k));
  for (int64_t i = 0; k + i < depth; ++i) store(square[i], d, panel + (k + i) * kRows, kRows);
}

template <bool kRound>
void pack_rows(const Matrix& a, int64_t rows, int64_t depth, void* panel) {
  auto* const to = static_cast<float*>(panel);
  with_elements(a, [&](const auto* data) {
    constexpr bool kExact = !kRound || !std::is_same_v<decltype(data), const float*>;
    if constexpr (kExact && kLanes >= kRows) {
      if (!a.transposed && rows == kRows) return pack_whole(data, a.stride, depth, to);
    }
    pack_panel<kRows, kRound>(data, a.stride, !a.transposed, rows, depth, to);
  });
}

template <bool kRound>
void pack_columns(const Matrix& b, int64_t columns, int64_t depth, void* panel) {
  with_elements(b, [&](const auto* data) {
    pack_panel<kColumns, kRound>(data, b.stride, b.transposed, columns, depth,
                                 static_cast<float*>(panel));
  });
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

// The rows [row, row + kPanels * kRows) of one column, with rows in the places of vectors. Each sum
// is taken as in a tile, so that it does not depend on the number of columns. A vector reaches
// beyond the kRows values of its k, but for the last of a panel.
template <int64_t kPanels>
HWY_INLINE void multiply_column(const float* a, const float* b, const PanelBlock& block,
                                int64_t row, float* to) {
  const Lanes d;
  Vector sums[kPanels];
  for (int64_t p = 0; p < kPanels; ++p) sums[p] = hn::Zero(d);
  const auto add = [&](int64_t k, size_t n) HWY_ATTR {
    const Vector value = hn::Set(d, b[k * kColumns]);
    for (int64_t p = 0; p < kPanels; ++p) {
      sums[p] = hn::MulAdd(load(d, a + p * block.left_step + k * kRows, n), value, sums[p]);
    }
  };
  for (int64_t k = 0; k + 1 < block.depth; ++k) add(k, kLanes);
  if (block.depth > 0) add(block.depth - 1, kRows);
  for (int64_t p = 0; p < kPanels; ++p) {
    HWY_ALIGN float own[kLanes];
    hn::Store(sums[p], d, own);
    const int64_t rows = std::min<int64_t>(kRows, block.rows - row - p * kRows);
    for (int64_t r = 0; r < rows; ++r) to[(p * kRows + r) * kLanes] = own[r];
  }
}

// All rows of few columns, which would leave most of a tile empty.
void multiply_columns(const PanelBlock& block) {
  constexpr int64_t kPanels = 8;
  const auto* left = static_cast<const float*>(block.left);
  const auto* const right = static_cast<const float*>(block.right);
  const auto columns = static_cast<size_t>(block.columns);
  const auto multiply = [&](auto panels, int64_t row) {
    constexpr int64_t kTaken = decltype(panels)::value;
    HWY_ALIGN float sums[kTaken * kRows * kLanes];
    for (int64_t column = 0; column < block.columns; ++column) {
      multiply_column<kTaken>(left, right + column, block, row, sums + column);
    }
    for (int64_t r = 0; r < std::min(kTaken * kRows, block.rows - row); ++r) {
      float* const c = block.c + (row + r) * block.c_stride;
      const Vector sum = load(Lanes(), sums + r * kLanes, columns);
      store(finish(sum, block, 0, c, columns), Lanes(), c, columns);
    }
    left += kTaken * block.left_step;
  };
  int64_t row = 0;
  for (; row + (kPanels - 1) * kRows < block.rows; row += kPanels * kRows) {
    multiply(std::integral_constant<int64_t, kPanels>(), row);
  }
  for (; row < block.rows; row += kRows) multiply(std::integral_constant<int64_t, 1>(), row);
}

void multiply_block(const PanelBlock& block) {
  if (kLanes >= kRows && block.columns <= kFewColumns) return multiply_columns(block);
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
