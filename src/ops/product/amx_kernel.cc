// The product's innermost part in bf16, on tiles (Intel AMX).
//
// A tile register holds 16 rows of 64 bytes. One instruction adds the product of a tile of A, 16
// rows x 32 k, and a tile of B, 32 k x 16 columns, to a tile of C, 16 x 16 floats. Of the eight
// tiles four hold a block of C of 32 x 32, two a slice of A, line by line, and two one of B, pair
// by pair (bf16_panels.h): four loads for four products.
#include <algorithm>
#include <cstdint>

#include "base/errors.h"
#include "ops/product/bf16_panels.h"
#include "ops/product/product.h"

#if defined(__x86_64__)

// A function attribute, not a flag: only these functions may contain such instructions.
#define ELIAS_AMX \
  __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace elias::cpu {
namespace {

using bf16::kDepth;
using bf16::kTile;
using bf16::kTileElements;

constexpr int64_t kPanel = 2 * kTile;  // rows of a panel of A, columns of one of B
constexpr int64_t kSliceElements = 2 * kTileElements;

void pack_rows(const Matrix& a, int64_t rows, int64_t depth, void* panel) {
  with_elements(a, [&](const auto* first) {
    bf16::pack_panel(bf16::tile_source(first, a.stride, /*along=*/!a.transposed), rows, kPanel,
                     depth, /*by_line=*/true, static_cast<uint16_t*>(panel));
  });
}

void pack_columns(const Matrix& b, int64_t columns, int64_t depth, void* panel) {
  with_elements(b, [&](const auto* first) {
    bf16::pack_panel(bf16::tile_source(first, b.stride, /*along=*/b.transposed), columns, kPanel,
                     depth, /*by_line=*/false, static_cast<uint16_t*>(panel));
  });
}

// All eight tiles: 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Where the tiles of a panel of A lie: packed, or 32 rows of a matrix that is bfloat16 itself.
struct LeftPanel {
  const uint16_t* data;
  int64_t stride = kDepth;         // elements from one row to the next
  int64_t slice = kSliceElements;  // from one slice of k to the next
  const char* ahead = nullptr;     // as many bytes are called into cache on the way; or null
};

// c [32, 32] = start + the product of one panel of A and one of B, where start is c (`accumulate`),
// the bias, or zero. On the way the lines of C are called into cache.
//
// The sums go from tiles to C directly: a detour by a buffer, to add things there, costs half as
// much time again, since the next tile's products cannot start before the buffer was read.
ELIAS_AMX inline void multiply_panels(const LeftPanel& left, const uint16_t* b, int64_t depth,
                                      bool accumulate, const float* bias, float* c,
                                      int64_t c_stride) {
  constexpr int64_t kRowBytes = 64;
  const uint16_t* a = left.data;
  const int64_t a_bytes = left.stride * static_cast<int64_t>(sizeof(uint16_t));
  const char* ahead = left.ahead;
  const int64_t c_bytes = c_stride * static_cast<int64_t>(sizeof(float));
  float* lower = c + kTile * c_stride;
  if (accumulate) {
    _tile_loadd(0, c, c_bytes);
    _tile_loadd(1, c + kTile, c_bytes);
    _tile_loadd(2, lower, c_bytes);
    _tile_loadd(3, lower + kTile, c_bytes);
  } else if (bias != nullptr) {  // the same 16 values for all rows
    _tile_loadd(0, bias, 0);
    _tile_loadd(1, bias + kTile, 0);
    _tile_loadd(2, bias, 0);
    _tile_loadd(3, bias + kTile, 0);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const float* line = c;
  for (int64_t k = 0; k < depth; k += kDepth) {
    // A passes by while B stays for the other panels of A: the streaming load leaves B in the
    // first- level cache, which a panel of B fills.
    _tile_loadd(6, b, kRowBytes);
    _tile_stream_loadd(4, a, a_bytes);
    _tile_loadd(7, b + kTileElements, kRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_stream_loadd(5, a + kTile * left.stride, a_bytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    a += left.slice;
    b += kSliceElements;
    if (ahead != nullptr) {
      for (int64_t i = 0; i < kPanel; ++i, ahead += kRowBytes) __builtin_prefetch(ahead, 0, 2);
    }
    if (k < kPanel / 2 * kDepth) {
      for (int i = 0; i < 2; ++i, line += c_stride) {
        __builtin_prefetch(line, /*for writing=*/1);
        __builtin_prefetch(line + kTile, 1);
      }
    }
  }
  _tile_stored(0, c, c_bytes);
  _tile_stored(1, c + kTile, c_bytes);
  _tile_stored(2, lower, c_bytes);
  _tile_stored(3, lower + kTile, c_bytes);
}

ELIAS_AMX void relu(float* c, int64_t c_stride, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < columns; i += kTile) {
      float* at = c + row * c_stride + i;
      const auto mask = static_cast<__mmask16>((1U << std::min(kTile, columns - i)) - 1);
      const __m512 value = _mm512_maskz_loadu_ps(mask, at);
      // Where one operand is NaN the maximum is the second, so a NaN stays.
      _mm512_mask_storeu_ps(at, mask, _mm512_max_ps(_mm512_setzero_ps(), value));
    }
  }
}

// A block of C at the edge, of `rows` x `columns`: computed in a buffer of the full size.
ELIAS_AMX void multiply_edge(const LeftPanel& a, const uint16_t* b, int64_t depth, bool accumulate,
                             const float* bias, int64_t rows, int64_t columns, float* c,
                             int64_t c_stride) {
  alignas(64) float whole[kPanel * kPanel] = {};
  for (int64_t row = 0; accumulate && row < rows; ++row) {
    std::copy_n(c + row * c_stride, columns, whole + row * kPanel);
  }
  multiply_panels(a, b, depth, accumulate, bias, whole, kPanel);
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(whole + row * kPanel, columns, c + row * c_stride);
  }
}

// left(panel, first): where a panel of A lies, and whether it is met for the first time.
template <typename Left>
ELIAS_AMX inline void multiply_all(const PanelBlock& block, const Left& left) {
  const TileConfiguration configuration;
  _tile_loadconfig(&configuration);
  const auto* right = static_cast<const uint16_t*>(block.right);
  for (int64_t column = 0; column < block.columns; column += kPanel, right += block.right_step) {
    const int64_t columns = std::min(kPanel, block.columns - column);
    alignas(64) float bias_row[kPanel] = {};
    if (block.bias != nullptr) std::copy_n(block.bias + column, columns, bias_row);
    const float* bias = block.bias == nullptr ? nullptr : bias_row;
    float* c = block.c + column;
    for (int64_t row = 0; row < block.rows; row += kPanel) {
      const LeftPanel panel = left(row / kPanel, /*first=*/column == 0);
      const int64_t rows = std::min(kPanel, block.rows - row);
      float* corner = c + row * block.c_stride;
      if (rows == kPanel && columns == kPanel) {
        multiply_panels(panel, right, block.depth, block.accumulate, bias, corner, block.c_stride);
      } else {
        multiply_edge(panel, right, block.depth, block.accumulate, bias, rows, columns, corner,
                      block.c_stride);
      }
    }
    if (block.activation == Activation::kRelu) relu(c, block.c_stride, block.rows, columns);
  }
  _tile_release();
}

ELIAS_AMX void multiply_block(const PanelBlock& block) {
  multiply_all(block, [&](int64_t panel, bool) {
    return LeftPanel{static_cast<const uint16_t*>(block.left) + panel * block.left_step};
  });
}

// Rows of bfloat16 are what tiles hold: 64 bytes of each at a time.
ELIAS_AMX void multiply_rows(const PanelBlock& block, const BFloat16* rows, int64_t stride) {
  multiply_all(block, [&](int64_t panel, bool first) {
    const BFloat16* const data = rows + panel * kPanel * stride;
    return LeftPanel{
        .data = reinterpret_cast<const uint16_t*>(data),
        .stride = stride,
        .slice = kDepth,
        .ahead = first ? reinterpret_cast<const char*>(data + kPanel * stride) : nullptr};
  });
}

}  // namespace

const ProductKernel& amx_kernel() {
  static constexpr ProductKernel kKernel{kPanel,    kPanel,       kDepth,         DType::kBFloat16,
                                         pack_rows, pack_columns, multiply_block, multiply_rows};
  return kKernel;
}

}  // namespace elias::cpu

#else

namespace elias::cpu {

const ProductKernel& amx_kernel() {
  throw InternalError("tiles are of x86-64 processors; Isa::kAmx is never supported elsewhere");
}

}  // namespace elias::cpu

#endif
