#include "ops/update/running_average.h"

#include "ops/check.h"

namespace elias {

namespace cpu {  // running_average_cpu.cc
decltype(running_average) running_average;
}  // namespace cpu

void running_average(const Context& context, ConstTensorView weights, int64_t count,
                     TensorView average) {
  constexpr std::string_view kOp = "running average";
  require_cpu(kOp, check_alike(kOp, {{"weights", weights}, {"average", average}}));
  if (count < 1) throw InputError("{}: count is {}, but must be at least 1", kOp, count);
  cpu::running_average(context, weights, count, average);
}

}  // namespace elias
