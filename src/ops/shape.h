// The sizes of a tensor, outermost first: [N, D] is N rows of D values, row after row.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace elias {

class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  /// Throws InputError for more than kMaxRank sizes, a negative one, or a product beyond 2^60.
  Shape(std::initializer_list<int64_t> sizes);

  int rank() const { return rank_; }
  /// Size of dimension `axis`; a negative axis counts from the last.
  int64_t operator[](int axis) const;
  int64_t elements() const { return rank_ == 0 ? 1 : rows() * sizes_[rank_ - 1]; }
  /// The product of all sizes but the last.
  int64_t rows() const;

  /// The same shape with `size` in place of dimension `axis`.
  Shape with(int axis, int64_t size) const;

  bool operator==(const Shape& other) const = default;

  /// As messages show it: "[4096, 768]".
  std::string text() const;

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

}  // namespace elias
