// How CPU optimisers walk over few rows of weights [V, D]: every row has one owner, which brings
// its count of done steps up to date too.
#pragma once

#include <algorithm>

#include "base/aligned_buffer.h"
#include "ops/cpu/runs.h"
#include "ops/lookup/row_gradient.h"
#include "ops/lookup/weighted_rows.h"
#include "ops/update/rate_history.h"

namespace elias::cpu {

/// Calls body(run, done) for those of the rows [R] that have not done all steps; `run` is the whole
/// row, `done` the steps it has done.
template <typename Body>
void for_rows_behind(ThreadPool& pool, const RateHistory& rates, ConstTensorView rows, size_t width,
                     TensorView done_steps, const Body& body) {
  const auto ids = rows.span<int32_t>();
  const auto done = done_steps.span<int32_t>();
  const auto last = static_cast<int32_t>(rates.steps());
  pool.for_chunks(ids.size(), rows_per_chunk(width), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      int32_t& own = done[ids[i]];
      if (own == last) continue;
      body(Run{.row = static_cast<size_t>(ids[i]), .column = 0, .count = width}, own);
      own = last;
    }
  });
}

/// Calls body(run, terms, begin, end, sum) for the rows of the gradient, which is the terms [begin,
/// end) there, added up; `sum` [D] is room for that. Value is the type of the gradient's source.
template <typename Value, typename Body>
void for_gradient_rows(ThreadPool& pool, const RateHistory& rates, const RowGradient& gradient,
                       TensorView done_steps, const Body& body) {
  const auto ids = gradient.rows.span<int32_t>();
  const auto offsets = gradient.offsets.span<int32_t>();
  const auto done = done_steps.span<int32_t>();
  const WeightedRows<Value> terms{.points = gradient.points.span<int32_t>().data(),
                                  .weights = gradient.weights.span<float>().data(),
                                  .size = gradient.points.span<int32_t>().size(),
                                  .source = gradient.source.data<Value>(),
                                  .stride = static_cast<size_t>(gradient.source.stride()),
                                  .width = static_cast<size_t>(gradient.source.width())};
  const size_t terms_per_row = terms.size / std::max<size_t>(1, ids.size());
  const size_t grain = rows_per_chunk(terms.width * (1 + terms_per_row));
  pool.for_chunks(ids.size(), grain, [&](size_t, size_t first, size_t last) {
    AlignedBuffer<float> sum(terms.width);
    for (size_t i = first; i < last; ++i) {
      body(Run{.row = static_cast<size_t>(ids[i]), .column = 0, .count = terms.width}, terms,
           static_cast<size_t>(offsets[i]), static_cast<size_t>(offsets[i + 1]), sum.data());
      done[ids[i]] = static_cast<int32_t>(rates.steps());
    }
  });
}

}  // namespace elias::cpu
