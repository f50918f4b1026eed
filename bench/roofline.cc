// Intrinsics, since what a compiler makes of a plain loop is not a bound.
#include "bench/roofline.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/errors.h"

namespace elias::bench {
namespace {

constexpr size_t kChunk = 16384;  // values

// Results go here, so that the compiler cannot leave out what makes them.
std::atomic<float> sink;

// Ten sums run side by side: two units with a latency of four need eight.
constexpr int kSums = 10;
constexpr int kSteps = 2'000'000;

__attribute__((target("avx2,fma"))) double multiply_add_avx2() {
  const __m256 factor = _mm256_set1_ps(0.5F);
  __m256 sums[kSums];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1.0F);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 10
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  }
  for (const __m256& sum : sums) sink = _mm256_cvtss_f32(sum);
  return 2.0 * 8 * kSums * kSteps;
}

__attribute__((target("avx512f"))) double multiply_add_avx512() {
  const __m512 factor = _mm512_set1_ps(0.5F);
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1.0F);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 10
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  }
  for (const __m512& sum : sums) sink = _mm512_cvtss_f32(sum);
  return 2.0 * 16 * kSums * kSteps;
}

__attribute__((target("avx512f,avx512bf16"))) double multiply_add_bf16() {
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f003f00));  // 0.5
  constexpr int kBf16Sums = 16;
  __m512 sums[kBf16Sums];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1.0F);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 16
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, factor, factor);
  }
  for (const __m512& sum : sums) sink = _mm512_cvtss_f32(sum);
  return 2.0 * 32 * kBf16Sums * kSteps;
}

// As the processor reads it: sixteen rows of 64 bytes in each of the eight tiles.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  std::array<uint8_t, 14> reserved{};
  std::array<uint16_t, 16> bytes_per_row{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

// Four accumulators of 16 x 16, of two tiles by two, as a matrix product has them: each step loads
// four tiles of 16 x 32 and uses every one twice.
__attribute__((target("amx-tile,amx-bf16"))) double multiply_add_amx() {
  const TileConfig config;
  AlignedBuffer<uint16_t> tiles(4 * 512);  // 1 KiB each
  constexpr int kTileSteps = 1'000'000;
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int step = 0; step < kTileSteps; ++step) {
    _tile_loadd(4, tiles.data(), 64);
    _tile_loadd(5, tiles.data() + 512, 64);
    _tile_loadd(6, tiles.data() + 1024, 64);
    _tile_loadd(7, tiles.data() + 1536, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 2.0 * 16 * 16 * 32 * 4 * kTileSteps;
}

bool has(Isa isa) { return supported_isas().back() >= isa; }

// Four run side by side.
__attribute__((target("avx2"))) float largest_avx2(const float* values, size_t count) {
  __m256 largest[4];
  for (__m256& one : largest) one = _mm256_set1_ps(values[0]);
  for (size_t i = 0; i + 32 <= count; i += 32) {
    for (size_t k = 0; k < 4; ++k) {
      largest[k] = _mm256_max_ps(largest[k], _mm256_loadu_ps(values + i + 8 * k));
    }
  }
  const __m256 all =
      _mm256_max_ps(_mm256_max_ps(largest[0], largest[1]), _mm256_max_ps(largest[2], largest[3]));
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, all);
  return *std::max_element(lanes, lanes + 8);
}

// GCC 12 takes the header's plain max for a use of something not initialised (GCC bug 105593).
__attribute__((target("avx512f"))) __m512 max_avx512(__m512 a, __m512 b) {
  return _mm512_maskz_max_ps(0xffff, a, b);
}

__attribute__((target("avx512f"))) float largest_avx512(const float* values, size_t count) {
  __m512 largest[4];
  for (__m512& one : largest) one = _mm512_set1_ps(values[0]);
  for (size_t i = 0; i + 64 <= count; i += 64) {
    for (size_t k = 0; k < 4; ++k) {
      largest[k] = max_avx512(largest[k], _mm512_loadu_ps(values + i + 16 * k));
    }
  }
  const __m512 all =
      max_avx512(max_avx512(largest[0], largest[1]), max_avx512(largest[2], largest[3]));
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, all);
  return *std::max_element(lanes, lanes + 16);
}

// Whole lines at a time are faster than halves.
__attribute__((target("avx512f"))) void copy_avx512(const float* from, float* to, size_t count) {
  for (size_t i = 0; i + 16 <= count; i += 16) {
    _mm512_stream_ps(to + i, _mm512_loadu_ps(from + i));
  }
}

__attribute__((target("avx2"))) void copy_avx2(const float* from, float* to, size_t count) {
  for (size_t i = 0; i + 16 <= count; i += 16) {
    _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
    _mm256_stream_ps(to + i + 8, _mm256_loadu_ps(from + i + 8));
  }
}

}  // namespace

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double multiply_add(ThreadPool& pool, Isa isa) {
  const auto work = isa == Isa::kAmx          ? multiply_add_amx
                    : isa == Isa::kAvx512Bf16 ? multiply_add_bf16
                    : isa == Isa::kAvx512     ? multiply_add_avx512
                                              : multiply_add_avx2;
  std::vector<double> operations(pool.threads());
  pool.for_each(operations.size(), [&](size_t i) { operations[i] = work(); });
  return operations[0] * static_cast<double>(operations.size());
}

float largest(ThreadPool& pool, std::span<const float> values) {
  ELIAS_ASSERT(!values.empty() && values.size() % 64 == 0);
  const auto work = has(Isa::kAvx512) ? largest_avx512 : largest_avx2;
  std::vector<float> of_chunk(chunk_count(values.size(), kChunk));
  pool.for_chunks(values.size(), kChunk, [&](size_t chunk, size_t begin, size_t end) {
    of_chunk[chunk] = work(values.data() + begin, end - begin);
  });
  return *std::max_element(of_chunk.begin(), of_chunk.end());
}

void copy(ThreadPool& pool, std::span<const float> from, std::span<float> to) {
  ELIAS_ASSERT(from.size() == to.size() && from.size() % 64 == 0);
  const auto work = has(Isa::kAvx512) ? copy_avx512 : copy_avx2;
  pool.for_chunks(from.size(), kChunk, [&](size_t, size_t begin, size_t end) {
    work(from.data() + begin, to.data() + begin, end - begin);
    _mm_sfence();
  });
}

}  // namespace elias::bench
