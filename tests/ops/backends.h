// What every operator's test is run on: one body, all devices and instruction sets.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

struct Backend {
  Device device;
  Isa isa;
};

/// The CPU under every instruction set this machine has. With `cuda`, for operators that are there,
/// also the GPU of a build and machine that have one.
inline std::vector<Backend> backends(bool cuda) {
  std::vector<Backend> all;
  for (const Isa isa : supported_isas()) all.push_back({Device::kCpu, isa});
  if (cuda && available(Device::kCuda)) all.push_back({Device::kCuda, Isa::kScalar});
  return all;
}

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return std::string(info.param.device == Device::kCuda ? name_of(info.param.device)
                                                        : name_of(info.param.isa));
}

/// Fixture of tests with one body for all back ends. Inputs are made on the CPU, moved by here(),
/// and results come back by back().
class OnBackend : public testing::TestWithParam<Backend> {
 protected:
  Device device() const { return GetParam().device; }
  const Context& context() const { return context_; }

  Tensor here(ConstTensorView tensor) const { return copy_to(device(), tensor); }
  Tensor back(ConstTensorView tensor) const { return copy_to(Device::kCpu, tensor); }
  Tensor zeros(Shape shape, DType dtype = DType::kFloat32) const {
    return Tensor(shape, dtype, device());
  }

 private:
  ThreadPool pool_{2};
  Context context_{pool_, GetParam().isa};
};

/// Runs result(context), which returns CPU tensors, with 1, 2, 3 and 7 threads under every
/// instruction set, and expects the same bits from all thread counts. The thread sanitizer, which
/// makes it a hundred times as slow, sees the same code under one of them.
template <typename Result>
void expect_same_bits_at_any_thread_count(const Result& result) {
#ifdef __SANITIZE_THREAD__
  const std::vector<Isa> isas = {supported_isas().back()};
  const std::vector<int> thread_counts = {1, 3};
#else
  const std::vector<Isa> isas = supported_isas();
  const std::vector<int> thread_counts = {1, 2, 3, 7};
#endif
  for (const Isa isa : isas) {
    std::vector<std::vector<char>> expected;
    for (const int threads : thread_counts) {
      ThreadPool pool(threads);
      const std::vector<Tensor> tensors = result(Context(pool, isa));
      ASSERT_FALSE(tensors.empty());
      std::vector<std::vector<char>> bits;
      for (const Tensor& tensor : tensors) {
        const ConstTensorView view = tensor;
        const auto* first = static_cast<const char*>(view.bytes());
        bits.emplace_back(first, first + view.shape().elements() * size_of(view.dtype()));
      }
      if (expected.empty()) expected = bits;
      EXPECT_TRUE(bits == expected) << threads << " threads, " << name_of(isa);
    }
  }
}

}  // namespace elias
