#include "ops/tensor.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "ops/isa.h"
#include "tests/ops/numbers.h"

namespace elias {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

TEST(TensorTest, IsZeroAndAligned) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kInt32}) {
    const Tensor tensor({3, 5}, dtype);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.view().bytes()) % 64, 0);
    EXPECT_EQ(tensor.shape().elements(), 15);
  }
  const Tensor tensor({2, 2}, DType::kFloat32);
  EXPECT_THAT(tensor.span<float>(), ElementsAre(0, 0, 0, 0));
}

TEST(TensorTest, ViewsShareTheElements) {
  Tensor tensor = tensor_of<int32_t>({3, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
  const TensorView view = tensor;
  EXPECT_THAT(view.slice(1, 2).span<int32_t>(), ElementsAre(10, 11, 12, 13));
  const TensorView inner = view.columns(1, 3);
  EXPECT_FALSE(inner.contiguous());
  EXPECT_EQ(inner.stride(), 4);
  EXPECT_THAT(copy_to(Device::kCpu, inner.slice(1, 3)).span<int32_t>(),
              ElementsAre(11, 12, 21, 22));
  EXPECT_THAT(view.reshaped({2, 6}).slice(1, 2).span<int32_t>(),
              ElementsAre(12, 13, 20, 21, 22, 23));
  inner.slice(0, 1).span<int32_t>()[0] = 99;
  EXPECT_EQ(tensor.span<int32_t>()[1], 99);
  EXPECT_THAT(view.reshaped({12}).slice(10, 12).span<int32_t>(), ElementsAre(22, 23));
}

TEST(TensorTest, EmptyTensorsAreFine) {
  const Tensor none({0, 7}, DType::kFloat32);
  EXPECT_TRUE(none.span<float>().empty());
  EXPECT_EQ(copy_to(Device::kCpu, none).shape().text(), "[0, 7]");
  EXPECT_EQ(none.view().slice(0, 0).rows(), 0);
  EXPECT_FALSE(ConstTensorView());
  EXPECT_TRUE(ConstTensorView(none));
}

TEST(TensorTest, MovedFromIsNotGiven) {
  Tensor tensor({2, 2}, DType::kFloat32);
  const Tensor other = std::move(tensor);
  EXPECT_FALSE(tensor);  // NOLINT(bugprone-use-after-move): what this test is about
  EXPECT_TRUE(other);
  EXPECT_FALSE(copy_to(Device::kCpu, {}));
  EXPECT_THROW(copy({}, {}), InputError);
  EXPECT_THROW(ConstTensorView().reshaped({1}), InputError);
}

TEST(TensorTest, RefusesWhatDoesNotFit) {
  Tensor tensor({3, 4}, DType::kFloat32);
  EXPECT_THAT([&] { tensor.view().slice(2, 4); },
              ThrowsMessage<InputError>("entries 2 to 4 are not in a tensor of [3, 4]"));
  EXPECT_THAT([&] { tensor.view().columns(-1, 2); },
              ThrowsMessage<InputError>("columns -1 to 2 are not in a tensor of [3, 4]"));
  EXPECT_THAT([&] { tensor.view().reshaped({5}); },
              ThrowsMessage<InputError>("a tensor of [3, 4] cannot be seen as [5]"));
  EXPECT_THAT([&] { copy(tensor, tensor.view().columns(0, 3)); },
              ThrowsMessage<InputError>("cannot copy float32 [3, 4] to float32 [3, 3]"));
  EXPECT_THAT(
      [] {
        Shape({1, 2, 3, 4, 5});
      },
      ThrowsMessage<InputError>("a tensor has at most 4 dimensions, not 5"));
  EXPECT_THAT([] { Shape({-3}); }, ThrowsMessage<InputError>("a dimension cannot have size -3"));
  EXPECT_THROW(Shape({int64_t{1} << 40, int64_t{1} << 40}), InputError);
  EXPECT_THROW(tensor.span<int32_t>(), InternalError);
}

TEST(TensorTest, WithoutADeviceSaysSo) {
  if (available(Device::kCuda)) GTEST_SKIP() << "there is a GPU";
  EXPECT_THROW(Tensor({1}, DType::kFloat32, Device::kCuda), InputError);
}

TEST(BFloat16Test, RoundsToNearestEven) {
  EXPECT_EQ(to_float(to_bfloat16(1.0F)), 1.0F);
  EXPECT_EQ(to_float(to_bfloat16(1.00390625F)), 1.0F);       // half way, down to even
  EXPECT_EQ(to_float(to_bfloat16(1.01171875F)), 1.015625F);  // half way, up to even
  EXPECT_EQ(to_float(to_bfloat16(1.004F)), 1.0078125F);      // above half way
  EXPECT_TRUE(std::isinf(to_float(to_bfloat16(3.4e38F))));
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::nanf("")))));
}

TEST(IsaTest, ScalarIsAlwaysThere) {
  ASSERT_FALSE(supported_isas().empty());
  EXPECT_EQ(supported_isas().front(), Isa::kScalar);
  EXPECT_EQ(isa_named("scalar"), Isa::kScalar);
}

// The suite runs again under ELIAS_ISA=scalar, see CMakeLists.txt.
TEST(IsaTest, TheEnvironmentChooses) {
  const char* wanted = std::getenv("ELIAS_ISA");
  EXPECT_EQ(chosen_isa(), wanted == nullptr ? supported_isas().back() : isa_named(wanted));
}

TEST(IsaTest, RefusesWhatIsNoneOrNotThere) {
  EXPECT_THAT(
      [] { isa_named("sse9"); },
      ThrowsMessage<InputError>(testing::StartsWith(
          "ELIAS_ISA='sse9' is not an instruction set of this machine: take one of scalar")));
}

}  // namespace
}  // namespace elias
