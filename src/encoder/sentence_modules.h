// What sentence-transformers make of a transformer's hidden states, as files of their own beside it
// say: pooling (1_Pooling), scaling to unit length (2_Normalize), how long texts are, and in which
// case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/transformer_weights.h"

namespace elias {

struct SentenceModules {
  std::optional<Pooling> pooling;
  bool unit = false;                       // vectors are scaled to unit length
  bool lowercase = false;                  // texts are, whatever the tokeniser does
  std::optional<int64_t> max_length;       // tokens of a text
  std::vector<std::string> left_out = {};  // the classes of modules that are not known here
};

/// Throws InputError if hidden states are pooled as is not known here.
SentenceModules read_sentence_modules(const std::string& folder);

/// The files that write_sentence_modules() may write.
const std::vector<std::string>& sentence_files();

/// Writes into `folder`, which is there. `modules` says pooling and max_length.
void write_sentence_modules(const std::string& folder, const SentenceModules& modules,
                            int64_t width);

}  // namespace elias
