// Learning a transformer from texts alone, by telling masked words (BERT, Devlin et al. 2019): for
// those who have no checkpoint of their language or field, or want theirs nearer to their texts.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "data/io/safetensors.h"
#include "encoder/pretrained.h"
#include "ops/context.h"
#include "text/wordpiece.h"
#include "train/masked_words.h"
#include "train/trainer.h"

namespace elias {

struct PretrainSettings {
  uint64_t seed = 0;
  int64_t epochs = 0;        // 0: from the number of tokens
  int64_t batch_tokens = 0;  // of a step, at most, but one text; 0: from the number of tokens
  float rate = 0;            // at its peak; 0: by whether weights are new
  float warm_up = 0.06F;     // share of the steps
  float weight_decay = 0.01F;
  float masked = 0.15F;   // share of the words
  int64_t held_out = -1;  // texts; below zero: a twentieth, at most 2,000
  bool bf16 = true;
};

nlohmann::ordered_json to_json(const PretrainSettings& settings);

/// The texts that have a word to mask. Throws InputError, with `name` in front, if none has.
TokenRows texts_with_words(TokenRows texts, const WordMasker& masker, const std::string& name);

/// Sets what is open. `is_new`: the weights are random.
void resolve(PretrainSettings& settings, const TokenRows& texts, bool is_new);

/// What a run takes of memory, about: bytes.
uint64_t pretraining_memory(const PretrainSettings& settings, const TransformerShape& shape,
                            const TokenRows& texts);

/// How many of the rows `order` of `texts`, from the first on, make a batch: as many as have
/// `most` tokens together, but one at least.
size_t batch_size(const TokenRows& texts, std::span<const uint32_t> order, int64_t most);

struct PretrainHooks {
  std::function<bool()> stop;
  std::function<void(const TrainingProgress&)> progress;
  std::function<void(const std::string& event, const nlohmann::ordered_json& fields)> log;
  std::function<bool()> checkpoint_due;
  std::function<void(const SafetensorsWriter&)> checkpoint;
  /// The best weights on held-out texts so far, or the last where there is nothing to tell in
  /// those.
  std::function<void(const TransformerWeights<ConstTensorView>&)> keep;
};

/// `settings` must be resolved. `resume` is what `checkpoint` last got, verified, or null. Throws
/// InputError if it is of another run.
Outcome pretrain(const Context& context, const PretrainSettings& settings, const Pretrained& start,
                 const WordMasker& masker, const TokenRows& texts, const PretrainHooks& hooks,
                 std::optional<SafetensorsFile> resume);

}  // namespace elias
