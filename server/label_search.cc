#include "server/label_search.h"

#include <algorithm>
#include <tuple>

namespace elias::server {
namespace {

void lower(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
}

}  // namespace

LabelSearch::LabelSearch(const Model& model)
    : points_(model.label_counts().begin(), model.label_counts().end()) {
  offsets_.reserve(points_.size() + 1);
  offsets_.push_back(0);
  for (uint32_t label = 0; label < points_.size(); ++label) {
    names_ += model.label_name(label);
    names_ += '\n';
    offsets_.push_back(names_.size());
  }
  lower(names_);
}

std::vector<uint32_t> LabelSearch::find(std::string_view part, size_t most) const {
  enum Kind : uint8_t { kWhole, kBeginning, kInside };
  struct Found {
    Kind kind;
    uint32_t label;
  };
  if (part.find('\n') != std::string_view::npos) return {};  // it would span two names
  std::string wanted(part);
  lower(wanted);
  std::vector<Found> found;
  for (size_t label = 0; label < points_.size(); ++label) {
    const size_t at = names_.find(wanted, offsets_[label]);
    if (at == std::string::npos) break;
    // The label in which it was found; those before it do not have it.
    label = static_cast<size_t>(std::ranges::upper_bound(offsets_, at) - offsets_.begin()) - 1;
    const bool whole = offsets_[label + 1] - offsets_[label] == wanted.size() + 1;
    const Kind kind = at > offsets_[label] ? kInside : whole ? kWhole : kBeginning;
    found.push_back({kind, static_cast<uint32_t>(label)});
  }
  const auto before = [&](const Found& a, const Found& b) {
    return std::tuple(a.kind, points_[b.label], a.label) <
           std::tuple(b.kind, points_[a.label], b.label);
  };
  const size_t count = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<ptrdiff_t>(count), before);
  std::vector<uint32_t> labels(count);
  for (size_t i = 0; i < count; ++i) labels[i] = found[i].label;
  return labels;
}

}  // namespace elias::server
