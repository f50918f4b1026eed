// The k largest values of every row, exactly, on the GPU.
//
// Value and id make one number, the rank, in which no two places of a row are equal: a higher value
// ranks higher, of equal values the lower id, and a NaN below all else. A row is a block's. It
// takes a threshold, collects what ranks not below it, and sorts that. Should these be less than k
// or too many to sort, it bisects the ranks and collects again: the threshold makes it fast, not
// right.
//
// A row that fits into the block's registers is read once; its threshold is the k-th largest of the
// largest values of the threads, below which none of the k can be, nor much else. The threshold of
// a longer row is guessed from a sample of it in the same way, so that it need not be read twice.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "ops/cuda/rows.cuh"
#include "ops/lookup/top_k.h"

namespace elias::cuda {
namespace {

constexpr int kThreads = 512;    // of a block with a long row
constexpr int kCapacity = 4096;  // ranks such a block sorts
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
template <int kBlock>
__device__ void sort_falling(Rank* ranks, int size) {
  __syncthreads();
  for (int run = 2; run <= size; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      if (distance >= kWarp) {
        __syncthreads();
      } else {
        __syncwarp();
      }
      for (int i = threadIdx.x; i < size / 2; i += kBlock) {
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

// The k-th largest of the largest values of groups of neighbouring threads, of which there are some
// more than k: the lowest of those that less than k are above. k is at most kBlock.
template <int kBlock>
__device__ uint32_t kth_largest(uint32_t own, int k) {
  __shared__ alignas(16) uint32_t largest[kBlock];
  __shared__ uint32_t lowest;
  int groups = min(2 * kWarp, kBlock);
  while (groups < k + k / 4 && groups < kBlock) groups *= 2;
  const int threads = kBlock / groups;  // of a group
  for (int distance = 1; distance < threads; distance *= 2) {
    own = max(own, __shfl_xor_sync(~0U, own, distance));
  }
  if (threadIdx.x % threads == 0) largest[threadIdx.x / threads] = own;
  if (threadIdx.x == 0) lowest = ~0U;
  __syncthreads();
  if (threadIdx.x < groups) {  // whole warps
    own = largest[threadIdx.x];
    int above = 0;
#pragma unroll 4
    for (int i = 0; i < groups / 4; ++i) {
      const uint4 others = reinterpret_cast<const uint4*>(largest)[i];
      above += (others.x > own) + (others.y > own) + (others.z > own) + (others.w > own);
    }
    const uint32_t of_warp = __reduce_min_sync(~0U, above < k ? own : ~0U);
    if (threadIdx.x % kWarp == 0) atomicMin(&lowest, of_warp);
  }
  __syncthreads();
  return lowest;
}

// Collects ranks that are not below the threshold, in any order: for_each(look) calls look(i,
// vector) for the vectors of a row. Returns how many there are, of which the first `capacity` are
// kept.
template <typename ForEach>
__device__ int collect(const ForEach& for_each, Rank threshold, int capacity, Rank* ranks) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const float least = value_of(threshold);
  for_each([&](int64_t i, auto vector) {
    constexpr int kParts = kSize<decltype(vector)>;
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      const float value = part(vector, p);
      if (value < least) continue;  // nearly all; never a NaN, which the rank decides about
      const Rank rank = rank_of(value, i * kParts + p);
      if (rank < threshold) continue;
      const int slot = atomicAdd(&count, 1);
      if (slot < capacity) ranks[slot] = rank;
    }
  });
  __syncthreads();
  const int found = count;
  __syncthreads();  // before count is written again
  return found;
}

// The same from a threshold that may be wrong to one that k to `capacity` ranks are not below.
template <typename ForEach>
__device__ int collect_enough(const ForEach& for_each, Rank threshold, int k, int capacity,
                              Rank* ranks) {
  Rank low = 0;          // more than `capacity` are not below it
  Rank high = ~Rank{0};  // less than k are not below it
  for (;;) {
    const int found = collect(for_each, threshold, capacity, ranks);
    if (found >= k && found <= capacity) return found;
    (found < k ? high : low) = threshold;
    threshold = low + (high - low) / 2;
  }
}

/// Where the k values of this block's row and their ids go.
struct Result {
  int k;
  Matrix<float> values;
  int32_t* ids;
  int64_t ids_stride;

  __device__ void write(int place, Rank rank, const float* row) const {
    const int32_t id = id_of(rank);
    float value = value_of(rank);
    if (value == 0 || isnan(value)) value = row[id];  // which the rank does not tell apart
    values.row<float>(blockIdx.x)[place] = value;
    ids[blockIdx.x * ids_stride + place] = id;
  }
};

// Writes the first k of ranks [found] in order; there is room for the next power of two.
template <int kBlock>
__device__ void write_sorted(Rank* ranks, int found, const float* row, const Result& result) {
  int size = 1;
  while (size < found) size *= 2;
  for (int i = found + threadIdx.x; i < size; i += kBlock) ranks[i] = 0;  // below all others
  sort_falling<kBlock>(ranks, size);
  for (int i = threadIdx.x; i < result.k; i += kBlock) result.write(i, ranks[i], row);
}

constexpr int kMostCounted = 256;

// The same for fewer ranks: the place of each is the number of those above it.
template <int kBlock>
__device__ void write_counted(const Rank* ranks, int found, const float* row,
                              const Result& result) {
  for (int i = threadIdx.x; i < found; i += kBlock) {
    const Rank rank = ranks[i];
    int place = 0;
#pragma unroll 8
    for (int j = 0; j < found; ++j) place += ranks[j] > rank ? 1 : 0;
    if (place < result.k) result.write(place, rank, row);
  }
}

// --- rows in registers ---------------------------------------------------------------------------

template <typename Shape>
inline constexpr int kHeldCapacity = Shape::kThreads <= 64 ? 512 : 1024;

template <typename Shape>
inline constexpr int kBlocks =  // at a time; a row of single floats takes more registers
    std::min(24, (kSize<typename Shape::Vector> == 4 ? 1280 : 1024) / Shape::kThreads);

// A row of W vectors.
template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, kBlocks<Shape>)
    select_held(Matrix<const float> scores, int W, Result result) {
  using Vector = typename Shape::Vector;
  constexpr int kBlock = Shape::kThreads;
  __shared__ alignas(16) Rank ranks[kHeldCapacity<Shape>];  // so that two are read at once
  const float* own = scores.row<float>(blockIdx.x);
  const HeldRow<Shape> row(scores.row<Vector>(blockIdx.x), W);
  float largest = NAN;
  row.for_each([&](int, Vector vector) {
#pragma unroll
    for (int p = 0; p < kSize<Vector>; ++p) largest = fmaxf(largest, part(vector, p));
  });
  const uint32_t order = order_of(largest);
  const uint32_t least = kth_largest<kBlock>(order, result.k);
  // Nothing below the threshold is wanted, also of those that bisection ends at, which are higher.
  const auto for_each = [&](const auto& look) {
    if (order >= least) row.for_each(look);
  };
  const int found =
      collect_enough(for_each, Rank{least} << 32, result.k, kHeldCapacity<Shape>, ranks);
  if (found > kMostCounted) return write_sorted<kBlock>(ranks, found, own, result);
  write_counted<kBlock>(ranks, found, own, result);
}

// --- rows of any length --------------------------------------------------------------------------

// The rank above which a sample of the row says there are a little more than k values. The sample
// is of 8 neighbours each, which are read from memory together.
__device__ Rank guess_threshold(const float* row, int64_t L, int k) {
  constexpr int kNeighbours = 8;
  const int size = L > (int64_t{1} << 18) ? 8 * kThreads : 2 * kThreads;
  const int places = size / kNeighbours;
  float largest = NAN;
  for (int i = threadIdx.x; i < size; i += kThreads) {
    const int64_t id = i / kNeighbours * (L - kNeighbours) / (places - 1) + i % kNeighbours;
    largest = fmaxf(largest, row[id]);
  }
  const float expected = static_cast<float>(k) * static_cast<float>(size) / static_cast<float>(L);
  const int at = static_cast<int>(expected + 3 * sqrtf(expected) + 2);
  return Rank{kth_largest<kThreads>(order_of(largest), min(at, kThreads))} << 32;
}

// Calls body(i, vector) for this thread's vectors of a row of W, some of which are read at a time.
template <typename Vector, typename Body>
__device__ void for_each_in_memory(const Vector* row, int64_t W, const Body& body) {
  constexpr int kBatch = 4;
  int64_t i = threadIdx.x;
  for (; i + (kBatch - 1) * kThreads < W; i += kBatch * kThreads) {
    Vector batch[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) batch[j] = row[i + j * kThreads];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) body(i + j * kThreads, batch[j]);
  }
  for (; i < W; i += kThreads) body(i, row[i]);
}

template <typename Vector>
__global__ void __launch_bounds__(kThreads, 3)
    select_in_memory(Matrix<const float> scores, int64_t L, Result result) {
  __shared__ Rank ranks[kCapacity];
  const float* own = scores.row<float>(blockIdx.x);
  const Vector* row = scores.row<Vector>(blockIdx.x);
  int found = static_cast<int>(L);
  if (L <= kCapacity) {
    for (int i = threadIdx.x; i < found; i += kThreads) ranks[i] = rank_of(own[i], i);
  } else {
    const auto for_each = [&](const auto& look) {
      for_each_in_memory(row, L / kSize<Vector>, look);
    };
    const Rank threshold = guess_threshold(own, L, result.k);
    found = collect_enough(for_each, threshold, result.k, kCapacity, ranks);
  }
  write_sorted<kThreads>(ranks, found, own, result);
}

template <typename Vector>
void select(ConstTensorView scores, const Result& result) {
  const int64_t N = scores.rows();
  const int64_t L = scores.width();
  const int64_t W = L / kSize<Vector>;
  // By as few threads as have the row in their registers, and are some more than k.
  const auto held = [&](auto shape) {
    using Shape = decltype(shape);
    constexpr int kBlock = Shape::kThreads;
    if (W > kBlock * Shape::kHeld || result.k + result.k / 4 > kBlock) return false;
    launch(select_held<Shape>, N, dim3(kBlock), matrix(scores), static_cast<int>(W), result);
    return true;
  };
  constexpr int kHeld = 32 / kSize<Vector>;
  if (held(RowShape<Vector, 32, kHeld>()) || held(RowShape<Vector, 64, kHeld>()) ||
      held(RowShape<Vector, 128, kHeld>()) || held(RowShape<Vector, 256, kHeld>()) ||
      held(RowShape<Vector, 512, kHeld>())) {
    return;
  }
  launch(select_in_memory<Vector>, N, dim3(kThreads), matrix(scores), L, result);
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
  const Result result{static_cast<int>(k), matrix(values), ids.data<int32_t>(), ids.stride()};
  if (in_float4({scores})) {
    select<float4>(scores, result);
  } else {
    select<float>(scores, result);
  }
}

}  // namespace elias::cuda
