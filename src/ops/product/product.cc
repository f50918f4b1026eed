#include "ops/product/product.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/cpu/scratch.h"

namespace elias::cpu {
namespace {

// Rows and columns of C a task. Its share of B, kDepth x kTaskColumns, takes a fourth to a half of
// a second-level cache of 2 MiB, where tasks of the same columns find it; A and C pass by.
constexpr int64_t kTaskRows = 256;
constexpr int64_t kTaskColumns = 384;
// k values a pass: a panel of B, 32 columns of bf16, then fills a first-level cache of 48 KiB.
constexpr int64_t kDepth = 768;
// Rows of A packed at a time, which bounds the scratch memory.
constexpr int64_t kPackedRows = 4096;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void* element_at(void* first, DType dtype, int64_t index) {
  return static_cast<std::byte*>(first) + index * static_cast<int64_t>(size_of(dtype));
}

const void* element_at(const void* first, DType dtype, int64_t index) {
  return static_cast<const std::byte*>(first) + index * static_cast<int64_t>(size_of(dtype));
}

// The lines (rows of A, columns of B) of one operand, cut into panels.
struct Lines {
  const ProductKernel& kernel;
  decltype(ProductKernel::pack_left) pack;
  int64_t width;  // lines a panel
  Matrix matrix;
  bool along;  // the k of a line are next to each other in memory
  int64_t depth;

  int64_t step() const { return width * round_up(depth, kernel.depth); }

  Matrix from(int64_t line, int64_t k) const {
    return {matrix.data + (along ? line * matrix.stride + k : k * matrix.stride + line),
            matrix.stride, matrix.transposed};
  }

  // Packs lines [0, lines) from `first` on. Where k runs across memory, all panels take a few k
  // before any goes on: each row of memory is then read in one piece.
  void pack_panels(int64_t first, int64_t lines, void* panels) const {
    constexpr int64_t kAcross = 64;
    const int64_t piece = along ? std::max<int64_t>(depth, 1) : kAcross;
    for (int64_t k = 0; k < depth; k += piece) {
      for (int64_t line = 0; line < lines; line += width) {
        pack(from(first + line, k), std::min(width, lines - line), std::min(piece, depth - k),
             element_at(panels, kernel.dtype, line / width * step() + k * width));
      }
    }
  }
};

// All lines in parallel, some panels a chunk.
void pack_all(const Context& context, const Lines& lines, int64_t count, void* panels) {
  const int64_t lines_per_chunk = round_up(256, lines.width);
  context.pool().for_chunks(count, lines_per_chunk, [&](size_t, size_t begin, size_t end) {
    lines.pack_panels(begin, end - begin,
                      element_at(panels, lines.kernel.dtype, begin / lines.width * lines.step()));
  });
}

}  // namespace

const ProductKernel& product_kernel(Isa isa, Precision precision) {
  if (precision == Precision::kBFloat16 && isa == Isa::kAmx) return amx_kernel();
  return simd_kernel(isa, precision);
}

int64_t packed_size(const ProductKernel& kernel, int64_t K, int64_t N) {
  return round_up(N, kernel.columns) * round_up(K, kernel.depth);
}

PackedRight pack_right(const Context& context, const ProductKernel& kernel, const Matrix& b,
                       int64_t K, int64_t N, void* panels) {
  const Lines lines{kernel, kernel.pack_right, kernel.columns, b, b.transposed, K};
  pack_all(context, lines, N, panels);
  return {panels, K, N};
}

void multiply(const Context& context, const ProductKernel& kernel, const Matrix& a, int64_t M,
              const PackedRight& b, const SumRule& rule, float* c, int64_t c_stride) {
  const int64_t K = b.inner;
  const int64_t N = b.outer;
  const int64_t task_rows = round_up(kTaskRows, kernel.rows);
  const int64_t right_step = kernel.columns * round_up(K, kernel.depth);
  const size_t column_tasks = chunk_count(N, kTaskColumns);
  static thread_local Scratch scratch;
  for (int64_t row0 = 0; row0 < M; row0 += kPackedRows) {
    const int64_t rows = std::min(kPackedRows, M - row0);
    // K = 0 still makes one pass, for the bias.
    for (int64_t k0 = 0; k0 == 0 || k0 < K; k0 += kDepth) {
      const Matrix corner{a.at(row0, k0), a.stride, a.transposed};
      const Lines lines{kernel, kernel.pack_left, kernel.rows,
                        corner, !a.transposed,    std::min(kDepth, K - k0)};
      const size_t panels_of_a = chunk_count(rows, kernel.rows);
      void* left = scratch.bytes(panels_of_a * lines.step() * size_of(kernel.dtype));
      pack_all(context, lines, rows, left);
      const size_t row_tasks = chunk_count(rows, task_rows);
      // Tasks next to each other share their part of B.
      context.pool().for_each(row_tasks * column_tasks, [&](size_t task) {
        const int64_t row = static_cast<int64_t>(task % row_tasks) * task_rows;
        const int64_t column = static_cast<int64_t>(task / row_tasks) * kTaskColumns;
        PanelBlock block{};
        block.rows = std::min(task_rows, rows - row);
        block.left = element_at(left, kernel.dtype, row / kernel.rows * lines.step());
        block.left_step = lines.step();
        block.right = element_at(b.panels, kernel.dtype,
                                 column / kernel.columns * right_step + k0 * kernel.columns);
        block.right_step = right_step;
        block.columns = std::min(kTaskColumns, N - column);
        block.depth = round_up(lines.depth, kernel.depth);
        block.accumulate = rule.accumulate || k0 > 0;
        block.bias = rule.bias == nullptr || k0 > 0 ? nullptr : rule.bias + column;
        block.activation = k0 + kDepth >= K ? rule.activation : Activation::kNone;
        block.c = c + (row0 + row) * c_stride + column;
        block.c_stride = c_stride;
        kernel.multiply(block);
      });
    }
  }
}

}  // namespace elias::cpu
