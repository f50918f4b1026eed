// The parameters of a transformer in training.
#pragma once

#include <vector>

#include "encoder/transformer_weights.h"
#include "ops/tensor.h"
#include "train/optimiser.h"

namespace elias {

class TransformerParameters {
 public:
  /// They start with copies of the weights. By rows: the table is stepped where a batch uses it.
  TransformerParameters(const TransformerWeights<Tensor>& start, bool table_by_rows);

  /// In the order of for_parts; the table is the first.
  std::vector<Parameter*> all();
  Parameter& table() { return parameters_.front(); }

  TransformerWeights<ConstTensorView> views(Weights which) const;
  /// Room for gradients; of a table by rows there is none.
  TransformerWeights<TensorView> gradients();

 private:
  TransformerShape shape_;
  std::vector<Parameter> parameters_;
};

}  // namespace elias
