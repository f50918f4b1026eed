#include "data/io/stored_tensors.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(StoredTensorsTest, WhatIsStoredIsViewed) {
  Tensor floats({2, 3}, DType::kFloat32);
  std::iota(floats.span<float>().begin(), floats.span<float>().end(), 0.5F);
  Tensor halves({5}, DType::kBFloat16);
  halves.span<BFloat16>()[3] = to_bfloat16(-2);
  Tensor ids({1, 2, 1, 2}, DType::kInt32);
  ids.span<int32_t>()[2] = -7;
  const Tensor none({0, 4}, DType::kFloat32);
  const TemporaryFolder folder;
  SafetensorsWriter writer;
  writer.add("floats", stored(floats));
  writer.add("rows", stored(floats.view().slice(1, 2)));
  writer.add("halves", stored(halves));
  writer.add("ids", stored(ids));
  writer.add("none", stored(none));
  writer.write(folder / "f");

  const SafetensorsFile file(folder / "f");
  EXPECT_THAT(view_of(file, "floats", DType::kFloat32, {2, -1}).span<float>(),
              testing::ElementsAre(0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F));
  EXPECT_THAT(view_of(file, "rows", DType::kFloat32, Shape{1, 3}).span<float>(),
              testing::ElementsAre(3.5F, 4.5F, 5.5F));
  EXPECT_EQ(view_of(file, "halves").dtype(), DType::kBFloat16);
  EXPECT_EQ(to_float(view_of(file, "halves").span<BFloat16>()[3]), -2);
  EXPECT_EQ(view_of(file, "ids").shape(), (Shape{1, 2, 1, 2}));
  EXPECT_EQ(view_of(file, "ids").span<int32_t>()[2], -7);
  EXPECT_EQ(view_of(file, "none").shape(), (Shape{0, 4}));
}

TEST(StoredTensorsTest, RefusesWhatIsNotWanted) {
  const std::vector<double> values(4);
  const Tensor floats({2, 3}, DType::kFloat32);
  const std::vector<float> one(1);
  const TemporaryFolder folder;
  SafetensorsWriter writer;
  writer.add("doubles", std::span(values));
  writer.add("floats", stored(floats));
  writer.add("scalar", {StoredType::kF32, {}, std::as_bytes(std::span(one))});
  writer.add("deep", {StoredType::kF32, {1, 1, 1, 1, 1}, std::as_bytes(std::span(one))});
  writer.write(folder / "f");
  const SafetensorsFile file(folder / "f");
  EXPECT_THAT([&] { view_of(file, "doubles"); },
              ThrowsMessage<InputError>(HasSubstr("is of type F64, but must be F32, BF16 or I32")));
  EXPECT_THAT([&] { view_of(file, "scalar"); },
              ThrowsMessage<InputError>(HasSubstr("has 0 dimensions, but must have 1 to 4")));
  EXPECT_THAT([&] { view_of(file, "deep"); },
              ThrowsMessage<InputError>(HasSubstr("has 5 dimensions, but must have 1 to 4")));
  EXPECT_THAT(
      [&] {
        view_of(file, "floats", DType::kFloat32, {2, -1, 3});
      },
      ThrowsMessage<InputError>(HasSubstr("is float32 [2, 3], but must be float32 [2, any, 3]")));
  EXPECT_THAT(
      [&] {
        view_of(file, "floats", DType::kFloat32, Shape{3, 2});
      },
      ThrowsMessage<InputError>(HasSubstr("but must be float32 [3, 2]")));
  EXPECT_THAT(
      [&] {
        view_of(file, "floats", DType::kInt32, {2, 3});
      },
      ThrowsMessage<InputError>(HasSubstr("but must be int32 [2, 3]")));
  EXPECT_THROW(view_of(file, "absent"), InputError);
}

}  // namespace
}  // namespace elias
