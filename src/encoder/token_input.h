// Which transformer an encoder is, and how texts become the tokens that it reads.
#pragma once

#include <cstdint>

#include "encoder/transformer_config.h"
#include "text/wordpiece.h"

namespace elias {

struct TokenInput {
  TransformerConfig transformer;
  WordPieceConfig words;
  int64_t max_length = 128;  // tokens of a text, [CLS] and [SEP] among them: what follows is cut
};

}  // namespace elias
