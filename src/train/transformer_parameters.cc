#include "train/transformer_parameters.h"

#include <string>

namespace elias {

TransformerParameters::TransformerParameters(const TransformerWeights<Tensor>& start,
                                             bool table_by_rows)
    : shape_(start.shape) {
  for_parts(start, [&](const std::string& name, const Tensor& values) {
    parameters_.emplace_back(
        values.shape(),
        ParameterOptions{.name = "encoder." + name, .rows = table_by_rows && name == "table"});
    copy(values, parameters_.back().weights());
  });
}

std::vector<Parameter*> TransformerParameters::all() {
  std::vector<Parameter*> all;
  for (Parameter& parameter : parameters_) all.push_back(&parameter);
  return all;
}

TransformerWeights<ConstTensorView> TransformerParameters::views(Weights which) const {
  TransformerWeights<ConstTensorView> views;
  views.layers.resize(static_cast<size_t>(shape_.layers));
  views.shape = shape_;
  size_t next = 0;
  for_parts(views, [&](const std::string&, ConstTensorView& view) {
    view = parameters_[next++].values(which);
  });
  return views;
}

TransformerWeights<TensorView> TransformerParameters::gradients() {
  TransformerWeights<TensorView> views;
  views.layers.resize(static_cast<size_t>(shape_.layers));
  views.shape = shape_;
  size_t next = 0;
  for_parts(views, [&](const std::string&, TensorView& view) {
    Parameter& parameter = parameters_[next++];
    if (!parameter.options().rows) view = parameter.gradient();
  });
  return views;
}

}  // namespace elias
