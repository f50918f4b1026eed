#include "ops/cuda/column_sums.cuh"

namespace elias::cuda {
namespace {

constexpr int kColumns = 32;  // of a block
constexpr int kParts = 32;    // in which the chunks are summed side by side

__global__ void add_up(const float* partial, int64_t stride, int64_t chunks, int64_t width,
                       float* total) {
  __shared__ float sums[kParts][kColumns];
  const int64_t column = int64_t{blockIdx.x} * kColumns + threadIdx.x;
  const int64_t part_size = ceil_div<int64_t>(chunks, kParts);
  const int64_t begin = threadIdx.y * part_size;
  const int64_t end = min(begin + part_size, chunks);
  float sum = 0;
  if (column < width) {
#pragma unroll 8
    for (int64_t chunk = begin; chunk < end; ++chunk) sum += partial[chunk * stride + column];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= width) return;
  for (int part = 1; part < kParts; ++part) sum += sums[part][threadIdx.x];
  total[column] += sum;
}

}  // namespace

void add_partial_sums(const float* partial, int64_t stride, int64_t chunks, int64_t width,
                      float* total) {
  launch(add_up, ceil_div<int64_t>(width, kColumns), dim3(kColumns, kParts), partial, stride,
         chunks, width, total);
}

}  // namespace elias::cuda
