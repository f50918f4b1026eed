// What a transformer starts its training with: the folder of a pretrained one, or random weights.
#pragma once

#include <memory>
#include <string>

#include "base/thread_pool.h"
#include "data/text_rows.h"
#include "encoder/pretrained.h"
#include "train/settings.h"

namespace elias {

/// The sizes that "new:layers=4,width=256,heads=4" gives; `inner` is four times the width and the
/// vocabulary one of 30,000 tokens at most unless they are given.
struct NewTransformer {
  int64_t layers = 4, width = 256, heads = 4, inner = 0;
  int64_t vocabulary = 30'000;
  int64_t positions = 512;
  std::string words = {};  // a tokenizer.json or vocab.txt; empty: learned from the texts
};

/// A folder's name as it is told apart from others: x of x/ and ./x.
std::string encoder_name(const std::string& encoder);
/// True if `encoder` says so, and is not a folder.
bool is_new_transformer(const std::string& encoder);
/// Throws InputError, with `where` in front, if a name or a number is wrong.
NewTransformer parse_new_transformer(const std::string& encoder, const std::string& where);

/// Random weights, a function of the seed.
TransformerWeights<Tensor> random_transformer(const TransformerShape& shape, uint64_t seed);

/// A transformer of these sizes with random weights, for these tokens.
Pretrained make_transformer(const NewTransformer& sizes, WordPieceConfig words, uint64_t seed);

/// The encoder that the settings name; a vocabulary that is to be learned is that of `texts`. Sets
/// what follows from it in the settings: pooling and max_length.
std::shared_ptr<const Pretrained> start_transformer(Settings& settings, const TextRows& texts,
                                                    ThreadPool& pool);

}  // namespace elias
