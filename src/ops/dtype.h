// The element types of tensors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elias {

enum class DType : uint8_t { kFloat32, kBFloat16, kInt32 };

/// The upper half of a float: its range, 8 bits of its precision.
struct BFloat16 {
  uint16_t bits;
};

/// Rounds to nearest, ties to even; a NaN stays one.
inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

constexpr size_t size_of(DType dtype) { return dtype == DType::kBFloat16 ? 2 : 4; }

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kInt32:
      return "int32";
  }
  return "?";
}

/// The DType of a C++ type; there is none for types that tensors do not have.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType kValue = DType::kFloat32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType kValue = DType::kBFloat16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType kValue = DType::kInt32;
};
template <typename T>
inline constexpr DType kDTypeOf = DTypeOf<T>::kValue;

}  // namespace elias
