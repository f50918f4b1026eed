#include "ops/product/small_product.h"

#include <algorithm>

namespace elias::cpu {

int64_t SmallProduct::padded(int64_t depth) const { return round_up(depth, kernel_->depth); }

SmallOperand SmallProduct::left(const Matrix& a, int64_t rows, int64_t depth, Scratch& room) const {
  const int64_t width = kernel_->rows;
  const auto step = static_cast<size_t>(width * padded(depth)) * size_of(kernel_->dtype);
  const auto panels = static_cast<size_t>(round_up(rows, width) / width);
  auto* panel = static_cast<std::byte*>(room.bytes(panels * step));
  const SmallOperand packed{panel, rows, depth};
  for (int64_t row = 0; row < rows; row += width, panel += step) {
    kernel_->pack_left(a.from(row, 0), std::min(width, rows - row), depth, panel);
  }
  return packed;
}

SmallOperand SmallProduct::right(const Matrix& b, int64_t depth, int64_t columns,
                                 Scratch& room) const {
  const int64_t width = kernel_->columns;
  const auto step = static_cast<size_t>(width * padded(depth)) * size_of(kernel_->dtype);
  const auto panels = static_cast<size_t>(round_up(columns, width) / width);
  auto* panel = static_cast<std::byte*>(room.bytes(panels * step));
  const SmallOperand packed{panel, columns, depth};
  for (int64_t column = 0; column < columns; column += width, panel += step) {
    kernel_->pack_right(b.from(0, column), std::min(width, columns - column), depth, panel);
  }
  return packed;
}

void SmallProduct::multiply(const SmallOperand& a, const SmallOperand& b, bool accumulate, float* c,
                            int64_t c_stride) const {
  const int64_t depth = padded(a.depth);
  PanelBlock block{};
  block.accumulate = accumulate;
  block.left = a.panels;
  block.left_step = kernel_->rows * depth;
  block.rows = a.lines;
  block.right = b.panels;
  block.right_step = kernel_->columns * depth;
  block.columns = b.lines;
  block.depth = depth;
  block.c = c;
  block.c_stride = c_stride;
  kernel_->multiply(block);
}

}  // namespace elias::cpu
