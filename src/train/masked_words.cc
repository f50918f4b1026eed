#include "train/masked_words.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace elias {
namespace {

// Numbers that each place has: whether it is chosen, what becomes of it, and which word.
constexpr uint64_t kNumbers = 3;

}  // namespace

WordMasker::WordMasker(const WordPieceConfig& tokens, float share, const std::string& name)
    : is_special_(tokens.tokens.rows()), share_(share) {
  const auto mask = find_token(tokens, tokens.mask_token);
  if (!mask) {
    throw InputError(
        "{}: its vocabulary has no {}, which masked words become: name its own as mask_token in "
        "the tokenizer_config.json beside it, or start anew with a vocabulary of 'elias vocab'",
        name, shown(tokens.mask_token));
  }
  mask_ = *mask;
  is_special_[mask_] = true;
  if (const auto pad = find_token(tokens, tokens.pad_token)) is_special_[*pad] = true;
  for (const WordPieceConfig::Added& added : tokens.added) is_special_[added.token.id] = true;
  for (uint32_t id = 0; id < is_special_.size(); ++id) {
    if (!is_special_[id]) words_.push_back(id);
  }
  if (words_.empty()) {
    throw InputError(
        "{}: its vocabulary has no word but special tokens: give another, as 'elias vocab' learns",
        name);
  }
}

bool WordMasker::has_word(std::span<const uint32_t> text) const {
  return std::ranges::any_of(text, [&](uint32_t id) { return !is_special_[id]; });
}

// A place is chosen whose number is below this share: where one must be, that with the lowest is.
double WordMasker::share_of(std::span<const uint32_t> text, uint64_t place, const Random& random,
                            FewestMasked fewest) const {
  if (fewest == FewestMasked::kNone || !has_word(text)) return double{share_};
  double lowest = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_special_[text[i]]) lowest = std::min(lowest, random.uniform(kNumbers * (place + i)));
  }
  return std::max(double{share_}, std::nextafter(lowest, 1.0));
}

MaskedWords WordMasker::mask(const TokenRows& rows, std::span<const uint32_t> texts, uint64_t seed,
                             uint64_t stream, FewestMasked fewest) const {
  constexpr uint64_t kMasks = 0x6d61736b;  // apart from the streams of other uses
  constexpr double kMasked = 0.8, kReplaced = 0.1;
  const Random random(seed ^ kMasks, stream);
  MaskedWords masked;
  for (const uint32_t text : texts) {
    const double share = share_of(rows.row(text), masked.inputs.ids.size(), random, fewest);
    for (const uint32_t id : rows.row(text)) {
      const auto place = static_cast<uint64_t>(masked.inputs.ids.size());
      masked.inputs.ids.push_back(id);
      if (is_special_[id] || random.uniform(kNumbers * place) >= share) continue;
      masked.places.push_back(static_cast<int32_t>(place));
      masked.words.push_back(static_cast<int32_t>(id));
      const double fate = random.uniform(kNumbers * place + 1);
      if (fate < kMasked) {
        masked.inputs.ids.back() = mask_;
      } else if (fate < kMasked + kReplaced) {
        masked.inputs.ids.back() = words_[random.below(kNumbers * place + 2, words_.size())];
      }
    }
    masked.inputs.offsets.push_back(masked.inputs.ids.size());
  }
  return masked;
}

}  // namespace elias
