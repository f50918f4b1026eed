// Compiles one source for every instruction set and picks among the results at run time.
//
// A source x_cpu.cc names itself in HWY_TARGET_INCLUDE and includes this header, which makes Google
// Highway read the source once an instruction set, then <hwy/highway.h>. Its kernels stand in
// HWY_NAMESPACE, between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE; what follows under HWY_ONCE
// picks one of them by `ELIAS_BY_ISA(kernel)(context.isa())`.
//
// Only headers of Highway are used, and its choice of target is not: an instruction set is a value
// that is passed down (ops/isa.h), so that one test can run all of them.
#pragma once

#include "ops/isa.h"

// Three targets are enough: each one more is compile time and a case to test.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

#include <hwy/foreach_target.h>

namespace elias::cpu {

/// One function, compiled for each instruction set. What goes beyond AVX-512 is for products alone:
/// all other kernels of a machine that has it are those of AVX-512.
template <typename Function>
class ByIsa {
 public:
  constexpr ByIsa(Function* scalar, Function* avx2, Function* avx512)
      : kernels_{scalar, avx2, avx512, avx512, avx512} {}
  Function* operator()(Isa isa) const { return kernels_[static_cast<int>(isa)]; }

 private:
  Function* kernels_[5];
};

}  // namespace elias::cpu

#if HWY_ARCH_X86
#define ELIAS_BY_ISA(kernel) \
  ::elias::cpu::ByIsa(&HWY_STATIC_DISPATCH(kernel), &N_AVX2::kernel, &N_AVX3::kernel)
#else
#define ELIAS_BY_ISA(kernel)                                                      \
  ::elias::cpu::ByIsa(&HWY_STATIC_DISPATCH(kernel), &HWY_STATIC_DISPATCH(kernel), \
                      &HWY_STATIC_DISPATCH(kernel))
#endif
