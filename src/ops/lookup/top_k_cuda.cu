// The k largest values of every row, exactly, on the GPU.
//
// Value and id make one number, the rank, in which no two places of a row are equal: a higher value
// ranks higher, of equal values the lower id, and a NaN below all else. A row is a block's. It
// guesses a threshold from a sample of the row, collects what ranks above it in one pass over the
// row, and sorts that. Should these be less than k or too many to sort, it bisects the ranks and
// passes over the row again: the guess makes it fast, not right.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "ops/cuda/rows.cuh"
#include "ops/lookup/top_k.h"

namespace elias::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kCapacity = 4096;  // ranks a block sorts
constexpr int kMostByBlock = kCapacity / 2;

using Rank = uint64_t;

// Rises with the value; -0 is 0.
__device__ uint32_t order_of(float value) {
  if (isnan(value)) return 0;
  const uint32_t bits = __float_as_uint(value + 0.0F);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}

__device__ Rank rank_of(float value, int64_t id) {
  return Rank{order_of(value)} << 32 | ~static_cast<uint32_t>(id);
}

// A value of that order or, where there is none, one between those above and those below it, or
// NaN.
__device__ float value_of(Rank rank) {
  const auto order = static_cast<uint32_t>(rank >> 32);
  return __uint_as_float((order >> 31) != 0 ? order & 0x7fffffffU : ~order);
}

__device__ int32_t id_of(Rank rank) { return static_cast<int32_t>(~static_cast<uint32_t>(rank)); }

// Sorts ranks [size] to fall; size is a power of two. All threads of the block call it. Pairs less
// than a warp apart are in 64 ranks that are the same warp's all the while, which then need not
// wait for others.
__device__ void sort_falling(Rank* ranks, int size) {
  __syncthreads();
  for (int run = 2; run <= size; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      if (distance >= kWarp) {
        __syncthreads();
      } else {
        __syncwarp();
      }
      for (int i = threadIdx.x; i < size / 2; i += kThreads) {
        const int low = 2 * i - (i & (distance - 1));
        const Rank a = ranks[low];
        const Rank b = ranks[low + distance];
        if ((a < b) != ((low & run) == 0)) continue;
        ranks[low] = b;
        ranks[low + distance] = a;
      }
    }
  }
  __syncthreads();
}

// The rank above which a sample of the row says there are a little more than k values. The sample
// is of 8 neighbours each, which are read from memory together.
__device__ Rank guess_threshold(const float* row, int64_t L, int k, Rank* ranks) {
  constexpr int kNeighbours = 8;
  const int size = L > (int64_t{1} << 18) ? kCapacity : kCapacity / 4;
  const int places = size / kNeighbours;
  for (int i = threadIdx.x; i < size; i += kThreads) {
    const int64_t id = i / kNeighbours * (L - kNeighbours) / (places - 1) + i % kNeighbours;
    ranks[i] = rank_of(row[id], id);
  }
  sort_falling(ranks, size);
  const float expected = static_cast<float>(k) * static_cast<float>(size) / static_cast<float>(L);
  const int at = static_cast<int>(expected + 3 * sqrtf(expected) + 2);
  const Rank threshold = ranks[min(at, size) - 1];
  __syncthreads();  // before ranks is written again
  return threshold;
}

// Collects the ranks of a row of W vectors that are not below the threshold, in any order, and
// returns how many there are, of which the first kCapacity are kept.
template <typename Vector>
__device__ int collect(const Vector* row, int64_t W, Rank threshold, Rank* ranks) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const float least = value_of(threshold);
  const auto look = [&](Vector vector, int64_t i) {
#pragma unroll
    for (int p = 0; p < kSize<Vector>; ++p) {
      const float value = part(vector, p);
      if (value < least) continue;  // nearly all; never a NaN, which the rank decides about
      const Rank rank = rank_of(value, i * kSize<Vector> + p);
      if (rank < threshold) continue;
      const int slot = atomicAdd(&count, 1);
      if (slot < kCapacity) ranks[slot] = rank;
    }
  };
  constexpr int kBatch = 4;
  int64_t i = threadIdx.x;
  for (; i + (kBatch - 1) * kThreads < W; i += kBatch * kThreads) {
    Vector batch[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) batch[j] = row[i + j * kThreads];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) look(batch[j], i + j * kThreads);
  }
  for (; i < W; i += kThreads) look(row[i], i);
  __syncthreads();
  const int found = count;
  __syncthreads();  // before count is written again
  return found;
}

