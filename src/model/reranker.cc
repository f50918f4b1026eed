#include "model/reranker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"

namespace elias {

void check_ranker(const RankerPart& ranker, int64_t V, int64_t D, int64_t L,
                  const std::string& name, ThreadPool& pool) {
  const int64_t columns = ranker_columns(ranker.input, V, D);
  if (columns > std::numeric_limits<int32_t>::max()) {
    throw InputError("{}: a ranker of {} features cannot be: copy the model again", name, columns);
  }
  check_sparse_ranker(ranker.weights, L, columns, name, pool);
  check_mix(ranker.mix, name);
  if (ranker.top >= 1 && ranker.input.most_words >= 1) return;
  throw InputError("{}: a ranker of {} labels and {} words cannot be: copy the model again", name,
                   ranker.top, ranker.input.most_words);
}

Reranker::Reranker(const RankerPart& ranker, int64_t V, int64_t D, Isa isa)
    : V_(V),
      input_(ranker.input),
      query_(ranker.weights, ranker_columns(ranker.input, V, D), isa) {}

void Reranker::rank(const RankerPart& ranker, const CsrRow& words, std::span<const float> phi,
                    std::span<int32_t> labels, std::span<float> scores) {
  const auto found =
      static_cast<size_t>(std::find(labels.begin(), labels.end(), -1) - labels.begin());
  const size_t top = std::min(found, static_cast<size_t>(ranker.top));
  if (top == 0) return;
  margins_.resize(top);
  query_.margins(input_.of(words, V_, phi), labels.first(top), margins_);
  scored_.clear();
  for (size_t i = 0; i < top; ++i) {
    const float score = ranker.mix.score(
        {.p = scores[i], .margin = margins_[i], .count = ranker.label_counts[labels[i]]});
    scored_.push_back({.score = std::isnan(score) ? 0 : score, .label = labels[i]});
  }
  std::ranges::sort(scored_, is_better);
  const float last = scores[top - 1], scale = last > 0 ? scored_.back().score / last : 0;
  for (size_t i = 0; i < found; ++i) {
    if (i < top) labels[i] = scored_[i].label;
    scores[i] = i < top ? scored_[i].score : scores[i] * scale;
  }
}

}  // namespace elias
