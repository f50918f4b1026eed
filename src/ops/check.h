// Checks every operator makes of its operands, with the numbers in the message.
#pragma once

#include <initializer_list>
#include <string_view>

#include "ops/tensor.h"

namespace elias {

/// An operand and its name in messages, with the type and shape the operator wants of it.
/// A size of kAny fits any size.
struct Operand {
  static constexpr int64_t kAny = -1;

  std::string_view name;
  const ConstTensorView& view;
  DType dtype;
  std::initializer_list<int64_t> shape;
};

/// Throws InputError, in the name of `op`, at the first operand that is missing, has another type
/// or shape than wanted, or is on another device than the first. Returns that device.
Device check(std::string_view op, std::initializer_list<Operand> operands);

/// What an operator asks of an operand that may be bfloat16 on the CPU, where that halves the bytes
/// to read; kernels of the GPU read float32 alone.
inline DType float_type_of(ConstTensorView view) {
  const bool halves = view.dtype() == DType::kBFloat16 && view.device() == Device::kCpu;
  return halves ? DType::kBFloat16 : DType::kFloat32;
}

/// Throws InputError unless a rate of dropout is in [0, 1).
void check_dropout(std::string_view op, float rate);

/// An operand of an operator that works value by value, and its name in messages.
struct NamedView {
  std::string_view name;
  const ConstTensorView& view;
};

/// The same for operands of any one shape, that of the first, and float32.
Device check_alike(std::string_view op, std::initializer_list<NamedView> operands);

/// Throws InputError if an id is outside [lowest, bound). Only ids in CPU memory are looked at.
void check_ids(std::string_view op, std::string_view name, ConstTensorView ids, int64_t bound,
               int64_t lowest = 0);

/// Throws InputError unless offsets [any] rise from 0 to `last`. As above.
void check_offsets(std::string_view op, std::string_view name, ConstTensorView offsets,
                   int64_t last);

}  // namespace elias