template <typename Vector>
__global__ void __launch_bounds__(kThreads, 3)
    select_rows(Matrix<const float> scores, int64_t L, int k, Matrix<float> values, int32_t* ids,
                int64_t ids_stride) {
  __shared__ Rank ranks[kCapacity];
  const int64_t row = blockIdx.x;
  const float* own = scores.row<float>(row);
  int found = static_cast<int>(L);
  if (L <= kCapacity) {
    for (int i = threadIdx.x; i < found; i += kThreads) ranks[i] = rank_of(own[i], i);
  } else {
    Rank low = 0;          // more than kCapacity are not below it
    Rank high = ~Rank{0};  // less than k are not below it
    Rank threshold = guess_threshold(own, L, k, ranks);
    for (;;) {
      found = collect(scores.row<Vector>(row), L / kSize<Vector>, threshold, ranks);
      if (found >= k && found <= kCapacity) break;
      (found < k ? high : low) = threshold;
      threshold = low + (high - low) / 2;
    }
  }
  int size = 1;
  while (size < found) size *= 2;
  for (int i = found + threadIdx.x; i < size; i += kThreads) ranks[i] = 0;  // below all others
  sort_falling(ranks, size);
  for (int i = threadIdx.x; i < k; i += kThreads) {
    const int32_t id = id_of(ranks[i]);
    values.row<float>(row)[i] = own[id];
    ids[row * ids_stride + i] = id;
  }
}

// --- the other way, for k too large for a block: sort the rows -----------------------------------

constexpr int64_t kMostToSort = int64_t{1} << 25;  // places at a time, which bounds the memory

__global__ void make_pairs(Matrix<const float> scores, int64_t L, int64_t places, uint32_t* orders,
                           int32_t* ids) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= places) return;
  orders[i] = order_of(scores.row<float>(i / L)[i % L]);
  ids[i] = static_cast<int32_t>(i % L);
}

__global__ void take_first(Matrix<const float> scores, const int32_t* sorted, int64_t L, int64_t k,
                           int64_t places, Matrix<float> values, int32_t* ids, int64_t ids_stride) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= places) return;
  const int64_t row = i / k;
  const int32_t id = sorted[row * L + i % k];
  values.row<float>(row)[i % k] = scores.row<float>(row)[id];
  ids[row * ids_stride + i % k] = id;
}

struct TimesL {
  int64_t L;
  __host__ __device__ int64_t operator()(int64_t row) const { return row * L; }
};

void sort_rows(ConstTensorView scores, TensorView values, TensorView ids) {
  const int64_t rows = scores.rows();
  const int64_t L = scores.width();
  const int64_t k = values.width();
  const int64_t places = rows * L;
  const Scratch<uint32_t> orders(places);
  const Scratch<uint32_t> sorted_orders(places);
  const Scratch<int32_t> columns(places);
  const Scratch<int32_t> sorted_columns(places);
  launch(make_pairs, ceil_div<int64_t>(places, kThreads), dim3(kThreads), matrix(scores), L, places,
         orders.data(), columns.data());
  const auto begins =
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), TimesL{L});
  // A sort keeps the order of equals, which is that of their ids.
  const auto sort = [&](void* scratch, size_t& bytes) {
    return cub::DeviceSegmentedRadixSort::SortPairsDescending(
        scratch, bytes, orders.data(), sorted_orders.data(), columns.data(), sorted_columns.data(),
        places, rows, begins, begins + 1, 0, 32, stream());
  };
  size_t bytes = 0;
  check_call(sort(nullptr, bytes));
  const Scratch<std::byte> scratch(static_cast<int64_t>(bytes));
  check_call(sort(scratch.data(), bytes));
  launch(take_first, ceil_div<int64_t>(rows * k, kThreads), dim3(kThreads), matrix(scores),
         sorted_columns.data(), L, k, rows * k, matrix(values), ids.data<int32_t>(), ids.stride());
}

}  // namespace

void top_k(const Context&, ConstTensorView scores, TensorView values, TensorView ids) {
  const int64_t N = scores.rows();
  const int64_t L = scores.width();
  const int64_t k = values.width();
  if (k > kMostByBlock) {
    const int64_t rows = std::max<int64_t>(1, kMostToSort / L);
    for (int64_t begin = 0; begin < N; begin += rows) {
      const int64_t end = std::min(begin + rows, N);
      sort_rows(scores.slice(begin, end), values.slice(begin, end), ids.slice(begin, end));
    }
    return;
  }
  const auto kernel = in_float4({scores}) ? select_rows<float4> : select_rows<float>;
  launch(kernel, N, dim3(kThreads), matrix(scores), L, static_cast<int>(k), matrix(values),
         ids.data<int32_t>(), ids.stride());
}

}  // namespace elias::cuda
