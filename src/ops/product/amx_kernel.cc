// The product's innermost part in bf16, on tiles (Intel AMX).
//
// A tile register holds 16 rows of 64 bytes. One instruction adds the product of a tile of A, 16
// rows x 32 k, and a tile of B, 32 k x 16 columns, to a tile of C, 16 x 16 floats. In a tile of B a
// row holds two consecutive k of each column side by side. Of the eight tiles four hold a block of
// C of 32 x 32, two a slice of A and two one of B: four loads for four products.
//
// A panel is a sequence of slices of 32 k, each of two tiles of 1 KiB.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/errors.h"
#include "ops/product/product.h"

#if defined(__x86_64__)
#include <immintrin.h>

// A function attribute, not a flag: only these functions may contain such instructions.
#define ELIAS_AMX \
  __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace elias::cpu {
namespace {

constexpr int64_t kTile = 16;                      // rows, or columns, of a tile
constexpr int64_t kDepth = 32;                     // k values of a tile
constexpr int64_t kPanel = 2 * kTile;              // rows of a panel of A, columns of one of B
constexpr int64_t kTileElements = kTile * kDepth;  // bf16 values
constexpr int64_t kSliceElements = 2 * kTileElements;

// 32 floats as bf16.
ELIAS_AMX inline __m512i to_bf16(const float* low, const float* high) {
  return reinterpret_cast<__m512i>(
      _mm512_cvtne2ps_pbh(_mm512_loadu_ps(high), _mm512_loadu_ps(low)));
}

// The 16 x 16 matrix of 32-bit values in `rows`, transposed.
ELIAS_AMX inline void transpose(__m512i (&rows)[kTile]) {
  __m512i pairs[kTile];
  for (int i = 0; i < kTile; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  __m512i
      quads[kTile];  // quads[4 g + j] has columns j, 4 + j, 8 + j, 12 + j of rows 4 g .. 4 g + 3
  for (int i = 0; i < kTile; i += 4) {
    quads[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int j = 0; j < 4; ++j) {
    const __m512i even_top = _mm512_shuffle_i32x4(quads[j], quads[4 + j], 0x88);
    const __m512i odd_top = _mm512_shuffle_i32x4(quads[j], quads[4 + j], 0xdd);
    const __m512i even_bottom = _mm512_shuffle_i32x4(quads[8 + j], quads[12 + j], 0x88);
    const __m512i odd_bottom = _mm512_shuffle_i32x4(quads[8 + j], quads[12 + j], 0xdd);
    rows[j] = _mm512_shuffle_i32x4(even_top, even_bottom, 0x88);
    rows[4 + j] = _mm512_shuffle_i32x4(odd_top, odd_bottom, 0x88);
    rows[8 + j] = _mm512_shuffle_i32x4(even_top, even_bottom, 0xdd);
    rows[12 + j] = _mm512_shuffle_i32x4(odd_top, odd_bottom, 0xdd);
  }
}

// What a tile is made from: 16 lines (rows of A, columns of B) of 32 k. `along`: the k of a line
// are next to each other in memory, lines `stride` apart; else the lines are next to each other.
struct TileSource {
  const float* data;
  int64_t stride;
  bool along;
};

// The tile as 16 vectors, line by line with k along it (`by_line`, as A wants it), or pair of k by
// pair with the lines along it (as B wants it). The one is the other's transpose in 32-bit units.
ELIAS_AMX inline void read_tile(const TileSource& source, bool by_line, __m512i (&rows)[kTile]) {
  const float* data = source.data;
  if (source.along) {
    for (int line = 0; line < kTile; ++line, data += source.stride) {
      rows[line] = to_bf16(data, data + kTile);
    }
  } else {
    alignas(64) static constexpr uint16_t kInterleave[2 * kTile] = {
        0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i order = _mm512_load_si512(kInterleave);
    for (int pair = 0; pair < kTile; ++pair, data += 2 * source.stride) {
      rows[pair] = _mm512_permutexvar_epi16(order, to_bf16(data, data + source.stride));
    }
  }
  if (source.along != by_line) transpose(rows);
}

// A tile at the edge, of `lines` lines and `depth` k: copied first to where zeros surround it.
ELIAS_AMX void read_edge_tile(const TileSource& source, int64_t lines, int64_t depth, bool by_line,
                              __m512i (&rows)[kTile]) {
  alignas(64) float padded[kTile * kDepth] = {};
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t k = 0; k < depth; ++k) {
      padded[line * kDepth + k] =
          source.data[source.along ? line * source.stride + k : k * source.stride + line];
    }
  }
  read_tile({padded, kDepth, true}, by_line, rows);
}

ELIAS_AMX void pack_panel(const TileSource& source, int64_t lines, int64_t depth, bool by_line,
                          uint16_t* panel) {
  const int64_t line_step = source.along ? source.stride : 1;
  const int64_t depth_step = source.along ? 1 : source.stride;
  for (int64_t k = 0; k < depth; k += kDepth) {
    for (int64_t line = 0; line < kPanel; line += kTile) {
      const TileSource part{source.data + line * line_step + k * depth_step, source.stride,
                            source.along};
      const int64_t lines_left = std::clamp<int64_t>(lines - line, 0, kTile);
      const int64_t depth_left = std::min(kDepth, depth - k);
      __m512i rows[kTile];
      if (lines_left == kTile && depth_left == kDepth) {
        read_tile(part, by_line, rows);
      } else {
        read_edge_tile(part, lines_left, depth_left, by_line, rows);
      }
      for (int i = 0; i < kTile; ++i) _mm512_store_si512(panel + i * kDepth, rows[i]);
      panel += kTileElements;
    }
  }
}

void pack_rows(const Matrix& a, int64_t rows, int64_t depth, void* panel) {
  pack_panel({a.data, a.stride, !a.transposed}, rows, depth, /*by_line=*/true,
             static_cast<uint16_t*>(panel));
}

void pack_columns(const Matrix& b, int64_t columns, int64_t depth, void* panel) {
  pack_panel({b.data, b.stride, b.transposed}, columns, depth, /*by_line=*/false,
             static_cast<uint16_t*>(panel));
}

// All eight tiles: 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// c [32, 32] = start + the product of one panel of A and one of B, where start is c (`accumulate`),
// the bias, or zero. On the way the lines of C are called into cache.
//
// The sums go from tiles to C directly: a detour by a buffer, to add things there, costs half as
// much time again, since the next tile's products cannot start before the buffer was read.
ELIAS_AMX inline void multiply_panels(const uint16_t* a, const uint16_t* b, int64_t depth,
                                      bool accumulate, const float* bias, float* c,
                                      int64_t c_stride) {
  constexpr int64_t kRowBytes = 64;
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
    _tile_stream_loadd(4, a, kRowBytes);
    _tile_loadd(7, b + kTileElements, kRowBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_stream_loadd(5, a + kTileElements, kRowBytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
    a += kSliceElements;
    b += kSliceElements;
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
ELIAS_AMX void multiply_edge(const uint16_t* a, const uint16_t* b, int64_t depth, bool accumulate,
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

ELIAS_AMX void multiply_block(const PanelBlock& block) {
  const TileConfiguration configuration;
  _tile_loadconfig(&configuration);
  const auto* right = static_cast<const uint16_t*>(block.right);
  for (int64_t column = 0; column < block.columns; column += kPanel, right += block.right_step) {
    const int64_t columns = std::min(kPanel, block.columns - column);
    alignas(64) float bias_row[kPanel] = {};
    if (block.bias != nullptr) std::copy_n(block.bias + column, columns, bias_row);
    const float* bias = block.bias == nullptr ? nullptr : bias_row;
    const auto* left = static_cast<const uint16_t*>(block.left);
    float* c = block.c + column;
    for (int64_t row = 0; row < block.rows; row += kPanel, left += block.left_step) {
      const int64_t rows = std::min(kPanel, block.rows - row);
      float* corner = c + row * block.c_stride;
      if (rows == kPanel && columns == kPanel) {
        multiply_panels(left, right, block.depth, block.accumulate, bias, corner, block.c_stride);
      } else {
        multiply_edge(left, right, block.depth, block.accumulate, bias, rows, columns, corner,
                      block.c_stride);
      }
    }
    if (block.activation == Activation::kRelu) relu(c, block.c_stride, block.rows, columns);
  }
  _tile_release();
}

}  // namespace

const ProductKernel& amx_kernel() {
  static constexpr ProductKernel kKernel{kPanel,    kPanel,       kDepth,        DType::kBFloat16,
                                         pack_rows, pack_columns, multiply_block};
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
