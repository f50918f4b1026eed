#include "ranker/ranker_input.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace elias {
namespace {

void scale_to_unit_length(std::span<float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * double{value};
  if (sum == 0) return;
  const double length = std::sqrt(sum);
  for (float& value : values) value = static_cast<float>(double{value} / length);
}

}  // namespace

CsrRow RankerInput::of(const CsrRow& words, int64_t V, std::span<const float> phi) {
  columns_.clear();
  values_.clear();
  if (options_.has_words()) add_words(words);
  if (options_.has_vector()) add_vector(V, phi);
  return {columns_, values_};
}

void RankerInput::add_words(const CsrRow& words) {
  const auto most = static_cast<size_t>(options_.most_words);
  // As large as the last that is kept; of equal ones the first.
  float least = 0;
  size_t equal = words.size();
  if (words.size() > most) {
    sizes_.clear();
    for (const float value : words.values) sizes_.push_back(std::abs(value));
    const auto last = sizes_.begin() + static_cast<ptrdiff_t>(most - 1);
    std::nth_element(sizes_.begin(), last, sizes_.end(), std::greater<>());
    least = *last;
    equal = most - static_cast<size_t>(std::count_if(sizes_.begin(), last,
                                                     [&](float size) { return size > least; }));
  }
  for (size_t i = 0; i < words.size(); ++i) {
    const float size = std::abs(words.values[i]);
    if (size < least || (size == least && equal == 0)) continue;
    if (size == least) --equal;
    columns_.push_back(words.columns[i]);
    values_.push_back(words.values[i]);
  }
  scale_to_unit_length(values_);
}

void RankerInput::add_vector(int64_t V, std::span<const float> phi) {
  const size_t first = values_.size();
  for (size_t d = 0; d < phi.size(); ++d) {
    if (phi[d] == 0) continue;
    columns_.push_back(static_cast<uint32_t>(static_cast<size_t>(V) + d));
    values_.push_back(phi[d]);
  }
  scale_to_unit_length(std::span(values_).subspan(first));
}

}  // namespace elias
