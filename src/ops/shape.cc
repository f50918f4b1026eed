#include "ops/shape.h"

#include <fmt/ranges.h>

#include <span>

#include "base/errors.h"

namespace elias {

Shape::Shape(std::initializer_list<int64_t> sizes) {
  if (sizes.size() > kMaxRank) {
    throw InputError("a tensor has at most {} dimensions, not {}", kMaxRank, sizes.size());
  }
  constexpr int64_t kMaxElements = int64_t{1} << 60;
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 0) throw InputError("a dimension cannot have size {}", size);
    if (size > 0 && elements > kMaxElements / size) {
      throw InputError("a tensor of [{}] has too many elements", fmt::join(sizes, ", "));
    }
    if (size > 0) elements *= size;
    sizes_[rank_++] = size;
  }
}

int64_t Shape::operator[](int axis) const {
  const int place = axis < 0 ? axis + rank_ : axis;
  ELIAS_ASSERT(place >= 0 && place < rank_);
  return sizes_[place];
}

int64_t Shape::rows() const {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < rank_; ++axis) rows *= sizes_[axis];
  return rows;
}

Shape Shape::with(int axis, int64_t size) const {
  const int place = axis < 0 ? axis + rank_ : axis;
  ELIAS_ASSERT(place >= 0 && place < rank_ && size >= 0);
  Shape changed = *this;
  changed.sizes_[place] = size;
  return changed;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(std::span(sizes_).first(rank_), ", "));
}

}  // namespace elias
