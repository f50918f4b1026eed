// Attention on the CPU. A thread takes a sequence and a head at a time: scores of some queries with
// all keys are a small product that stays in its cache, as does all that becomes of them. The
// backward pass makes them again.
#include "ops/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "ops/product/small_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/attention_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/dropout-inl.h"
#include "ops/cpu/exp-inl.h"
#include "ops/cpu/row-inl.h"

#ifndef ELIAS_ATTENTION_ROWS
#define ELIAS_ATTENTION_ROWS
namespace elias::cpu {

// How the scores of one query become probabilities.
struct RowRule {
  float scale;    // of scores
  float dropout;  // rate
  DropoutKey key;
  uint64_t first;  // of the row's values in the stream
};

// What one query's backward pass knows.
struct RowGradients {
  float log_sum;
  float delta;  // dy . y
};

}  // namespace elias::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

constexpr auto kNothingAhead = [](size_t) {};

// Scores [n] become exp(scale * score - largest), some of them dropped. Returns what they sum up to
// with none dropped, and adds the logarithm of the sum of exp(scale * score).
float softmax_row(const RowRule& rule, size_t n, float* scores, float* log_sum) {
  const Lanes d;
  const auto scale = hn::Set(d, rule.scale);
  auto highest = hn::Set(d, scores[0]);
  for_lanes(n, [&](size_t i, size_t count) {
    const auto value = load(d, scores + i, count);
    highest = hn::IfThenElse(hn::FirstN(d, count), hn::Max(highest, value), highest);
  });
  const float most = hn::GetLane(hn::MaxOfLanes(d, highest)) * rule.scale;
  const auto shift = hn::Set(d, most);
  auto sum = hn::Zero(d);
  for_lanes(n, [&](size_t i, size_t count) {
    const auto away = hn::MulSub(scale, load(d, scores + i, count), shift);
    const auto value = exp_not_above_zero(d, away);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, count), value));
    store(value, d, scores + i, count);
  });
  if (rule.dropout > 0) {
    for_kept(rule.first, n, rule.dropout, rule.key, kNothingAhead,
             [&](size_t i, size_t count, Vector kept) {
               store(hn::Mul(load(d, scores + i, count), kept), d, scores + i, count);
             });
  }
  const float total = hn::GetLane(hn::SumOfLanes(d, sum));
  *log_sum = most + std::log(total);
  return total;
}

// Scores [n] become probabilities, some of them dropped; the gradients of these, `gradients` [n],
// become those of the scores.
void softmax_row_backward(const RowRule& rule, const RowGradients& known, size_t n, float* scores,
                          float* gradients) {
  const Lanes d;
  const auto scale = hn::Set(d, rule.scale), shift = hn::Set(d, known.log_sum);
  const auto delta = hn::Set(d, known.delta);
  const auto step = [&](size_t i, size_t count, Vector kept) {
    const auto away = hn::MulSub(scale, load(d, scores + i, count), shift);
    const auto p = exp_not_above_zero(d, away);
    const auto dp = hn::MulSub(load(d, gradients + i, count), kept, delta);
    store(hn::Mul(p, kept), d, scores + i, count);
    store(hn::Mul(hn::Mul(p, dp), scale), d, gradients + i, count);
  };
  if (rule.dropout > 0) {
    for_kept(rule.first, n, rule.dropout, rule.key, kNothingAhead, step);
  } else {
    for_lanes(n, [&](size_t i, size_t count) { step(i, count, hn::Set(d, 1.0F)); });
  }
}

// Of rows of y from `row` and `column` on, `width` values: factor * values.
void write_row(const float* values, size_t width, float factor, const TensorView& y, int64_t row,
               int64_t column) {
  const Lanes d;
  with_row(y, row, column, [&](auto* to) {
    for_lanes(width, [&](size_t i, size_t n) {
      store(hn::Mul(load(d, values + i, n), hn::Set(d, factor)), d, to + i, n);
    });
  });
}

