// A transformer's weights in a safetensors file, under the names that Hugging Face gives them.
//
// Models of ours and checkpoints of theirs are read by the same code, and what is written here is
// read there. Their file has query, key and value apart, and the embeddings of words, positions and
// types: the weights are copied together once, when a file is read.
#pragma once

#include "data/io/safetensors.h"
#include "encoder/transformer_config.h"
#include "encoder/transformer_weights.h"
#include "ops/tensor.h"

namespace elias {

/// The weights in `file`, in float32. Throws InputError, naming the tensor, if one is missing, or
/// of another shape than `config` says. What else is there, as heads of other tasks, is passed
/// over.
TransformerWeights<Tensor> read_transformer(const SafetensorsFile& file,
                                            const TransformerConfig& config);

/// Adds the weights, which must stay until the file is written.
void add_transformer(const TransformerWeights<ConstTensorView>& weights, Architecture architecture,
                     SafetensorsWriter& writer);

}  // namespace elias
