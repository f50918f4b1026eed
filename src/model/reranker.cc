#include "model/reranker.h"

#include <algorithm>

#include "base/errors.h"

namespace elias {

void check_ranker(const RankerPart& ranker, int64_t V, int64_t D, int64_t L,
                  const std::string& name, ThreadPool& pool) {
  check_sparse_ranker(ranker.weights, L, ranker_columns(ranker.input, V, D), name, pool);
  check_mix(ranker.mix, name);
  if (ranker.top >= 1 && ranker.input.most_words >= 1) return;
  throw InputError("{}: a ranker of {} labels and {} words cannot be: copy the model again", name,
                   ranker.top, ranker.input.most_words);
}

Reranker::Reranker(const RankerPart& ranker, int64_t V, int64_t D, Isa isa)
    : V_(V), input_(ranker.input), query_(ranker_columns(ranker.input, V, D), isa) {}

void Reranker::rank(const RankerPart& ranker, const CsrRow& words, std::span<const float> phi,
                    std::span<int32_t> labels, std::span<float> scores) {
  const auto found =
      static_cast<size_t>(std::find(labels.begin(), labels.end(), -1) - labels.begin());
  margins_.resize(found);
  query_.margins(ranker.weights, input_.of(words, V_, phi), labels.first(found), margins_);
  scored_.clear();
  for (size_t i = 0; i < found; ++i) {
    const FoundLabel label{.p = scores[i],
                           .margin = margins_[i],
                           .count = ranker.label_counts[static_cast<size_t>(labels[i])]};
    scored_.push_back({.score = ranker.mix.score(label), .label = labels[i]});
  }
  const size_t top = std::min(found, static_cast<size_t>(ranker.top));
  std::sort(scored_.begin(), scored_.begin() + static_cast<ptrdiff_t>(top), is_better);
  for (size_t i = 0; i < found; ++i) {
    if (i >= top) scored_[i].score = std::min(scored_[i].score, scored_[i - 1].score);
    labels[i] = scored_[i].label;
    scores[i] = scored_[i].score;
  }
}

}  // namespace elias
