#include "ops/lookup/best_rows.h"

#include "base/errors.h"
#include "ops/check.h"

namespace elias {

namespace cpu {  // best_rows_cpu.cc
decltype(best_rows) best_rows;
}  // namespace cpu

void best_rows(const Context& context, ConstTensorView x, ConstTensorView w, ConstTensorView bias,
               std::span<const uint8_t> allowed, TensorView values, TensorView ids) {
  constexpr std::string_view kOp = "best rows";
  constexpr DType kFloat = DType::kFloat32;
  constexpr int64_t kAny = Operand::kAny;
  check(kOp, {{"x", x, kFloat, {kAny, kAny}}, {"values", values, kFloat, {kAny, kAny}}});
  const int64_t N = x.rows(), D = x.width(), k = values.width();
  require_cpu(kOp, check(kOp, {{"x", x, kFloat, {N, D}},
                               {"w", w, float_type_of(w), {kAny, D}},
                               {"values", values, kFloat, {N, k}},
                               {"ids", ids, DType::kInt32, {N, k}}}));
  const int64_t L = w.rows();
  if (bias) check(kOp, {{"w", w, float_type_of(w), {L, D}}, {"bias", bias, kFloat, {L}}});
  if (k < 1 || k > L) throw InputError("{}: k is {}, of {} rows", kOp, k, L);
  ELIAS_ASSERT(allowed.empty() || static_cast<int64_t>(allowed.size()) == L);
  cpu::best_rows(context, x, w, bias, allowed, values, ids);
}

}  // namespace elias
