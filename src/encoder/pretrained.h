// A transformer in a folder as Hugging Face's save_pretrained writes it: config.json,
// model.safetensors, and tokenizer.json or vocab.txt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "encoder/transformer_config.h"
#include "encoder/transformer_weights.h"
#include "ops/tensor.h"
#include "text/wordpiece.h"

namespace elias {

struct Pretrained {
  TransformerConfig config;
  TransformerWeights<Tensor> weights;
  WordPieceConfig tokens;
  std::optional<Pooling> pooling;  // where sentence-transformers say which
};

/// Throws InputError, naming file and tensor, on a folder that is not whole or of another
/// architecture.
Pretrained read_pretrained(const std::string& folder);

/// The files that write_pretrained() writes; config.json, the last, is written last.
const std::vector<std::string>& pretrained_files();

/// Makes the folder if need be, and writes all files, in the place of those that are there:
/// transformers reads it by AutoModel and AutoTokenizer, and sentence-transformers, which learn
/// from it what becomes of hidden states. Texts are cut after `max_length` tokens.
void write_pretrained(const std::string& folder, const TransformerConfig& config,
                      const TransformerWeights<ConstTensorView>& weights,
                      const WordPieceConfig& tokens, int64_t max_length);

/// Throws InputError, with `name` in front, if texts in these tokens are not what a transformer of
/// that shape reads: more tokens than it has, or none before a text.
void check_tokens(const WordPieceConfig& tokens, const TransformerShape& shape,
                  const std::string& name);

}  // namespace elias
