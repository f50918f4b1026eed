#include "encoder/transformer_weights.h"

#include <cmath>

#include "base/errors.h"

namespace elias {

TransformerWeights<Shape> part_shapes(const TransformerShape& shape) {
  const int64_t D = shape.width, F = shape.inner;
  TransformerWeights<Shape> parts;
  parts.table = {shape.table_rows(), D};
  parts.gain = parts.shift = {D};
  parts.shape = shape;
  for (int64_t i = 0; i < shape.layers; ++i) {
    parts.layers.push_back({.qkv_weights = {3 * D, D},
                            .qkv_bias = {3 * D},
                            .mix_weights = {D, D},
                            .mix_bias = {D},
                            .attention_gain = {D},
                            .attention_shift = {D},
                            .up_weights = {F, D},
                            .up_bias = {F},
                            .down_weights = {D, F},
                            .down_bias = {D},
                            .output_gain = {D},
                            .output_shift = {D}});
  }
  return parts;
}

double weight_count(const TransformerShape& shape) {
  const auto shapes = part_shapes(shape);
  double count = 0;
  for_parts(shapes, [&](const std::string&, const Shape& part) {
    count += static_cast<double>(part.elements());
  });
  return count;
}

void check_shape(const TransformerShape& shape, const std::string& name) {
  const auto require = [&](bool sound, const char* what, int64_t value) {
    if (!sound) throw InputError("{}: {} cannot be {}", name, what, value);
  };
  constexpr int64_t kMost = int64_t{1} << 24;  // of any size, which keeps products of them in range
  const auto in_range = [](int64_t value, int64_t least) {
    return value >= least && value <= kMost;
  };
  require(in_range(shape.vocabulary, 1), "the size of the vocabulary", shape.vocabulary);
  require(in_range(shape.positions, 2), "the number of positions", shape.positions);
  require(in_range(shape.types, 0), "the number of token types", shape.types);
  require(in_range(shape.width, 1), "the width", shape.width);
  require(in_range(shape.heads, 1), "the number of heads", shape.heads);
  require(in_range(shape.inner, 1), "the inner width", shape.inner);
  constexpr int64_t kMostLayers = 1000;
  require(shape.layers >= 1 && shape.layers <= kMostLayers, "the number of layers", shape.layers);
  if (shape.width % shape.heads != 0) {
    throw InputError("{}: the width {} is not a multiple of the {} heads", name, shape.width,
                     shape.heads);
  }
  if (!(shape.epsilon > 0) || !std::isfinite(shape.epsilon)) {
    throw InputError("{}: epsilon of the layer norms is {}, but must be positive", name,
                     shape.epsilon);
  }
}

}  // namespace elias
