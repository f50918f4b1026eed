#include "head/label_regularisers.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "head/directions.h"
#include "head/label_similarity.h"
#include "ops/product/linear.h"
#include "ops/rows/row_access.h"

namespace elias {
namespace {

// Losses are small differences of large numbers of terms: no product of them is rounded.
constexpr Precision kPrecision = Precision::kFloat32;

/// The sum of loss(row) over all rows, the same at any number of threads.
template <typename Loss>
double sum_over_rows(ThreadPool& pool, size_t rows, const Loss& loss) {
  std::vector<double> losses(rows);
  for_rows(pool, rows, [&](size_t i) { losses[i] = loss(i); });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

// Each turns row i of G into that of E, where the gradient is 4 E V / R^2, and returns its loss.

double glas_row(size_t i, std::span<const float> u, std::span<float> g) {
  double loss = 0;
  for (size_t j = 0; j < g.size(); ++j) {
    g[j] -= u[j];
    if (j == i) g[j] = 0;
    loss += double{g[j]} * double{g[j]};
  }
  return loss;
}

double spreadout_row(size_t i, std::span<float> g) {
  g[i] = 0;
  double loss = 0;
  for (const float value : g) loss += double{value} * double{value};
  return loss;
}

// E is the Laplacian of U: what a label shares with all others on the diagonal, less U.
double laplacian_row(size_t i, std::span<const float> u, std::span<const double> squares,
                     std::span<float> g) {
  double loss = 0, shared = 0;
  for (size_t j = 0; j < g.size(); ++j) {
    loss += double{u[j]} * (squares[i] + squares[j] - 2 * double{g[j]});
    shared += double{u[j]};
    g[j] = -u[j];
  }
  g[i] = static_cast<float>(shared);
  return loss;
}

}  // namespace

double regularise_labels(const Context& context, Regulariser kind, float weight, ConstTensorView v,
                         ConstTensorView u, TensorView dv) {
  const int64_t R = v.rows();
  ELIAS_ASSERT(kind == Regulariser::kSpreadout || (u.rows() == R && u.width() == R));
  Tensor products({R, R}, DType::kFloat32);
  linear(context, v, pack_weights(context, v, PackedFor::kForward, kPrecision), {},
         Activation::kNone, products);
  std::vector<double> squares(static_cast<size_t>(R));
  for (size_t i = 0; i < squares.size(); ++i)
    squares[i] = double{row_of(TensorView(products), i)[i]};
  const double loss = sum_over_rows(context.pool(), squares.size(), [&](size_t i) {
    const std::span<float> g = row_of(TensorView(products), i);
    switch (kind) {
      case Regulariser::kGlas:
        return glas_row(i, row_of(u, i), g);
      case Regulariser::kLaplacian:
        return laplacian_row(i, row_of(u, i), squares, g);
      default:
        ELIAS_ASSERT(kind == Regulariser::kSpreadout);
        return spreadout_row(i, g);
    }
  });
  const double pairs = static_cast<double>(R) * static_cast<double>(R);
  scale(context.pool(), static_cast<float>(4 * double{weight} / pairs), products);
  add_linear_input_gradient(context, products,
                            pack_weights(context, v, PackedFor::kInputGradient, kPrecision), dv);
  return loss / pairs;
}

double add_gravity(const Context& context, float weight, ConstTensorView phi, ConstTensorView v,
                   TensorView dphi, TensorView dv) {
  const int64_t N = phi.rows(), R = v.rows();
  Tensor scores({N, R}, DType::kFloat32);
  linear(context, phi, pack_weights(context, v, PackedFor::kForward, kPrecision), {},
         Activation::kNone, scores);
  const double loss = sum_over_rows(context.pool(), static_cast<size_t>(N), [&](size_t i) {
    double sum = 0;
    for (const float score : row_of(ConstTensorView(scores), i)) {
      sum += double{score} * double{score};
    }
    return sum;
  });
  const double pairs = static_cast<double>(N) * static_cast<double>(R);
  scale(context.pool(), static_cast<float>(2 * double{weight} / pairs), scores);
  add_linear_input_gradient(context, scores,
                            pack_weights(context, v, PackedFor::kInputGradient, kPrecision), dphi);
  linear_weight_gradient(context, scores, phi, kPrecision, dv);
  return loss / pairs;
}

double regularise_directions(const Context& context, Regulariser kind, float weight,
                             ConstTensorView phi, ConstTensorView w, const Csr& similarity,
                             std::span<const int32_t> labels, TensorView dphi, TensorView drows) {
  ELIAS_ASSERT(kind != Regulariser::kNone && kind != Regulariser::kAuto);
  const auto R = static_cast<int64_t>(labels.size());
  const Directions rows(context, gathered_rows(context.pool(), w, labels));
  Tensor dv({R, w.width()}, DType::kFloat32);
  double loss = 0;
  if (kind == Regulariser::kGravity) {
    const Directions points(context, copy_to(Device::kCpu, phi));
    Tensor dpoints(phi.shape(), DType::kFloat32);
    loss = add_gravity(context, weight, points.unit, rows.unit, dpoints, dv);
    points.backward(context, dpoints, dpoints);
    add(context.pool(), dpoints, dphi);
  } else {
    Tensor u;
    if (kind != Regulariser::kSpreadout) {
      u = Tensor({R, R}, DType::kFloat32);
      similarity_block(similarity, labels, context.pool(), u);
    }
    loss = regularise_labels(context, kind, weight, rows.unit,
                             u ? ConstTensorView(u) : ConstTensorView(), dv);
  }
  rows.backward(context, dv, drows);
  return loss;
}

}  // namespace elias
