// How kernels that multiply bf16 pack their operands, in AVX-512.
//
// A panel is a sequence of slices of 32 k, a slice a sequence of tiles, a tile 16 lines (rows of A,
// columns of B) x 32 k in 1 KiB. It lies line by line with k along it, or pair by pair: the two
// values of a line for k and k + 1 side by side, then those of the next line. The one is the
// other's transpose in 32-bit units.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/dtype.h"
#include "ops/product/product.h"

#if defined(__x86_64__)
#include <immintrin.h>

// A function attribute, not a flag: only these functions may contain such instructions.
#define ELIAS_AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace elias::cpu::bf16 {

constexpr int64_t kTile = 16;   // lines
constexpr int64_t kDepth = 32;  // k values
constexpr int64_t kTileElements = kTile * kDepth;

// 32 floats as bf16.
ELIAS_AVX512_BF16 inline __m512i rounded(const float* low, const float* high) {
  return reinterpret_cast<__m512i>(
      _mm512_cvtne2ps_pbh(_mm512_loadu_ps(high), _mm512_loadu_ps(low)));
}

// The 16 x 16 matrix of 32-bit values in `rows`, transposed.
ELIAS_AVX512_BF16 inline void transpose(__m512i (&rows)[kTile]) {
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

// What a tile is made from. `along`: the k of a line are next to each other in memory, lines
// `stride` apart; else the lines are next to each other.
template <typename Value>
struct TileSource {
  const Value* data;
  int64_t stride;
  bool along;

  const Value* at(int64_t line, int64_t k) const {
    return data + (along ? line * stride + k : k * stride + line);
  }
};

template <typename Value>
TileSource<Value> tile_source(const Value* data, int64_t stride, bool along) {
  return {data, stride, along};
}

// 32 k of one line.
ELIAS_AVX512_BF16 inline __m512i read_along(const float* from) {
  return rounded(from, from + kTile);
}
ELIAS_AVX512_BF16 inline __m512i read_along(const BFloat16* from) {
  return _mm512_loadu_si512(from);
}

// 16 lines of one k, and of the next `stride` behind, one after the other.
ELIAS_AVX512_BF16 inline __m512i read_across(const float* from, int64_t stride) {
  return rounded(from, from + stride);
}
ELIAS_AVX512_BF16 inline __m512i read_across(const BFloat16* from, int64_t stride) {
  const auto* low = reinterpret_cast<const __m256i*>(from);
  const auto* high = reinterpret_cast<const __m256i*>(from + stride);
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(low)),
                            _mm256_loadu_si256(high), 1);
}

// A tile as 16 vectors.
template <typename Value>
ELIAS_AVX512_BF16 inline void read_tile(const TileSource<Value>& source, bool by_line,
                                        __m512i (&rows)[kTile]) {
  const Value* data = source.data;
  if (source.along) {
    for (int line = 0; line < kTile; ++line, data += source.stride) rows[line] = read_along(data);
  } else {
    alignas(64) static constexpr uint16_t kInterleave[2 * kTile] = {
        0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i order = _mm512_load_si512(kInterleave);
    for (int pair = 0; pair < kTile; ++pair, data += 2 * source.stride) {
      rows[pair] = _mm512_permutexvar_epi16(order, read_across(data, source.stride));
    }
  }
  if (source.along != by_line) transpose(rows);
}

// A tile at the edge, of `lines` lines and `depth` k: copied first to where zeros surround it.
template <typename Value>
ELIAS_AVX512_BF16 void read_edge_tile(const TileSource<Value>& source, int64_t lines, int64_t depth,
                                      bool by_line, __m512i (&rows)[kTile]) {
  alignas(64) Value padded[kTileElements] = {};
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t k = 0; k < depth; ++k) padded[line * kDepth + k] = *source.at(line, k);
  }
  read_tile(TileSource<Value>{padded, kDepth, /*along=*/true}, by_line, rows);
}

// `lines` of the `panel_lines` lines of a panel, a multiple of kTile; the others are zeros.
template <typename Value>
ELIAS_AVX512_BF16 void pack_panel(const TileSource<Value>& source, int64_t lines,
                                  int64_t panel_lines, int64_t depth, bool by_line,
                                  uint16_t* panel) {
  for (int64_t k = 0; k < depth; k += kDepth) {
    for (int64_t line = 0; line < panel_lines; line += kTile) {
      const TileSource<Value> part{source.at(line, k), source.stride, source.along};
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

}  // namespace elias::cpu::bf16

#endif
