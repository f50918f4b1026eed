#include "ops/product/product.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/cpu/scratch.h"

namespace elias::cpu {
namespace {

// Rows and columns of C a task. Its share of B in a pass, kDepth x kTaskColumns, takes a fourth to
// a half of a second-level cache of 2 MiB, where tasks of the same columns find it; A and C pass
// by.
constexpr int64_t kTaskRows = 256;
constexpr int64_t kTaskColumns = 384;
// Where that makes fewer tasks than this, their columns are cut further, so that a few rows are
// work for many threads too.
constexpr int64_t kFewTasks = 32;
// k values a pass: a panel of B, 32 columns of bf16, then fills a first-level cache of 48 KiB.
constexpr int64_t kDepth = 768;
// Bytes of A packed at a time, which bounds the scratch memory.
constexpr int64_t kPackedBytes = int64_t{8} << 20;

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

  // Rows are lines of A, columns those of B.
  Matrix from(int64_t line, int64_t k) const {
    return along == matrix.transposed ? matrix.from(k, line) : matrix.from(line, k);
  }

  // Packs k [begin, end) of lines [first, first + lines) into `panels`, which are those of all
  // lines. Where k runs across memory, all panels take a few k before any goes on: each row of
  // memory is then read in one piece.
  void pack_panels(int64_t first, int64_t lines, int64_t begin, int64_t end, void* panels) const {
    constexpr int64_t kAcross = 64;
    const int64_t piece = along ? std::max<int64_t>(end - begin, 1) : kAcross;
    for (int64_t k = begin; k < end; k += piece) {
      for (int64_t line = first; line < first + lines; line += width) {
        pack(from(line, k), std::min(width, first + lines - line), std::min(piece, end - k),
             element_at(panels, kernel.dtype, line / width * step() + k * width));
      }
    }
  }
};

// All lines in parallel, some panels and some k a task.
void pack_all(const Context& context, const Lines& lines, int64_t count, void* panels) {
  constexpr int64_t kPackedDepth = 1024;  // a multiple of every kernel's depth
  const int64_t at_once = round_up(256, lines.width);
  const auto line_tasks = static_cast<int64_t>(chunk_count(count, at_once));
  const auto depth_tasks = static_cast<int64_t>(chunk_count(lines.depth, kPackedDepth));
  context.pool().for_each(static_cast<size_t>(line_tasks * depth_tasks), [&](size_t task) {
    const int64_t line = static_cast<int64_t>(task) % line_tasks * at_once;
    const int64_t k = static_cast<int64_t>(task) / line_tasks * kPackedDepth;
    lines.pack_panels(line, std::min(at_once, count - line), k,
                      std::min(k + kPackedDepth, lines.depth), panels);
  });
}

// One product: rows of A are packed, some at a time, and tasks of some rows and columns are done in
// parallel, each from front to back.
class Product {
 public:
  Product(const Context& context, const ProductKernel& kernel, const Matrix& a,
          const PackedRight& b, const ProductRule& rule, TensorView c)
      : context_(context),
        kernel_(kernel),
        a_(a),
        b_(b),
        rule_(rule),
        c_(c),
        packed_depth_(round_up(b.inner, kernel.depth)),
        task_rows_(round_up(kTaskRows, kernel.rows)) {}

  int64_t rows_at_once() const {
    const int64_t row_bytes =
        std::max<int64_t>(1, packed_depth_ * static_cast<int64_t>(size_of(kernel_.dtype)));
    return std::max(task_rows_, kPackedBytes / row_bytes / task_rows_ * task_rows_);
  }

  void run_rows(int64_t first, int64_t rows) const {
    const Lines lines{kernel_,           kernel_.pack_left, kernel_.rows,
                      a_.from(first, 0), !a_.transposed,    b_.inner};
    const size_t panels = chunk_count(static_cast<size_t>(rows), static_cast<size_t>(kernel_.rows));
    static thread_local Scratch scratch;
    const void* left = nullptr;
    if (!rows_lie_ready()) {
      void* const room = scratch.bytes(panels * lines.step() * size_of(kernel_.dtype));
      pack_all(context_, lines, rows, room);
      left = room;
    }
    const int64_t row_tasks = (rows + task_rows_ - 1) / task_rows_;
    const int64_t task_columns = columns_a_task(row_tasks);
    const int64_t column_tasks = (b_.outer + task_columns - 1) / task_columns;
    // Tasks next to each other share their part of B.
    context_.pool().for_each(static_cast<size_t>(row_tasks * column_tasks), [&](size_t task) {
      const int64_t row = static_cast<int64_t>(task) % row_tasks * task_rows_;
      const int64_t column = static_cast<int64_t>(task) / row_tasks * task_columns;
      run_task(
          {.left = left == nullptr ? nullptr : element_at(left, kernel_.dtype, row * packed_depth_),
           .row = first + row,
           .rows = std::min(task_rows_, rows - row),
           .column = column,
           .columns = std::min(task_columns, b_.outer - column)});
    });
  }

