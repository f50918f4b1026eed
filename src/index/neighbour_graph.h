// A graph of labels and others near them, by which the labels of the largest inner products with a
// point are found without looking at all of them (HNSW, Malkov and Yashunin, 2016).
//
// All labels are on level 0, some of them on levels above it, each of which has fewer. A search
// comes down from the highest label, the entry, to the level of all, and looks around there. The
// graph holds links alone; vectors stay where the classifiers lie.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace elias {

/// A graph to read, wherever it lies.
struct NeighbourGraphView {
  int64_t label_count = 0;           // L
  int64_t most_links = 0;            // of a label on level 0; half as many above
  std::span<const int32_t> links;    // [L, most_links]: labels, then -1 in the places left
  std::span<const int64_t> offsets;  // [L + 1]; label l is on the levels 1 to offsets[l + 1] -
                                     // offsets[l] too, and its links there are these rows of:
  std::span<const int32_t> upper;    // [R, most_links / 2]
  int32_t entry = 0;

  explicit operator bool() const { return label_count > 0; }
  /// The highest level a label is on.
  int64_t level(int32_t label) const { return offsets[label + 1] - offsets[label]; }
  /// The links of a label on one of its levels, with -1 behind the last.
  std::span<const int32_t> links_of(int32_t label, int64_t level) const {
    const auto [from, row, width] = level == 0
                                        ? Row{links, label, most_links}
                                        : Row{upper, offsets[label] + level - 1, most_links / 2};
    return from.subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
  }

 private:
  struct Row {
    std::span<const int32_t> from;
    int64_t row, width;
  };
};

struct NeighbourGraph {
  int64_t most_links = 0;
  std::vector<int32_t> links;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> upper;
  int32_t entry = 0;

  NeighbourGraphView view() const;
};

/// Throws InputError, with `name` in front, unless a search can follow every link: sizes fit, and
/// each link of a level leads to a label on that level.
void check_neighbours(const NeighbourGraphView& graph, const std::string& name, ThreadPool& pool);

}  // namespace elias
