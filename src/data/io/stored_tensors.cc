#include "data/io/stored_tensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "base/errors.h"

namespace elias {
namespace {

StoredType stored_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return StoredType::kF32;
    case DType::kBFloat16:
      return StoredType::kBf16;
    case DType::kInt32:
      return StoredType::kI32;
  }
  ELIAS_ASSERT(false);
  return {};
}

// A stored size is below 2^63 unless the tensor is empty; Shape refuses what is negative then.
Shape shape_of(const StoredTensor& tensor) {
  const auto size = [&](size_t axis) { return static_cast<int64_t>(tensor.shape[axis]); };
  switch (tensor.shape.size()) {
    case 1:
      return {size(0)};
    case 2:
      return {size(0), size(1)};
    case 3:
      return {size(0), size(1), size(2)};
    case 4:
      return {size(0), size(1), size(2), size(3)};
    default:
      return {};
  }
}

std::string wanted_text(DType dtype, std::span<const int64_t> shape) {
  std::string sizes;
  for (const int64_t size : shape) {
    if (!sizes.empty()) sizes += ", ";
    sizes += size < 0 ? "any" : std::to_string(size);
  }
  return fmt::format("{} [{}]", name_of(dtype), sizes);
}

ConstTensorView checked_view(const SafetensorsFile& file, const std::string& name, DType dtype,
                             std::span<const int64_t> shape) {
  const ConstTensorView view = view_of(file, name);
  bool fits = view.dtype() == dtype && view.rank() == static_cast<int>(shape.size());
  for (int axis = 0; fits && axis < view.rank(); ++axis) {
    fits = shape[axis] < 0 || shape[axis] == view.shape()[axis];
  }
  if (!fits) {
    throw InputError(
        "{}: tensor {} is {} {}, but must be {}: it is not the file that is needed here",
        file.name(), name, name_of(view.dtype()), view.shape().text(), wanted_text(dtype, shape));
  }
  return view;
}

// A number of 16 bits: sign, 5 of exponent, 10 of fraction.
float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1FU, fraction = half & 0x3FFU;
  if (exponent == 0) {  // zero, or below the normal numbers
    return std::bit_cast<float>(sign | 0x3F800000U) * static_cast<float>(fraction) * 0x1p-24F;
  }
  const uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <typename T, typename ToFloat>
void convert(const StoredTensor& tensor, std::span<float> values, const ToFloat& to_float_of) {
  const auto* from = reinterpret_cast<const T*>(tensor.bytes.data());
  std::transform(from, from + values.size(), values.begin(), to_float_of);
}

std::vector<uint64_t> sizes_of(const Shape& shape) {
  std::vector<uint64_t> sizes(static_cast<size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis) {
    sizes[static_cast<size_t>(axis)] = static_cast<uint64_t>(shape[axis]);
  }
  return sizes;
}

}  // namespace

StoredTensor stored(ConstTensorView tensor) {
  ELIAS_ASSERT(tensor && tensor.contiguous() && tensor.device() == Device::kCpu);
  StoredTensor result{.type = stored_type(tensor.dtype()), .shape = {}, .bytes = {}};
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    result.shape.push_back(static_cast<uint64_t>(tensor.shape()[axis]));
  }
  result.bytes = {static_cast<const std::byte*>(tensor.bytes()),
                  static_cast<size_t>(tensor.shape().elements()) * size_of(tensor.dtype())};
  return result;
}

ConstTensorView view_of(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor& tensor = file.tensor(name);
  const Shape shape = shape_of(tensor);
  if (shape.rank() == 0) {
    throw InputError("{}: tensor {} has {} dimensions, but must have 1 to {}", file.name(), name,
                     tensor.shape.size(), Shape::kMaxRank);
  }
  switch (tensor.type) {
    case StoredType::kF32:
      return {reinterpret_cast<const float*>(tensor.bytes.data()), shape};
    case StoredType::kBf16:
      return {reinterpret_cast<const BFloat16*>(tensor.bytes.data()), shape};
    case StoredType::kI32:
      return {reinterpret_cast<const int32_t*>(tensor.bytes.data()), shape};
    default:
      throw InputError("{}: tensor {} is of type {}, but must be F32, BF16 or I32", file.name(),
                       name, stored_type_name(tensor.type));
  }
}

ConstTensorView view_of(const SafetensorsFile& file, const std::string& name, DType dtype,
                        std::initializer_list<int64_t> shape) {
  return checked_view(file, name, dtype, {shape.begin(), shape.size()});
}

ConstTensorView view_of(const SafetensorsFile& file, const std::string& name, DType dtype,
                        Shape shape) {
  std::vector<int64_t> sizes;
  sizes.reserve(shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis]);
  return checked_view(file, name, dtype, sizes);
}

void require_floats(const SafetensorsFile& file, const std::string& name, const Shape& shape) {
  const StoredTensor& tensor = file.tensor(name);
  if (tensor.shape != sizes_of(shape)) {
    throw InputError("{}: tensor {} is [{}], but must be {}: it does not fit its config.json",
                     file.name(), name, fmt::join(tensor.shape, ", "), shape.text());
  }
  if (tensor.type == StoredType::kF32 || tensor.type == StoredType::kBf16 ||
      tensor.type == StoredType::kF16) {
    return;
  }
  throw InputError("{}: tensor {} is of type {}, but must be F32, F16 or BF16", file.name(), name,
                   stored_type_name(tensor.type));
}

void copy_floats(const SafetensorsFile& file, const std::string& name, TensorView to) {
  require_floats(file, name, to.shape());
  const StoredTensor& tensor = file.tensor(name);
  const auto values = to.span<float>();
  if (tensor.type == StoredType::kF32) {
    convert<float>(tensor, values, [](float value) { return value; });
  } else if (tensor.type == StoredType::kBf16) {
    convert<BFloat16>(tensor, values, [](BFloat16 value) { return to_float(value); });
  } else {
    convert<uint16_t>(tensor, values, half_to_float);
  }
  const auto wrong =
      std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (wrong == values.end()) return;
  throw InputError(
      "{}: tensor {} holds {}, but weights must be finite: copy the file again, or give one from "
      "before its training went wrong",
      file.name(), name, *wrong);
}

}  // namespace elias
