#include "index/cluster_mass.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace elias {

ClusterMass::ClusterMass(int64_t C, ThreadPool& pool, size_t fewest_waiting)
    : pool_(pool), fewest_waiting_(fewest_waiting), limit_(fewest_waiting), rows_(C) {}

std::vector<ClusterMass::Row> ClusterMass::take() {
  merge();
  return std::move(rows_);
}

// By doubling, but never beyond what can wait.
void ClusterMass::make_room() {
  waiting_.reserve(std::min(limit_, std::max<size_t>(1024, 2 * waiting_.size())));
}

void ClusterMass::merge() {
  std::vector<size_t> starts(rows_.size() + 1);
  for (const Term& term : waiting_) ++starts[term.cluster + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<RowTerm> terms(waiting_.size());
  std::vector<size_t> next(starts.begin(), starts.end() - 1);
  for (const Term& term : waiting_) terms[next[term.cluster]++] = {term.label, term.mass};
  waiting_ = {};
  pool_.for_each(rows_.size(), [&](size_t c) {
    if (starts[c] < starts[c + 1]) {
      rows_[c] = merged(rows_[c], {terms.data() + starts[c], starts[c + 1] - starts[c]});
    }
  });
  size_t stored = 0;
  for (const Row& row : rows_) stored += row.labels.size();
  limit_ = std::max(fewest_waiting_, stored / 8);
}

ClusterMass::Row ClusterMass::merged(const Row& row, std::span<RowTerm> terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const RowTerm& a, const RowTerm& b) { return a.label < b.label; });
  size_t fresh = 0;
  auto old = row.labels.begin();
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i > 0 && terms[i].label == terms[i - 1].label) continue;
    old = std::lower_bound(old, row.labels.end(), terms[i].label);
    fresh += old == row.labels.end() || *old != terms[i].label;
  }
  Row result;
  result.labels.reserve(row.labels.size() + fresh);
  result.sums.reserve(row.labels.size() + fresh);
  const auto push = [&](int32_t label, double sum) {
    result.labels.push_back(label);
    result.sums.push_back(sum);
  };
  size_t i = 0;
  for (const RowTerm& term : terms) {
    for (; i < row.labels.size() && row.labels[i] <= term.label; ++i) {
      push(row.labels[i], row.sums[i]);
    }
    if (result.labels.empty() || result.labels.back() != term.label) push(term.label, 0);
    result.sums.back() += term.mass;
  }
  for (; i < row.labels.size(); ++i) push(row.labels[i], row.sums[i]);
  return result;
}

}  // namespace elias
