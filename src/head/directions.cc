#include "head/directions.h"

#include <algorithm>
#include <utility>

#include "ops/rows/row_access.h"
#include "ops/rows/unit_rows.h"

namespace elias {
namespace {

void add_row(std::span<const float> from, std::span<float> to) {
  for (size_t d = 0; d < from.size(); ++d) to[d] += from[d];
}

}  // namespace

Directions::Directions(const Context& context, Tensor rows)
    : unit(std::move(rows)), lengths({ConstTensorView(unit).rows()}, DType::kFloat32) {
  unit_rows(context, unit, unit, lengths);
}

void Directions::backward(const Context& context, ConstTensorView dunit, TensorView drows) const {
  unit_rows_backward(context, dunit, unit, lengths, drows);
}

Tensor gathered_rows(ThreadPool& pool, ConstTensorView w, std::span<const int32_t> labels) {
  Tensor rows({static_cast<int64_t>(labels.size()), w.width()}, DType::kFloat32);
  for_rows(pool, labels.size(), [&](size_t i) {
    std::ranges::copy(row_of(w, static_cast<size_t>(labels[i])),
                      row_of(TensorView(rows), i).begin());
  });
  return rows;
}

void add_rows(ThreadPool& pool, std::span<const int32_t> labels, ConstTensorView drows,
              TensorView gradient) {
  for_rows(pool, labels.size(), [&](size_t i) {
    add_row(row_of(drows, i), row_of(gradient, static_cast<size_t>(labels[i])));
  });
}

void add(ThreadPool& pool, ConstTensorView from, TensorView to) {
  for_rows(pool, static_cast<size_t>(from.rows()),
           [&](size_t i) { add_row(row_of(from, i), row_of(to, i)); });
}

void scale(ThreadPool& pool, float factor, TensorView matrix) {
  for_rows(pool, static_cast<size_t>(matrix.rows()), [&](size_t i) {
    for (float& value : row_of(matrix, i)) value *= factor;
  });
}

}  // namespace elias
