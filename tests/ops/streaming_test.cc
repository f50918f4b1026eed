// Results stored past the caches are those of common stores, bit for bit.
#include <gtest/gtest.h>

#include "ops/cpu/streaming.h"
#include "ops/rows/dropout.h"
#include "ops/rows/layer_norm.h"
#include "ops/rows/relu.h"
#include "ops/rows/softmax_clamp.h"
#include "tests/ops/backends.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

class StreamingTest : public OnBackend {
 protected:
  ~StreamingTest() override { cpu::streaming_threshold() = usual_; }

  // Runs work(result) with common stores, then past the caches, into rows that are aligned, are
  // not, and have gaps between them; what is in the gaps must stay.
  template <typename Work>
  void expect_same_bits(Shape shape, const Work& work) {
    Tensor expected(shape, DType::kFloat32);
    cpu::streaming_threshold() = usual_;
    ASSERT_FALSE(cpu::streams(expected, {}));
    work(expected.view());
    cpu::streaming_threshold() = -1;
    const int64_t width = shape[-1];
    for (const int64_t gap : {int64_t{0}, 16 - width % 16, int64_t{5}}) {
      SCOPED_TRACE(testing::Message() << shape.text() << " gap " << gap);
      Tensor wide = random_floats(shape.with(-1, width + gap), 9);
      const Tensor before = copy_to(Device::kCpu, wide);
      const TensorView result = wide.view().columns(0, width);
      EXPECT_EQ(cpu::streams(result, {}), (width + gap) % 16 == 0);
      work(result);
      expect_near(copy_to(Device::kCpu, result), values_of<double>(expected), 0);
      expect_near(
          copy_to(Device::kCpu, wide.view().columns(width, width + gap)),
          values_of<double>(copy_to(Device::kCpu, before.view().columns(width, width + gap))), 0);
    }
  }

 private:
  int64_t usual_ = cpu::streaming_threshold();
};
INSTANTIATE_TEST_SUITE_P(Everywhere, StreamingTest, testing::ValuesIn(backends(/*cuda=*/false)),
                         backend_name);

TEST_P(StreamingTest, OperatorsGiveTheSameBits) {
  for (const Shape& shape : {Shape{7, 64}, Shape{9, 77}, Shape{2, 20'000}}) {
    const Tensor x = random_floats(shape, 1);
    const Tensor y = random_floats(shape, 2);
    Tensor per_row({shape[0]}, DType::kFloat32);
    Tensor inverse({shape[0]}, DType::kFloat32);
    Tensor per_column({shape[1]}, DType::kFloat32);
    expect_same_bits(shape, [&](TensorView result) { relu(context(), x, result); });
    expect_same_bits(shape, [&](TensorView result) { relu_backward(context(), x, y, result); });
    expect_same_bits(shape, [&](TensorView result) {
      dropout(context(), x, 0.3F, {1, 2}, result);
    });
    expect_same_bits(shape,
                     [&](TensorView result) { softmax_clamp(context(), x, 9, result, per_row); });
    expect_same_bits(shape, [&](TensorView result) {
      softmax_clamp_backward(context(), y, x, per_row, 9, result);
    });
    const Tensor gain = random_floats({shape[1]}, 3);
    expect_same_bits(shape, [&](TensorView result) {
      layer_norm(context(), x, gain, gain, 1e-5F, result, {per_row, inverse});
    });
    expect_same_bits(shape, [&](TensorView result) {
      layer_norm_backward(context(), y, x, gain, {per_row, inverse}, result, per_column,
                          per_column);
    });
  }
}

TEST_P(StreamingTest, NotInPlace) {
  Tensor x = random_floats({4, 64}, 1);
  cpu::streaming_threshold() = -1;
  EXPECT_TRUE(cpu::streams(x, {}));
  EXPECT_FALSE(cpu::streams(x, {x}));
}

TEST(StreamingThreadsTest, SameBitsAtAnyThreadCount) {
  const int64_t usual = cpu::streaming_threshold();
  cpu::streaming_threshold() = -1;
  const Shape shape{200, 256};
  const Tensor x = random_floats(shape, 1);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    std::vector<Tensor> results;
    for (int i = 0; i < 3; ++i) results.emplace_back(shape, DType::kFloat32);
    results.emplace_back(Shape{200}, DType::kFloat32);
    relu(context, x, results[0]);
    dropout(context, x, 0.3F, {1, 2}, results[1]);
    softmax_clamp(context, x, 9, results[2], results[3]);
    return results;
  });
  cpu::streaming_threshold() = usual;
}

}  // namespace
}  // namespace elias
