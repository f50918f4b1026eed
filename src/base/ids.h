// Ids that cannot be mixed up: a LabelId is not a ClusterId is not a row number.
#pragma once

#include <compare>
#include <cstdint>

namespace elias {

template <typename Tag>
class Id {
 public:
  using Value = uint32_t;

  constexpr Id() = default;
  constexpr explicit Id(Value value) : value_(value) {}
  constexpr Value value() const { return value_; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 misreads what the compiler generates.
  constexpr auto operator<=>(const Id&) const = default;

 private:
  Value value_ = 0;
};

using LabelId = Id<struct LabelTag>;
using ClusterId = Id<struct ClusterTag>;

}  // namespace elias
