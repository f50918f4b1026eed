// A row is read from memory once; the second pass over it finds it in cache.
#include "ops/rows/unit_rows.h"

#include <cmath>

#include "ops/cpu/chunks.h"
#include "ops/cpu/streaming.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rows/unit_rows_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

// Squares of tiny or huge values leave the range of floats: the row is taken relative to its
// largest value.
float length_of(const float* x, size_t width) {
  const Lanes d;
  auto most = hn::Zero(d);
  for_lanes(width, [&](size_t i, size_t n) { most = hn::Max(most, hn::Abs(load(d, x + i, n))); });
  const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
  if (!(largest > 0)) return 0;
  const auto scale = hn::Set(d, largest);
  const float squares = sum_of(width, [&](size_t i, size_t n) {
    const auto value = hn::Div(load(d, x + i, n), scale);
    return hn::Mul(value, value);
  });
  return largest * std::sqrt(squares);
}

void to_unit_row(const float* x, size_t width, bool streaming, float* y, float* length) {
  const Lanes d;
  *length = length_of(x, width);
  const auto divisor = hn::Set(d, *length > 0 ? *length : 1.0F);
  for_lanes(width, [&](size_t i, size_t n) {
    store(hn::Div(load(d, x + i, n), divisor), d, y + i, n, streaming);
  });
}

void unit_row_backward(const float* dy, const float* y, size_t width, float length, bool streaming,
                       float* dx) {
  const Lanes d;
  const float along = sum_of(
      width, [&](size_t i, size_t n) { return hn::Mul(load(d, dy + i, n), load(d, y + i, n)); });
  const auto removed = hn::Set(d, along);
  const auto scale = hn::Set(d, length > 0 ? 1 / length : 0.0F);
  for_lanes(width, [&](size_t i, size_t n) {
    const auto across = hn::NegMulAdd(removed, load(d, y + i, n), load(d, dy + i, n));
    store(hn::Mul(scale, across), d, dx + i, n, streaming);
  });
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void unit_rows(const Context& context, ConstTensorView x, TensorView y, TensorView lengths) {
  const auto kernel = ELIAS_BY_ISA(to_unit_row)(context.isa());
  const size_t width = x.width();
  const bool streaming = streams(y, {x});
  context.pool().for_chunks(x.rows(), rows_per_chunk(width), [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      kernel(x.data<float>() + row * x.stride(), width, streaming,
             y.data<float>() + row * y.stride(), lengths.data<float>() + row);
    }
    if (streaming) finish_streaming();
  });
}

void unit_rows_backward(const Context& context, ConstTensorView dy, ConstTensorView y,
                        ConstTensorView lengths, TensorView dx) {
  const auto kernel = ELIAS_BY_ISA(unit_row_backward)(context.isa());
  const size_t width = y.width();
  const bool streaming = streams(dx, {dy, y});
  context.pool().for_chunks(y.rows(), rows_per_chunk(width), [&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row) {
      kernel(dy.data<float>() + row * dy.stride(), y.data<float>() + row * y.stride(), width,
             lengths.data<float>()[row], streaming, dx.data<float>() + row * dx.stride());
    }
    if (streaming) finish_streaming();
  });
}

}  // namespace elias::cpu
#endif