 private:
  // A part of C, and where the panels of its rows of A begin; null: they are not packed.
  struct Task {
    const void* left;
    int64_t row, rows;
    int64_t column, columns;
  };

  // Rows of bfloat16 are what some kernels multiply.
  bool rows_lie_ready() const {
    return kernel_.multiply_rows != nullptr && a_.dtype == kernel_.dtype && !a_.transposed &&
           b_.inner == packed_depth_ && b_.inner > 0;
  }

  int64_t columns_a_task(int64_t row_tasks) const {
    const int64_t wanted = round_up(b_.outer * row_tasks / kFewTasks, kernel_.columns);
    return std::clamp(wanted, kernel_.columns, kTaskColumns);
  }

  bool sums_go_to_c() const {
    return c_.dtype() == DType::kFloat32 && rule_.sums.activation != Activation::kGelu &&
           !rule_.through;
  }

  void run_task(const Task& task) const {
    const TensorView c = part(c_, task);
    if (sums_go_to_c()) {
      return sum(task, rule_.sums, c.data<float>(), c.stride());
    }
    static thread_local Scratch scratch;
    auto* const sums = static_cast<float*>(
        scratch.bytes(static_cast<size_t>(task.rows * task.columns) * sizeof(float)));
    SumRule own = rule_.sums;
    if (own.activation == Activation::kGelu) own.activation = Activation::kNone;
    sum(task, own, sums, task.columns);
    ProductRule of_task = rule_;
    if (rule_.before) of_task.before = part(rule_.before, task);
    if (rule_.through) of_task.through = part(rule_.through, task);
    finish_product(context_.isa(), sums, task.columns, of_task, c);
  }

  template <typename View>
  static View part(const View& whole, const Task& task) {
    return whole.slice(task.row, task.row + task.rows)
        .columns(task.column, task.column + task.columns);
  }

  void sum(const Task& task, const SumRule& rule, float* c, int64_t c_stride) const {
    const int64_t K = b_.inner, right_step = kernel_.columns * packed_depth_;
    PanelBlock block{};
    block.left_step = kernel_.rows * packed_depth_;
    block.rows = task.rows;
    block.right_step = right_step;
    block.columns = task.columns;
    block.c = c;
    block.c_stride = c_stride;
    // K = 0 still makes one pass, for the bias.
    for (int64_t k = 0; k == 0 || k < K; k += kDepth) {
      const int64_t depth = std::min(kDepth, K - k);
      block.right = element_at(b_.panels, kernel_.dtype,
                               task.column / kernel_.columns * right_step + k * kernel_.columns);
      block.depth = round_up(depth, kernel_.depth);
      block.accumulate = rule.accumulate || k > 0;
      block.bias = rule.bias == nullptr || k > 0 ? nullptr : rule.bias + task.column;
      block.activation = k + kDepth >= K ? rule.activation : Activation::kNone;
      if (task.left != nullptr) {
        block.left = element_at(task.left, kernel_.dtype, k * kernel_.rows);
        kernel_.multiply(block);
      } else {
        multiply_ready_rows(task, k, block);
      }
    }
  }

  // Whole panels of rows as they lie, and what is left of them packed.
  void multiply_ready_rows(const Task& task, int64_t k, PanelBlock block) const {
    const int64_t whole = task.rows / kernel_.rows * kernel_.rows;
    block.rows = whole;
    if (whole > 0) {
      const Matrix rows = a_.from(task.row, k);
      kernel_.multiply_rows(block, static_cast<const BFloat16*>(rows.data), rows.stride);
    }
    if (whole == task.rows) return;
    static thread_local Scratch scratch;
    const auto size = static_cast<size_t>(kernel_.rows * block.depth) * size_of(kernel_.dtype);
    void* const panel = scratch.bytes(size);
    kernel_.pack_left(a_.from(task.row + whole, k), task.rows - whole, block.depth, panel);
    block.rows = task.rows - whole;
    block.left = panel;
    block.c += whole * block.c_stride;
    kernel_.multiply(block);
  }

  const Context& context_;
  const ProductKernel& kernel_;
  const Matrix& a_;
  const PackedRight& b_;
  const ProductRule& rule_;
  TensorView c_;
  int64_t packed_depth_;  // of K
  int64_t task_rows_;
};

}  // namespace

const ProductKernel& product_kernel(Isa isa, Precision precision) {
  if (precision == Precision::kBFloat16 && isa == Isa::kAmx) return amx_kernel();
  if (precision == Precision::kBFloat16 && isa == Isa::kAvx512Bf16) return bf16_kernel();
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
              const PackedRight& b, const ProductRule& rule, TensorView c) {
  const Product product(context, kernel, a, b, rule, c);
  const int64_t rows_at_once = product.rows_at_once();
  for (int64_t row = 0; row < M; row += rows_at_once) {
    product.run_rows(row, std::min(rows_at_once, M - row));
  }
}

}  // namespace elias::cpu
