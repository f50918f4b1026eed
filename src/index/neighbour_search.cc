// hnswlib's search does the same on its own copy of the links, one label's vector after the other.
// Here links are read where they lie, and all new neighbours of a label are scored together, so
// that their vectors come from memory at the same time: 1.5 times as fast (docs/decisions/0015).
#include "index/neighbour_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elias {
namespace {

bool is_worse(const NearLabel& a, const NearLabel& b) {
  return a.z != b.z ? a.z < b.z : a.label > b.label;
}
bool is_better(const NearLabel& a, const NearLabel& b) { return is_worse(b, a); }

std::span<const int32_t> without_padding(std::span<const int32_t> links) {
  return links.first(static_cast<size_t>(std::ranges::find(links, -1) - links.begin()));
}

}  // namespace

NeighbourSearch::NeighbourSearch(const NeighbourGraphView& graph, const RowDots& dots,
                                 int64_t width)
    : graph_(graph),
      dots_(dots),
      point_(static_cast<size_t>(width)),
      seen_(static_cast<size_t>(graph.label_count) / 64 + 1),
      z_(static_cast<size_t>(graph.most_links)) {}

std::span<const NearLabel> NeighbourSearch::find(std::span<const float> x, int64_t ef) {
  dots_.prepare(x, point_);
  const NearLabel entry = descend();
  meet(entry.label);
  ahead_.assign(1, entry);
  best_.assign(1, entry);
  const auto most = static_cast<size_t>(ef);
  while (!ahead_.empty()) {
    const NearLabel next = ahead_.front();
    if (best_.size() == most && is_worse(next, best_.front())) break;
    std::ranges::pop_heap(ahead_, is_worse);
    ahead_.pop_back();
    look_around(next.label, most);
  }
  forget();
  return best_;
}

// From level to level, on each to the label that has no better neighbour there.
NearLabel NeighbourSearch::descend() {
  score({&graph_.entry, 1});
  NearLabel here{z_.front(), graph_.entry};
  for (int64_t level = graph_.level(here.label); level > 0; --level) {
    for (bool moved = true; moved;) {
      moved = false;
      const auto links = without_padding(graph_.links_of(here.label, level));
      score(links);
      for (size_t i = 0; i < links.size(); ++i) {
        if (!(z_[i] > here.z)) continue;
        here = {z_[i], links[i]};
        moved = true;
      }
    }
  }
  return here;
}

void NeighbourSearch::look_around(int32_t label, size_t ef) {
  const size_t before = met_.size();
  for (const int32_t link : without_padding(graph_.links_of(label, 0))) meet(link);
  const auto links = std::span<const int32_t>(met_).subspan(before);
  score(links);
  for (size_t i = 0; i < links.size(); ++i) {
    const NearLabel found{z_[i], links[i]};
    const bool full = best_.size() == ef;
    if (full && is_worse(found, best_.front())) continue;
    ahead_.push_back(found);
    std::ranges::push_heap(ahead_, is_worse);
    if (full) {
      std::ranges::pop_heap(best_, is_better);
      best_.pop_back();
    }
    best_.push_back(found);
    std::ranges::push_heap(best_, is_better);
  }
}

void NeighbourSearch::score(std::span<const int32_t> labels) {
  dots_.with_point(point_, labels, z_);
  for (float& z : std::span(z_).first(labels.size())) {
    if (std::isnan(z)) z = -std::numeric_limits<float>::infinity();
  }
}

// Adds a label to those met, unless it is one.
void NeighbourSearch::meet(int32_t label) {
  uint64_t& word = seen_[static_cast<size_t>(label) / 64];
  const uint64_t bit = uint64_t{1} << (static_cast<size_t>(label) % 64);
  if ((word & bit) != 0) return;
  word |= bit;
  met_.push_back(label);
}

void NeighbourSearch::forget() {
  for (const int32_t label : met_) seen_[static_cast<size_t>(label) / 64] = 0;
  met_.clear();
}

}  // namespace elias
