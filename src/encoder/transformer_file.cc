#include "encoder/transformer_file.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "data/io/stored_tensors.h"

namespace elias {
namespace {

/// One tensor of the file: rows [begin, end) of one of our parts.
struct Piece {
  std::string name;
  size_t part;  // in the order of for_parts
  int64_t begin, end;
};

/// The names of a layer's tensors, in the order of for_layer_parts, but with three for qkv.
using LayerNames = std::array<const char*, 8>;

struct Names {
  const char* layers;  // before the layer's number
  LayerNames of_layer;
};

constexpr Names kBert{
    "encoder.layer.",
    {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
     "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"}};
constexpr Names kDistilBert{
    "transformer.layer.",
    {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm",
     "ffn.lin1", "ffn.lin2", "output_layer_norm"}};

const Names& names_of(Architecture architecture) {
  return architecture == Architecture::kBert ? kBert : kDistilBert;
}

constexpr size_t kPartsBefore = 3;  // table, gain, shift
constexpr size_t kPartsOfLayer = 12;

/// All tensors of a file of that shape.
std::vector<Piece> pieces_of(Architecture architecture, const TransformerShape& shape) {
  const Names& names = names_of(architecture);
  const int64_t V = shape.vocabulary, P = shape.positions, S = shape.types, D = shape.width;
  std::vector<Piece> pieces = {{"embeddings.word_embeddings.weight", 0, 0, V},
                               {"embeddings.position_embeddings.weight", 0, V, V + P},
                               {"embeddings.LayerNorm.weight", 1, 0, D},
                               {"embeddings.LayerNorm.bias", 2, 0, D}};
  if (S > 0) pieces.push_back({"embeddings.token_type_embeddings.weight", 0, V + P, V + P + S});
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = names.layers + std::to_string(i) + ".";
    size_t part = kPartsBefore + static_cast<size_t>(i) * kPartsOfLayer;
    for (size_t n = 0; n < names.of_layer.size(); ++n) {
      const std::string name = layer + names.of_layer[n];
      const bool of_qkv = n < 3;
      const bool inner = n == 5;  // its outputs
      const int64_t rows = inner ? shape.inner : D;
      const int64_t begin = of_qkv ? static_cast<int64_t>(n) * D : 0;
      pieces.push_back({name + ".weight", part, begin, begin + rows});
      pieces.push_back({name + ".bias", part + 1, begin, begin + rows});
      if (n >= 2) part += 2;
    }
  }
  return pieces;
}

/// What stands before all names: checkpoints of models with a head have the encoder's name there.
std::string prefix_in(const SafetensorsFile& file) {
  for (const char* prefix : {"", "bert.", "distilbert."}) {
    if (file.tensors().contains(std::string(prefix) + "embeddings.word_embeddings.weight")) {
      return prefix;
    }
  }
  throw InputError(
      "{}: has no tensor embeddings.word_embeddings.weight: it is not a BERT or DistilBERT model",
      file.name());
}

/// Its name in the file: old checkpoints call a norm's weight and bias gamma and beta.
std::string name_in(const SafetensorsFile& file, const std::string& name) {
  if (file.tensors().contains(name)) return name;
  for (const auto& [now, before] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
                                    std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
    if (!name.ends_with(now)) continue;
    std::string old = name.substr(0, name.size() - std::string(now).size()) + before;
    if (file.tensors().contains(old)) return old;
  }
  return name;
}

void refuse_more_layers(const SafetensorsFile& file, const std::string& prefix,
                        const TransformerConfig& config) {
  const Names& names = names_of(config.architecture);
  const std::string next = prefix + names.layers + std::to_string(config.shape.layers) + ".";
  for (const auto& [name, tensor] : file.tensors()) {
    if (!name.starts_with(next)) continue;
    throw InputError(
        "{}: has a tensor {}, but its config.json says that there are {} layers: "
        "copy or save the model again",
        file.name(), name, config.shape.layers);
  }
}

}  // namespace

TransformerWeights<Tensor> read_transformer(const SafetensorsFile& file,
                                            const TransformerConfig& config) {
  const std::string prefix = prefix_in(file);
  const std::vector<Piece> pieces = pieces_of(config.architecture, config.shape);
  const auto shapes = part_shapes(config.shape);
  std::vector<Shape> of_part;
  for_parts(shapes, [&](const std::string&, const Shape& shape) { of_part.push_back(shape); });
  // Before there is room for them: config.json may say anything.
  for (const Piece& piece : pieces) {
    require_floats(file, name_in(file, prefix + piece.name),
                   of_part[piece.part].with(0, piece.end - piece.begin));
  }
  refuse_more_layers(file, prefix, config);
  auto weights = empty_weights<Tensor>(config.shape);
  std::vector<Tensor*> parts;
  for_both_parts(weights, shapes, [&](const std::string&, Tensor& part, const Shape& shape) {
    part = Tensor(shape, DType::kFloat32);
    parts.push_back(&part);
  });
  for (const Piece& piece : pieces) {
    copy_floats(file, name_in(file, prefix + piece.name),
                parts[piece.part]->view().slice(piece.begin, piece.end));
  }
  return weights;
}

void add_transformer(const TransformerWeights<ConstTensorView>& weights, Architecture architecture,
                     SafetensorsWriter& writer) {
  std::vector<ConstTensorView> parts;
  for_parts(weights,
            [&](const std::string&, const ConstTensorView& part) { parts.push_back(part); });
  for (const Piece& piece : pieces_of(architecture, weights.shape)) {
    writer.add(piece.name, stored(parts[piece.part].slice(piece.begin, piece.end)));
  }
  writer.set_metadata("format", "pt");  // which transformers asks for
}

}  // namespace elias
