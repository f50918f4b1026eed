#include "train/masked_words.h"

#include "base/errors.h"
#include "base/random.h"

namespace elias {

WordMasker::WordMasker(const WordPieceConfig& tokens, float share, const std::string& name)
    : is_special_(tokens.tokens.rows()), share_(share) {
  bool found = false;
  for (const WordPieceConfig::Added& added : tokens.added) {
    is_special_[added.token.id] = true;
    if (added.token.content != "[MASK]") continue;
    mask_ = added.token.id;
    found = true;
  }
  for (uint32_t id = 0; id < is_special_.size(); ++id) {
    if (!is_special_[id]) words_.push_back(id);
  }
  if (!found || words_.empty()) {
    throw InputError("{}: its vocabulary has no {}: learn one by 'elias vocab'", name,
                     found ? "word" : "[MASK]");
  }
}

MaskedWords WordMasker::mask(const TokenRows& rows, std::span<const uint32_t> texts, uint64_t seed,
                             uint64_t stream) const {
  constexpr uint64_t kMasks = 0x6d61736b;  // apart from the streams of other uses
  constexpr double kMasked = 0.8, kReplaced = 0.1;
  const Random random(seed ^ kMasks, stream);
  MaskedWords masked;
  for (const uint32_t text : texts) {
    for (const uint32_t id : rows.row(text)) {
      const auto place = static_cast<uint64_t>(masked.inputs.ids.size());
      masked.inputs.ids.push_back(id);
      if (is_special_[id] || random.uniform(3 * place) >= double{share_}) continue;
      masked.places.push_back(static_cast<int32_t>(place));
      masked.words.push_back(static_cast<int32_t>(id));
      const double fate = random.uniform(3 * place + 1);
      if (fate < kMasked) {
        masked.inputs.ids.back() = mask_;
      } else if (fate < kMasked + kReplaced) {
        masked.inputs.ids.back() = words_[random.below(3 * place + 2, words_.size())];
      }
    }
    masked.inputs.offsets.push_back(masked.inputs.ids.size());
  }
  return masked;
}

}  // namespace elias
