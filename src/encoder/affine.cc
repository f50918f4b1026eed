#include "encoder/affine.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/errors.h"
#include "ops/product/linear.h"
#include "ops/rows/row_access.h"

namespace elias {
namespace {

constexpr size_t kSummedRows = 4096;  // of a chunk of column_lengths

}  // namespace

void affine(const Context& context, ConstTensorView x, ConstTensorView gain, ConstTensorView shift,
            TensorView y) {
  const auto scale = gain.span<float>(), offset = shift.span<float>();
  for_rows(context.pool(), static_cast<size_t>(x.rows()), [&](size_t row) {
    const auto from = row_of(x, row);
    const auto to = row_of(y, row);
    for (size_t d = 0; d < to.size(); ++d) to[d] = scale[d] * from[d] + offset[d];
  });
}

void affine_backward(const Context& context, ConstTensorView x, ConstTensorView gain, TensorView dy,
                     TensorView dgain, TensorView dshift) {
  linear_bias_gradient(context, dy, dshift);
  Tensor products(x.shape(), DType::kFloat32);
  const auto scale = gain.span<float>();
  for_rows(context.pool(), static_cast<size_t>(x.rows()), [&](size_t row) {
    const auto from = row_of(x, row);
    const auto gradient = row_of(dy, row), product = row_of(TensorView(products), row);
    for (size_t d = 0; d < gradient.size(); ++d) {
      product[d] = gradient[d] * from[d];
      gradient[d] *= scale[d];
    }
  });
  linear_bias_gradient(context, products, dgain);
}

void column_lengths(const Context& context, ConstTensorView w, TensorView lengths) {
  const auto V = static_cast<size_t>(w.rows()), D = static_cast<size_t>(w.width());
  ELIAS_ASSERT(lengths.shape() == Shape{w.width()});
  std::vector<float> sums(chunk_count(V, kSummedRows) * D, 0.0F);  // of squares, a row a chunk
  context.pool().for_chunks(V, kSummedRows, [&](size_t chunk, size_t begin, size_t end) {
    float* const sum = sums.data() + chunk * D;
    for (size_t row = begin; row < end; ++row) {
      const auto values = row_of(w, row);
      for (size_t d = 0; d < D; ++d) sum[d] += values[d] * values[d];
    }
  });
  for (size_t d = 0; d < D; ++d) {
    double all = 0;
    for (size_t i = d; i < sums.size(); i += D) all += double{sums[i]};
    lengths.data<float>()[d] = static_cast<float>(std::sqrt(all));
  }
}

}  // namespace elias
