#include "data/label_deciles.h"

#include <algorithm>

namespace elias {
namespace {

std::vector<uint32_t> seen_by_frequency(std::span<const uint64_t> counts) {
  std::vector<uint32_t> labels;
  for (size_t l = 0; l < counts.size(); ++l) {
    if (counts[l] > 0) labels.push_back(static_cast<uint32_t>(l));
  }
  std::sort(labels.begin(), labels.end(), [&](uint32_t a, uint32_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
  });
  return labels;
}

void add_label(LabelDeciles::Group& group, uint64_t count) {
  group.fewest = group.labels == 0 ? count : std::min(group.fewest, count);
  group.most = std::max(group.most, count);
  group.positives += count;
  ++group.labels;
}

}  // namespace

LabelDeciles label_deciles(std::span<const uint64_t> counts) {
  LabelDeciles result;
  result.group_of.assign(counts.size(), LabelDeciles::kUnseen);
  const std::vector<uint32_t> labels = seen_by_frequency(counts);
  for (size_t rank = 0; rank < labels.size(); ++rank) {
    result.group_of[labels[rank]] = static_cast<uint8_t>(1 + 10 * rank / labels.size());
  }
  uint64_t total = 0;
  for (size_t l = 0; l < counts.size(); ++l) {
    add_label(result.groups[result.group_of[l]], counts[l]);
    total += counts[l];
  }
  for (auto& group : result.groups) {
    if (total > 0) group.share = static_cast<double>(group.positives) / static_cast<double>(total);
  }
  return result;
}

std::string group_name(size_t group) {
  return group == LabelDeciles::kUnseen ? "unseen" : std::to_string(group);
}

}  // namespace elias
