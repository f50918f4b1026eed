#include "ops/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace elias {
namespace {

bool fits(const Shape& shape, std::initializer_list<int64_t> wanted) {
  if (shape.rank() != static_cast<int>(wanted.size())) return false;
  int axis = 0;
  for (const int64_t size : wanted) {
    if (size != Operand::kAny && shape[axis] != size) return false;
    ++axis;
  }
  return true;
}

std::string wanted_text(std::initializer_list<int64_t> wanted) {
  std::vector<std::string> sizes;
  for (const int64_t size : wanted) {
    sizes.push_back(size == Operand::kAny ? "any" : std::to_string(size));
  }
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

void check_kind(std::string_view op, const NamedView& operand, DType dtype) {
  if (!operand.view) throw InputError("{}: {} is missing", op, operand.name);
  if (operand.view.dtype() != dtype) {
    throw InputError("{}: {} is {}, but must be {}", op, operand.name,
                     name_of(operand.view.dtype()), name_of(dtype));
  }
}

void check_device(std::string_view op, const NamedView& operand, const NamedView& first) {
  if (operand.view.device() != first.view.device()) {
    throw InputError("{}: {} is on {}, but {} is on {}", op, operand.name,
                     name_of(operand.view.device()), first.name, name_of(first.view.device()));
  }
}

}  // namespace

Device check(std::string_view op, std::initializer_list<Operand> operands) {
  const NamedView first{operands.begin()->name, operands.begin()->view};
  for (const Operand& operand : operands) {
    const NamedView named{operand.name, operand.view};
    check_kind(op, named, operand.dtype);
    if (!fits(operand.view.shape(), operand.shape)) {
      throw InputError("{}: {} is {}, but must be {}", op, operand.name,
                       operand.view.shape().text(), wanted_text(operand.shape));
    }
    check_device(op, named, first);
  }
  return first.view.device();
}

Device check_alike(std::string_view op, std::initializer_list<NamedView> operands) {
  const NamedView& first = *operands.begin();
  for (const NamedView& operand : operands) {
    check_kind(op, operand, DType::kFloat32);
    if (operand.view.shape() != first.view.shape()) {
      throw InputError("{}: {} is {}, but {} is {}", op, operand.name, operand.view.shape().text(),
                       first.name, first.view.shape().text());
    }
    check_device(op, operand, first);
  }
  return first.view.device();
}

void check_ids(std::string_view op, std::string_view name, ConstTensorView ids, int64_t bound,
               int64_t lowest) {
  if (ids.device() != Device::kCpu) return;
  const int64_t width = ids.width();
  const auto low = static_cast<uint32_t>(lowest);
  const auto range = static_cast<uint64_t>(bound - lowest);
  for (int64_t row = 0; row < ids.rows(); ++row) {
    const int32_t* id = ids.data<int32_t>() + row * ids.stride();
    // Ids are good as a rule: one look at the farthest, without branches, costs next to nothing.
    uint32_t farthest = 0;
    for (int64_t i = 0; i < width; ++i) {
      farthest = std::max(farthest, static_cast<uint32_t>(id[i]) - low);
    }
    if (width == 0 || farthest < range) continue;
    int64_t i = 0;
    while (id[i] >= lowest && id[i] < bound) ++i;
    throw InputError("{}: {} holds {} at row {}, column {}, but must be in [{}, {})", op, name,
                     id[i], row, i, lowest, bound);
  }
}

void check_offsets(std::string_view op, std::string_view name, ConstTensorView offsets,
                   int64_t last) {
  if (offsets.device() != Device::kCpu) return;
  const auto values = offsets.span<int32_t>();
  if (values.empty()) throw InputError("{}: {} is [0], but must hold a 0 at least", op, name);
  if (values.front() != 0 || values.back() != last) {
    throw InputError("{}: {} run from {} to {}, but must from 0 to {}", op, name, values.front(),
                     values.back(), last);
  }
  const auto fall = std::is_sorted_until(values.begin(), values.end());
  if (fall != values.end()) {
    throw InputError("{}: {} fall from {} to {} at {}, but must rise", op, name, fall[-1], *fall,
                     fall - values.begin());
  }
}

void check_dropout(std::string_view op, float rate) {
  if (rate >= 0 && rate < 1) return;
  throw InputError("{}: the rate of dropout is {}, but must be in [0, 1)", op, rate);
}

}  // namespace elias
