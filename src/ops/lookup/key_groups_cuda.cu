// Grouping by key on the GPU: a radix sort of pairs (key, position), which keeps the order of
// equals, then the first pair of every key. How many groups there are must come back to the CPU,
// which makes their tensors: here an operator waits for the device.
#include <thrust/iterator/counting_iterator.h>
#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "ops/lookup/key_groups.h"
#include "ops/lookup/weighted_rows.cuh"

namespace elias::cuda {
namespace {

constexpr int kThreads = 256;

// Pads become the highest key, so that they end up behind all groups.
__global__ void make_pairs(const int32_t* given, int32_t n, uint32_t pad, uint32_t* keys,
                           int32_t* positions) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  keys[i] = given[i] < 0 ? pad : static_cast<uint32_t>(given[i]);
  positions[i] = static_cast<int32_t>(i);
}

struct Sizes {
  int32_t groups;     // R
  int32_t positions;  // n'
};

// Leaves the group of pads out, and closes the last group's range.
__global__ void leave_pads_out(const uint32_t* keys, int32_t n, uint32_t pad, int32_t* offsets,
                               Sizes* sizes) {
  const int32_t last = sizes->groups - 1;
  const bool pads = keys[last] == pad;
  sizes->positions = pads ? offsets[last] : n;
  sizes->groups = pads ? last : last + 1;
  offsets[sizes->groups] = sizes->positions;
}

// Calls one of CUB's functions as CUB wants it: first for the size of its scratch memory.
template <typename Call>
void with_scratch(const Call& call) {
  size_t bytes = 0;
  check_call(call(nullptr, bytes));
  const Scratch<std::byte> scratch(static_cast<int64_t>(bytes));
  check_call(call(scratch.data(), bytes));
}

Tensor tensor_of(const void* from, int32_t size) {
  Tensor tensor({size}, DType::kInt32, Device::kCuda);
  if (size > 0) {
    check_call(cudaMemcpyAsync(tensor.view().bytes(), from, size * sizeof(int32_t),
                               cudaMemcpyDeviceToDevice, stream()));
  }
  return tensor;
}

}  // namespace

KeyGroups group_by_key(const Context&, ConstTensorView keys, int64_t bound) {
  const auto n = static_cast<int32_t>(keys.shape().elements());
  if (n == 0) {
    return {tensor_of(nullptr, 0), Tensor({1}, DType::kInt32, Device::kCuda),
            tensor_of(nullptr, 0)};
  }
  const auto pad = static_cast<uint32_t>(bound);
  const int bits = std::max(1, static_cast<int>(std::bit_width(pad)));
  const Scratch<uint32_t> pair_keys(n);
  const Scratch<uint32_t> sorted_keys(n);
  const Scratch<int32_t> pair_positions(n);
  const Scratch<int32_t> positions(n);
  launch(make_pairs, ceil_div<int64_t>(n, kThreads), dim3(kThreads), keys.data<int32_t>(), n, pad,
         pair_keys.data(), pair_positions.data());
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, pair_keys.data(), sorted_keys.data(),
                                           pair_positions.data(), positions.data(), n, 0, bits,
                                           stream());
  });

  // The distinct keys go where the pairs' keys were; each with the place of its first pair.
  const Scratch<int32_t> offsets(int64_t{n} + 1);
  const Scratch<Sizes> sizes(1);
  with_scratch([&](void* scratch, size_t& bytes) {
    return cub::DeviceSelect::UniqueByKey(scratch, bytes, sorted_keys.data(),
                                          thrust::counting_iterator<int32_t>(0), pair_keys.data(),
                                          offsets.data(), &sizes.data()->groups, n, stream());
  });
  launch(leave_pads_out, 1, dim3(1), pair_keys.data(), n, pad, offsets.data(), sizes.data());
  Sizes found{};
  check_call(
      cudaMemcpyAsync(&found, sizes.data(), sizeof(found), cudaMemcpyDeviceToHost, stream()));
  check_call(cudaStreamSynchronize(stream()));
  return {tensor_of(pair_keys.data(), found.groups), tensor_of(offsets.data(), found.groups + 1),
          tensor_of(positions.data(), found.positions)};
}

void sum_by_key(const Context&, const KeyGroups& groups, ConstTensorView values, TensorView sums) {
  sum_weighted_rows(groups.offsets, groups.positions, {}, values, sums);
}

}  // namespace elias::cuda
