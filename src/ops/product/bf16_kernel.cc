// The product's innermost part in bf16, on vectors (AVX-512 BF16).
//
// One instruction multiplies 16 pairs of values with 16 others and adds both products of each pair
// to one of 16 floats. A block of C, 8 rows x up to 3 vectors of columns, is held in registers
// while a panel of A and one of B go by, both pair by pair (bf16_panels.h): for each pair of k up
// to three vectors of B, and of each row one pair, which meets all of them. Nothing else would fit
// into 32 registers, and 8 sums for each vector hide how long an addition takes.
//
// A panel of A has 16 rows, which are two such blocks, or, where there is one vector of columns
// left, one of 16 rows.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/errors.h"
#include "ops/product/bf16_panels.h"
#include "ops/product/product.h"

#if defined(__x86_64__)

namespace elias::cpu {
namespace {

using bf16::kDepth;
using bf16::kTile;
using bf16::kTileElements;

constexpr int64_t kRows = kTile;
constexpr int64_t kVectors = 3;
constexpr int64_t kColumns = kVectors * kTile;
constexpr int64_t kPairs = kDepth / 2;  // of a slice

void pack_rows(const Matrix& a, int64_t rows, int64_t depth, void* panel) {
  with_elements(a, [&](const auto* first) {
    bf16::pack_panel(bf16::tile_source(first, a.stride, /*along=*/!a.transposed), rows, kRows,
                     depth,
                     /*by_line=*/false, static_cast<uint16_t*>(panel));
  });
}

void pack_columns(const Matrix& b, int64_t columns, int64_t depth, void* panel) {
  with_elements(b, [&](const auto* first) {
    bf16::pack_panel(bf16::tile_source(first, b.stride, /*along=*/b.transposed), columns, kColumns,
                     depth, /*by_line=*/false, static_cast<uint16_t*>(panel));
  });
}

ELIAS_AVX512_BF16 inline __m512bh pairs_at(const uint16_t* from) {
  return reinterpret_cast<__m512bh>(_mm512_load_si512(from));
}

ELIAS_AVX512_BF16 inline __m512bh one_pair_at(const uint16_t* from) {
  int32_t pair = 0;
  __builtin_memcpy(&pair, from, sizeof(pair));
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
}

// The sums that `start` says, of one vector of columns.
ELIAS_AVX512_BF16 inline __m512 started(const PanelBlock& block, int64_t column, const float* c,
                                        __mmask16 used) {
  if (block.accumulate) return _mm512_maskz_loadu_ps(used, c);
  if (block.bias != nullptr) return _mm512_maskz_loadu_ps(used, block.bias + column);
  return _mm512_setzero_ps();
}

ELIAS_AVX512_BF16 inline void finish(const PanelBlock& block, __m512 sum, __mmask16 used,
                                     float* c) {
  // Where one operand is NaN the maximum is the second, so a NaN stays.
  if (block.activation == Activation::kRelu) sum = _mm512_max_ps(_mm512_setzero_ps(), sum);
  _mm512_mask_storeu_ps(c, used, sum);
}

// Of a block of C that starts at `row` and `column`, `rows` rows of at most kBlockRows; `a` is the
// panel of A from the first of these rows on, `b` the panel of B.
template <int kBlockRows, int kBlockVectors>
ELIAS_AVX512_BF16 void multiply_tile(const PanelBlock& block, const uint16_t* a, const uint16_t* b,
                                     int64_t row, int64_t rows, int64_t column) {
  const int64_t columns = std::min<int64_t>(kBlockVectors * kTile, block.columns - column);
  float* const corner = block.c + row * block.c_stride + column;
  for (int64_t r = 0; r < rows; ++r) {  // C is called into cache while the products run
    for (int64_t i = 0; i < columns; i += kTile) {
      __builtin_prefetch(corner + r * block.c_stride + i, /*for writing=*/1);
    }
  }
  __m512 sums[kBlockRows][kBlockVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < kBlockVectors; ++v) sums[r][v] = _mm512_setzero_ps();
  }
  for (int64_t k = 0; k < block.depth; k += kDepth) {
    for (int64_t pair = 0; pair < kPairs; ++pair) {
      __m512bh right[kBlockVectors];
#pragma GCC unroll 3
      for (int v = 0; v < kBlockVectors; ++v) {
        right[v] = pairs_at(b + v * kTileElements + pair * kDepth);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kBlockRows; ++r) {
        const __m512bh left = one_pair_at(a + pair * kDepth + int64_t{2} * r);
#pragma GCC unroll 3
        for (int v = 0; v < kBlockVectors; ++v) {
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], left, right[v]);
        }
      }
    }
    a += kTileElements;
    b += kVectors * kTileElements;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kBlockRows; ++r) {
    if (r >= rows) break;
    float* const c = corner + r * block.c_stride;
#pragma GCC unroll 3
    for (int v = 0; v < kBlockVectors; ++v) {
      const int64_t left = std::clamp<int64_t>(columns - v * kTile, 0, kTile);
      const auto used = static_cast<__mmask16>((1U << left) - 1);
      const __m512 start = started(block, column + v * kTile, c + v * kTile, used);
      finish(block, _mm512_add_ps(start, sums[r][v]), used, c + v * kTile);
    }
  }
}

// All rows of one panel of B, of which kBlockVectors vectors of columns are used.
template <int kBlockRows, int kBlockVectors>
void multiply_panel(const PanelBlock& block, const uint16_t* b, int64_t column) {
  const auto* const left = static_cast<const uint16_t*>(block.left);
  for (int64_t row = 0; row < block.rows; row += kBlockRows) {
    const uint16_t* const a = left + row / kRows * block.left_step + row % kRows * 2;
    multiply_tile<kBlockRows, kBlockVectors>(
        block, a, b, row, std::min<int64_t>(kBlockRows, block.rows - row), column);
  }
}

void multiply_block(const PanelBlock& block) {
  const auto* b = static_cast<const uint16_t*>(block.right);
  for (int64_t column = 0; column < block.columns; column += kColumns, b += block.right_step) {
    const int64_t columns = std::min(kColumns, block.columns - column);
    if (columns <= kTile) {
      multiply_panel<16, 1>(block, b, column);
    } else if (columns <= 2 * kTile) {
      multiply_panel<8, 2>(block, b, column);
    } else {
      multiply_panel<8, 3>(block, b, column);
    }
  }
}

}  // namespace

const ProductKernel& bf16_kernel() {
  static constexpr ProductKernel kKernel{kRows,     kColumns,     kDepth,        DType::kBFloat16,
                                         pack_rows, pack_columns, multiply_block};
  return kKernel;
}

}  // namespace elias::cpu

#else

namespace elias::cpu {

const ProductKernel& bf16_kernel() {
  throw InternalError(
      "AVX-512 is of x86-64 processors; Isa::kAvx512Bf16 is never supported elsewhere");
}

}  // namespace elias::cpu

#endif