// a . b of `width` values of a row, from `column` on.
float dot_of_rows(const ConstTensorView& a, const ConstTensorView& b, int64_t row, int64_t column,
                  size_t width) {
  const Lanes d;
  float sum = 0;
  with_row(a, row, column, [&](const auto* left) {
    with_row(b, row, column, [&](const auto* right) {
      sum = sum_of(width, [&](size_t i, size_t n) {
        return hn::Mul(load(d, left + i, n), load(d, right + i, n));
      });
    });
  });
  return sum;
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {
namespace {

// Queries whose scores are made at once.
constexpr int64_t kQueries = 128;

struct RowKernels {
  explicit RowKernels(Isa isa)
      : softmax(ELIAS_BY_ISA(softmax_row)(isa)),
        softmax_backward(ELIAS_BY_ISA(softmax_row_backward)(isa)),
        write(ELIAS_BY_ISA(write_row)(isa)),
        dot(ELIAS_BY_ISA(dot_of_rows)(isa)) {}

  decltype(ELIAS_BY_ISA(softmax_row)(Isa{})) softmax;
  decltype(ELIAS_BY_ISA(softmax_row_backward)(Isa{})) softmax_backward;
  decltype(ELIAS_BY_ISA(write_row)(Isa{})) write;
  decltype(ELIAS_BY_ISA(dot_of_rows)(Isa{})) dot;
};

// One thread's room.
struct Room {
  Scratch keys, values, keys_by_row, left, queries, results;
  Scratch scores, gradients, sums, dkeys, dvalues;
};

// One sequence and head.
struct Unit {
  int64_t query, queries;  // the first of the rows of q, and how many
  int64_t token, tokens;   // of the rows of k and v
  int64_t head;
};

class Attention {
 public:
  Attention(const Context& context, const AttentionInput& input, Precision precision)
      : context_(context),
        input_(input),
        rows_(context.isa()),
        product_(product_kernel(context.isa(), precision)),
        width_(input.q.width() / input.heads),
        scale_(1 / std::sqrt(static_cast<float>(width_))) {}

  void forward(TensorView y, TensorView log_sums) const {
    for_units([&](const Unit& unit, Room& room) { forward(unit, room, y, log_sums); });
  }

  void backward(ConstTensorView y, ConstTensorView log_sums, ConstTensorView dy, TensorView dq,
                TensorView dk, TensorView dv) const {
    for_units([&](const Unit& unit, Room& room) {
      backward(unit, room, {y, log_sums, dy}, dq, dk, dv);
    });
  }

 private:
  struct Known {
    ConstTensorView y, log_sums, dy;
  };

  template <typename Use>
  void for_units(const Use& use) const {
    const auto queries = input_.query_offsets.span<int32_t>();
    const auto tokens = input_.offsets.span<int32_t>();
    const auto heads = static_cast<size_t>(input_.heads);
    context_.pool().for_each((tokens.size() - 1) * heads, [&](size_t i) {
      static thread_local Room room;
      const size_t n = i / heads;
      use({.query = queries[n],
           .queries = queries[n + 1] - queries[n],
           .token = tokens[n],
           .tokens = tokens[n + 1] - tokens[n],
           .head = static_cast<int64_t>(i % heads)},
          room);
    });
  }

  // The part of a matrix that is the head's, from a row on.
  Matrix part(ConstTensorView whole, int64_t row, const Unit& unit, bool transposed = false) const {
    return Matrix(Matrix(whole).from(row, unit.head * width_).data, Matrix(whole, transposed));
  }

  RowRule rule(const Unit& unit, int64_t row) const {
    const auto place = static_cast<uint64_t>(row * input_.heads + unit.head);
    return {.scale = scale_,
            .dropout = input_.dropout,
            .key = input_.key,
            .first = place * static_cast<uint64_t>(kMostAttended)};
  }

  static float* floats(Scratch& room, int64_t count) {
    return static_cast<float*>(room.bytes(static_cast<size_t>(count) * sizeof(float)));
  }

  // Scores [queries, n] of queries with all keys.
  float* score(const Unit& unit, int64_t row, int64_t queries, const SmallOperand& keys,
               Room& room) const {
    float* const scores = floats(room.scores, queries * unit.tokens);
    const SmallOperand q = product_.left(part(input_.q, row, unit), queries, width_, room.left);
    product_.multiply(q, keys, /*accumulate=*/false, scores, unit.tokens);
    return scores;
  }

  void forward(const Unit& unit, Room& room, const TensorView& y,
               const TensorView& log_sums) const {
    const int64_t n = unit.tokens;
    if (unit.queries == 0) return;
    const SmallOperand keys =
        product_.right(part(input_.k, unit.token, unit, /*transposed=*/true), width_, n, room.keys);
    const SmallOperand values =
        product_.right(part(input_.v, unit.token, unit), n, width_, room.values);
    float* const log_sum = log_sums.data<float>() + unit.head * log_sums.stride();
    for (int64_t done = 0; done < unit.queries; done += kQueries) {
      const int64_t row = unit.query + done, queries = std::min(kQueries, unit.queries - done);
      float* const scores = score(unit, row, queries, keys, room);
      float* const totals = floats(room.sums, queries);
      for (int64_t i = 0; i < queries; ++i) {
        totals[i] = rows_.softmax(rule(unit, row + i), static_cast<size_t>(n), scores + i * n,
                                  log_sum + row + i);
      }
      float* const results = floats(room.results, queries * width_);
      const SmallOperand p = product_.left(Matrix(scores, n), queries, n, room.left);
      product_.multiply(p, values, /*accumulate=*/false, results, width_);
      for (int64_t i = 0; i < queries; ++i) {
        rows_.write(results + i * width_, static_cast<size_t>(width_), 1 / totals[i], y, row + i,
                    unit.head * width_);
      }
    }
  }

  void backward(const Unit& unit, Room& room, const Known& known, const TensorView& dq,
                const TensorView& dk, const TensorView& dv) const {
    const int64_t n = unit.tokens;
    if (n == 0) return;
    const SmallOperand keys =
        product_.right(part(input_.k, unit.token, unit, /*transposed=*/true), width_, n, room.keys);
    const SmallOperand values = product_.right(
        part(input_.v, unit.token, unit, /*transposed=*/true), width_, n, room.values);
    const SmallOperand keys_by_row =
        product_.right(part(input_.k, unit.token, unit), n, width_, room.keys_by_row);
    float* const dkeys = floats(room.dkeys, n * width_);
    float* const dvalues = floats(room.dvalues, n * width_);
    std::fill_n(dkeys, n * width_, 0.0F);
    std::fill_n(dvalues, n * width_, 0.0F);
    for (int64_t done = 0; done < unit.queries; done += kQueries) {
      const int64_t row = unit.query + done, queries = std::min(kQueries, unit.queries - done);
      float* const p = score(unit, row, queries, keys, room);
      float* const dscores = floats(room.gradients, queries * n);
      const SmallOperand dy = product_.left(part(known.dy, row, unit), queries, width_, room.left);
      product_.multiply(dy, values, /*accumulate=*/false, dscores, n);
      for (int64_t i = 0; i < queries; ++i) {
        backward_row(unit, known, row + i, p + i * n, dscores + i * n);
      }
      add_left(Matrix(dscores, n), queries, keys_by_row, row, unit, room, dq);
      add_right(Matrix(dscores, n, /*is_transposed=*/true), part(input_.q, row, unit), n, queries,
                room, dkeys);
      add_right(Matrix(p, n, /*is_transposed=*/true), part(known.dy, row, unit), n, queries, room,
                dvalues);
    }
    for (int64_t j = 0; j < n; ++j) {
      const int64_t column = unit.head * width_, row = unit.token + j;
      rows_.write(dkeys + j * width_, static_cast<size_t>(width_), 1, dk, row, column);
      rows_.write(dvalues + j * width_, static_cast<size_t>(width_), 1, dv, row, column);
    }
  }

  void backward_row(const Unit& unit, const Known& known, int64_t row, float* p,
                    float* dscores) const {
    const RowGradients gradients{
        .log_sum = known.log_sums.data<float>()[unit.head * known.log_sums.stride() + row],
        .delta =
            rows_.dot(known.dy, known.y, row, unit.head * width_, static_cast<size_t>(width_))};
    rows_.softmax_backward(rule(unit, row), gradients, static_cast<size_t>(unit.tokens), p,
                           dscores);
  }

  // The rows of dq from `row` on: scores' gradients times keys.
  void add_left(const Matrix& dscores, int64_t queries, const SmallOperand& keys_by_row,
                int64_t row, const Unit& unit, Room& room, const TensorView& dq) const {
    float* const results = floats(room.results, queries * width_);
    const SmallOperand left = product_.left(dscores, queries, unit.tokens, room.left);
    product_.multiply(left, keys_by_row, /*accumulate=*/false, results, width_);
    for (int64_t i = 0; i < queries; ++i) {
      rows_.write(results + i * width_, static_cast<size_t>(width_), 1, dq, row + i,
                  unit.head * width_);
    }
  }

  // sums [n, d] += turned [n, queries] times rows [queries, d].
  void add_right(const Matrix& turned, const Matrix& rows, int64_t n, int64_t queries, Room& room,
                 float* sums) const {
    const SmallOperand left = product_.left(turned, n, queries, room.left);
    const SmallOperand right = product_.right(rows, queries, width_, room.queries);
    product_.multiply(left, right, /*accumulate=*/true, sums, width_);
  }

  const Context& context_;
  const AttentionInput& input_;
  RowKernels rows_;
  SmallProduct product_;
  int64_t width_;  // of a head
  float scale_;
};

}  // namespace

void attention(const Context& context, const AttentionInput& input, Precision precision,
               TensorView y, TensorView log_sums) {
  Attention(context, input, precision).forward(y, log_sums);
}

void attention_backward(const Context& context, const AttentionInput& input, Precision precision,
                        ConstTensorView y, ConstTensorView log_sums, ConstTensorView dy,
                        TensorView dq, TensorView dk, TensorView dv) {
  Attention(context, input, precision).backward(y, log_sums, dy, dq, dk, dv);
}

}  // namespace elias::cpu
#endif
