// The cases that ops_bench measures: one operator each, at a size beyond the caches, or of a
// product.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/context.h"
#include "ops/tensor.h"

namespace elias::bench {

// What a case is held against.
enum class Bound {
  kCopy,     // bytes, of which the fewest count: every operand read once, every result written once
  kRead,     // the same, of what hardly writes: memory reads at another rate than it copies
  kFloat32,  // floating-point operations, by the widest vectors
  kBFloat16,  // floating-point operations, by products of bf16
  kPass,      // another piece of work, `pass`
};
inline constexpr std::string_view kBoundNames[] = {"copy", "read", "float32", "bf16", "pass"};

struct Case {
  std::string name;
  Bound bound;
  double amount;  // bytes or floating-point operations
  std::function<void(const Context&)> work;
  std::function<void(const Context&)> pass = {};
};

/// Random values, the same each time.
Tensor filled(Shape shape);

// Operands of memory-bound cases: together, and each alone, well beyond any cache.
struct Arrays {
  static constexpr int64_t N = 131072;
  static constexpr int64_t D = 1024;
  static constexpr double kBytes = 4.0 * N * D;  // of x, y and z each

  Tensor x = filled({N, D});
  Tensor y = filled({N, D});
  Tensor z = filled({N, D});
  Tensor per_row[2] = {filled({N}), filled({N})};
  Tensor per_column[4] = {filled({D}), filled({D}), filled({D}), filled({D})};
};

/// y [N, O] = x [N, D] W'.
struct ProductShape {
  int N, D, O;
  std::string name() const;
  double operations() const { return 2.0 * N * D * O; }
};
inline constexpr ProductShape kProductShapes[] = {
    {4096, 768, 768}, {4096, 768, 3072}, {4096, 384, 1536}, {512, 768, 8192}};

/// All cases this machine can run; they use `arrays`, which must outlive them.
std::vector<Case> all_cases(Arrays& arrays);

}  // namespace elias::bench
