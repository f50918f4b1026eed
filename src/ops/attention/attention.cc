#include "ops/attention/attention.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // attention_cpu.cc
decltype(attention) attention;
decltype(attention_backward) attention_backward;
}  // namespace cpu

namespace {

constexpr DType kFloat = DType::kFloat32;
constexpr int64_t kAny = Operand::kAny;

// What an operand must be: float32, or what it is if bf16 is allowed too.
DType type_of(const ConstTensorView& view, Precision precision) {
  const bool halves = precision == Precision::kBFloat16 && view.dtype() == DType::kBFloat16;
  return halves ? DType::kBFloat16 : kFloat;
}

void check_sequences(std::string_view op, const AttentionInput& input) {
  const auto queries = input.query_offsets.span<int32_t>(), keys = input.offsets.span<int32_t>();
  for (size_t i = 0; i + 1 < keys.size(); ++i) {
    const int64_t m = queries[i + 1] - queries[i], n = keys[i + 1] - keys[i];
    if (n == 0 && m > 0) throw InputError("{}: sequence {} has queries, but no keys", op, i);
    if (m > kMostAttended || n > kMostAttended) {
      throw InputError("{}: sequence {} has {} queries and {} keys, but at most {} can be attended",
                       op, i, m, n, kMostAttended);
    }
  }
}

Device check_input(std::string_view op, const AttentionInput& input, Precision precision) {
  const auto of = [&](std::string_view name, const ConstTensorView& view,
                      std::initializer_list<int64_t> shape) {
    return Operand{name, view, type_of(view, precision), shape};
  };
  check(op, {of("q", input.q, {kAny, kAny})});
  check(op, {of("q", input.q, {kAny, kAny}), of("k", input.k, {kAny, input.q.width()})});
  const int64_t D = input.q.width();
  const Device device = check(op, {of("q", input.q, {kAny, D}),
                                   of("k", input.k, {kAny, D}),
                                   of("v", input.v, {input.k.rows(), D}),
                                   {"offsets", input.offsets, DType::kInt32, {kAny}}});
  check(op, {of("q", input.q, {kAny, D}),
             {"query offsets", input.query_offsets, DType::kInt32, {input.offsets.width()}}});
  if (input.heads < 1 || D % input.heads != 0) {
    throw InputError("{}: {} heads do not divide a width of {}", op, input.heads, D);
  }
  check_dropout(op, input.dropout);
  require_cpu(op, device);
  check_offsets(op, "query offsets", input.query_offsets, input.q.rows());
  check_offsets(op, "offsets", input.offsets, input.k.rows());
  check_sequences(op, input);
  return device;
}

}  // namespace

void attention(const Context& context, const AttentionInput& input, Precision precision,
               TensorView y, TensorView log_sums) {
  constexpr std::string_view kOp = "attention";
  check_input(kOp, input, precision);
  check(kOp, {{"y", y, type_of(y, precision), {input.q.rows(), input.q.width()}},
              {"log sums", log_sums, kFloat, {input.heads, input.q.rows()}}});
  cpu::attention(context, input, precision, y, log_sums);
}

void attention_backward(const Context& context, const AttentionInput& input, Precision precision,
                        ConstTensorView y, ConstTensorView log_sums, ConstTensorView dy,
                        TensorView dq, TensorView dk, TensorView dv) {
  constexpr std::string_view kOp = "attention, backward";
  check_input(kOp, input, precision);
  const int64_t S = input.q.rows(), T = input.k.rows(), D = input.q.width();
  check(kOp, {{"y", y, type_of(y, precision), {S, D}},
              {"log sums", log_sums, kFloat, {input.heads, S}},
              {"dy", dy, type_of(dy, precision), {S, D}},
              {"dq", dq, type_of(dq, precision), {S, D}},
              {"dk", dk, type_of(dk, precision), {T, D}},
              {"dv", dv, type_of(dv, precision), {T, D}}});
  cpu::attention_backward(context, input, precision, y, log_sums, dy, dq, dk, dv);
}

}  // namespace elias
