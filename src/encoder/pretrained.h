// A transformer in a folder as Hugging Face's save_pretrained writes it: config.json,
// model.safetensors, and tokenizer.json or vocab.txt (text/tokenizer_folder.h); of a sentence
// encoder also what it makes of hidden states (encoder/sentence_modules.h).
#pragma once

#include <cstdint>
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
  bool unit = false;               // where they say that vectors have unit length
  int64_t max_length = 0;          // tokens of the texts that it is for, its positions at most
  // Classes of modules of sentence-transformers that are not known here, such as dense layers.
  std::vector<std::string> left_out;
};

/// Throws InputError, naming file and tensor, on a folder that is not whole or of another
/// architecture.
Pretrained read_pretrained(const std::string& folder);

/// The files that write_pretrained() may write; config.json, the last, is written last.
const std::vector<std::string>& pretrained_files();

/// Makes the folder if need be, and writes all files, in the place of those that are there:
/// transformers reads it by AutoModel and AutoTokenizer, and sentence-transformers, which learn
/// from it what becomes of hidden states. Texts are cut after `max_length` tokens; `unit`: vectors
/// are scaled to unit length.
void write_pretrained(const std::string& folder, const TransformerConfig& config,
                      const TransformerWeights<ConstTensorView>& weights,
                      const WordPieceConfig& tokens, int64_t max_length, bool unit);

/// Throws InputError, with `name` in front, if texts in these tokens are not what a transformer of
/// that shape reads: more tokens than it has, or none before a text.
void check_tokens(const WordPieceConfig& tokens, const TransformerShape& shape,
                  const std::string& name);

}  // namespace elias
