// What becomes of a product's sums that its kernels know nothing of: GELU, its slope, bfloat16.
#include "ops/product/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/finish_product_cpu.cc"
#include "ops/cpu/foreach_isa.h"
// After foreach_isa.h, which reads this file once an instruction set.
#include <hwy/highway.h>

#include "ops/cpu/gelu-inl.h"
#include "ops/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace elias::cpu::HWY_NAMESPACE {
namespace {

void finish_rows(const float* sums, int64_t sums_stride, const ProductRule& rule,
                 const TensorView& c) {
  const Lanes d;
  const auto width = static_cast<size_t>(c.width());
  for (int64_t row = 0; row < c.rows(); ++row, sums += sums_stride) {
    if (rule.before) {
      with_row(rule.before, row, 0, [&](auto* to) {
        for_lanes(width, [&](size_t i, size_t n) { store(load(d, sums + i, n), d, to + i, n); });
      });
    }
    with_row(c, row, 0, [&](auto* to) {
      if (rule.through) {
        with_row(rule.through, row, 0, [&](const auto* at) {
          for_lanes(width, [&](size_t i, size_t n) {
            store(hn::Mul(load(d, sums + i, n), gelu_slope(d, load(d, at + i, n))), d, to + i, n);
          });
        });
      } else if (rule.sums.activation == Activation::kGelu) {
        for_lanes(width,
                  [&](size_t i, size_t n) { store(gelu(d, load(d, sums + i, n)), d, to + i, n); });
      } else {
        for_lanes(width, [&](size_t i, size_t n) { store(load(d, sums + i, n), d, to + i, n); });
      }
    });
  }
}

}  // namespace
}  // namespace elias::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace elias::cpu {

void finish_product(Isa isa, const float* sums, int64_t sums_stride, const ProductRule& rule,
                    TensorView c) {
  ELIAS_BY_ISA(finish_rows)(isa)(sums, sums_stride, rule, c);
}

}  // namespace elias::cpu
#endif
