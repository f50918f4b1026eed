// A small transformer with random weights, and tokens for it.
#pragma once

#include <cmath>
#include <vector>

#include "encoder/transformer.h"
#include "tests/encoder/transformer_reference.h"
#include "tests/ops/numbers.h"

namespace elias {

/// Random weights, or zeros to gather gradients in.
struct OwnTransformer {
  explicit OwnTransformer(const TransformerShape& own, bool zero = false)
      : shape(own), tensors(empty_weights<Tensor>(own)) {
    auto shapes = part_shapes(shape);
    uint64_t seed = 10;
    const float bound = 1.5F / std::sqrt(static_cast<float>(shape.width));
    for_both_parts(tensors, shapes, [&](const std::string& name, Tensor& part, const Shape& size) {
      const float centre = name.ends_with("gain") ? 1 : 0;
      part = zero ? Tensor(size, DType::kFloat32)
                  : random_floats(size, ++seed, centre - bound, centre + bound);
    });
  }

  template <typename View>
  TransformerWeights<View> views() {
    tensors.shape = shape;
    return views_of<View>(tensors);
  }

  reference::TransformerValues<double> values() {
    auto values = empty_weights<std::vector<double>>(shape);
    for_both_parts(values, tensors, [](const std::string&, std::vector<double>& part, Tensor& own) {
      part = values_of<double>(own);
    });
    return values;
  }

  /// The table's gradient from that of each token's sum of embeddings.
  void set_table_gradient(const Context& context, const TokenBatch& batch,
                          ConstTensorView dembedded) {
    const RowGradient gradient =
        embedding_bag_backward(context, batch.embeddings(), dembedded, shape.table_rows());
    Tensor rows({gradient.size(), shape.width}, DType::kFloat32);
    expand_rows(context, gradient, rows);
    const auto used = gradient.rows.span<int32_t>();
    for (size_t r = 0; r < used.size(); ++r) {
      copy(rows.view().slice(static_cast<int64_t>(r), static_cast<int64_t>(r) + 1),
           tensors.table.view().slice(used[r], used[r] + 1));
    }
  }

  TransformerShape shape;
  TransformerWeights<Tensor> tensors;
};

/// Rows of these lengths with random ids below the vocabulary.
inline TokenRows random_tokens(const std::vector<size_t>& lengths, int64_t vocabulary,
                               uint64_t seed = 5) {
  TokenRows rows;
  RandomSequence random(seed, 0);
  for (const size_t length : lengths) {
    for (size_t i = 0; i < length; ++i) {
      rows.ids.push_back(static_cast<uint32_t>(random.below(static_cast<uint64_t>(vocabulary))));
    }
    rows.offsets.push_back(rows.ids.size());
  }
  return rows;
}

}  // namespace elias
