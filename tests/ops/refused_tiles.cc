// Asks for tiles where the kernel must refuse them: a thread's alternate signal stack is too small
// for their state. The machine then counts as one without, and a product in bf16 works all the
// same. A program of its own, since the permission is asked for once and holds for a process.
#include <csignal>
#include <cstdio>
#include <vector>

#include "ops/product/linear.h"

int main() {
  using namespace elias;
  static std::vector<char> stack(4096);
  stack_t small = {};
  small.ss_sp = stack.data();
  small.ss_size = stack.size();
  if (sigaltstack(&small, nullptr) != 0) {
    std::puts("skipped: this kernel takes no alternate stack so small");
    return 77;
  }
  if (supported_isas().back() == Isa::kAmx) {
    std::puts("tiles were allowed in spite of a signal stack that is too small for them");
    return 1;
  }
  ThreadPool pool(1);
  const Context context(pool);
  const float ones[4] = {1, 1, 1, 1};
  float product[4] = {};
  linear(context, ConstTensorView(ones, {2, 2}),
         pack_weights(context, ConstTensorView(ones, {2, 2}), PackedFor::kForward,
                      Precision::kBFloat16),
         {}, Activation::kNone, TensorView(product, {2, 2}));
  return product[0] == 2 && product[3] == 2 ? 0 : 1;
}
