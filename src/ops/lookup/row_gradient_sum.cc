#include "ops/lookup/row_gradient_sum.h"

#include <algorithm>
#include <vector>

#include "base/errors.h"
#include "ops/rows/convert.h"

namespace elias {
namespace {

template <typename T>
Tensor tensor_of(const std::vector<T>& values) {
  Tensor tensor({static_cast<int64_t>(values.size())}, kDTypeOf<T>);
  std::ranges::copy(values, tensor.span<T>().begin());
  return tensor;
}

/// The rows of both, rising, with the terms of each: those of the gradient, then a value as it is.
struct Merged {
  std::vector<int32_t> rows, offsets{0}, points;
  std::vector<float> weights;

  void add_terms(const RowGradient& gradient, size_t row) {
    const auto offsets_of = gradient.offsets.span<int32_t>();
    for (int32_t e = offsets_of[row]; e < offsets_of[row + 1]; ++e) {
      points.push_back(gradient.points.span<int32_t>()[static_cast<size_t>(e)]);
      weights.push_back(gradient.weights.span<float>()[static_cast<size_t>(e)]);
    }
  }
  void add_value(int32_t point) {
    points.push_back(point);
    weights.push_back(1);
  }
  void finish_row(int32_t row) {
    rows.push_back(row);
    offsets.push_back(static_cast<int32_t>(points.size()));
  }
};

Merged merge(const RowGradient& gradient, std::span<const int32_t> rows) {
  const auto theirs = gradient.rows.span<int32_t>();
  const auto N = static_cast<int32_t>(gradient.source.rows());
  Merged merged;
  size_t i = 0, j = 0;
  while (i < theirs.size() || j < rows.size()) {
    const int32_t row = i == theirs.size() ? rows[j]
                        : j == rows.size() ? theirs[i]
                                           : std::min(theirs[i], rows[j]);
    if (i < theirs.size() && theirs[i] == row) merged.add_terms(gradient, i++);
    if (j < rows.size() && rows[j] == row) merged.add_value(N + static_cast<int32_t>(j++));
    merged.finish_row(row);
  }
  return merged;
}

}  // namespace

RowGradientSum::RowGradientSum(const Context& context, const RowGradient& gradient,
                               std::span<const int32_t> rows, ConstTensorView values)
    : gradient_(&gradient) {
  if (rows.empty()) return;
  const ConstTensorView source = gradient.source;
  const int64_t N = source.rows(), R = values.rows();
  ELIAS_ASSERT(R == static_cast<int64_t>(rows.size()) && source.width() == values.width());
  source_ = Tensor({N + R, source.width()}, source.dtype());
  copy(source, TensorView(source_).slice(0, N));
  if (source.dtype() == DType::kFloat32) {
    copy(values, TensorView(source_).slice(N, N + R));
  } else {
    convert(context, values, TensorView(source_).slice(N, N + R));
  }
  const Merged merged = merge(gradient, rows);
  own_ = {.rows = tensor_of(merged.rows),
          .offsets = tensor_of(merged.offsets),
          .points = tensor_of(merged.points),
          .weights = tensor_of(merged.weights),
          .source = source_};
  gradient_ = &own_;
}

}  // namespace elias
