// The search through the label graph: from a point's clusters to its shortlist (ELIAS, eq. 3).
//
// The score of a path through cluster c to label l is s_c * e_cl; a label's score is the highest of
// its paths (of equal ones that of the cluster listed first), and the shortlist are the K labels of
// the highest scores (of equal ones those of lower ids). A LabelSearch is one thread's room for it:
// it allocates at its construction, then no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/aligned_buffer.h"
#include "index/label_graph.h"
#include "index/search_loops.h"

namespace elias {

/// What a search writes: the shortlist in rising order of labels. `edges` and `slots`, both or
/// none, say how each label was reached: its edge in the graph, and the place of its cluster in the
/// list that was explored.
struct Shortlist {
  std::span<int32_t> labels;  // [K]
  std::span<float> scores;    // [K]
  std::span<int32_t> edges;   // [K] or empty
  std::span<int32_t> slots;   // [K] or empty
};

/// How a label was reached: the edge in the graph, and the slot of its cluster in the list that was
/// explored; both -1 for a label that was not.
struct LabelPath {
  int32_t edge = -1;
  int32_t slot = -1;
};

class LabelSearch {
 public:
  LabelSearch(int64_t L, Isa isa);

  /// Follows all edges of the clusters [m], whose scores [m] are in [0, 1]. Paths with a score of 0
  /// lead nowhere. What the search before found is forgotten. All three must stay as they are until
  /// paths and shortlist have been taken.
  void explore(const LabelGraphView& graph, std::span<const int32_t> clusters,
               std::span<const float> scores);

  /// Of the last exploration: the score of a label, which is 0 if it was not found, and the path it
  /// comes from.
  float score(int32_t label) const { return scores_[label]; }
  LabelPath path(int32_t label) const;

  /// Writes the shortlist, and returns its length, at most K = shortlist.labels.size(). `allowed`,
  /// if not empty, has a 1 for each of the L labels that may be in it; others that were found are
  /// forgotten.
  size_t shortlist(const Shortlist& shortlist, std::span<const uint8_t> allowed = {});

 private:
  /// The lowest score of a shortlist, and how many labels of just that score are in it.
  struct Cut {
    float score;
    size_t places;
  };

  void forget_others(std::span<const uint8_t> allowed);
  Cut cut_after(size_t K);
  RowPaths row(size_t slot) const;
  void find_paths(float least);
  size_t write_from(const Cut& cut, const Shortlist& shortlist);
  void write(size_t place, int32_t label, const Shortlist& shortlist) const;

  AlignedBuffer<float> scores_;     // [L], 0 where nothing was found
  AlignedBuffer<LabelPath> paths_;  // [L], of the labels in the shortlist
  AlignedBuffer<int32_t> found_;    // [L], the labels found
  AlignedBuffer<float> own_;        // [L], the scores of these
  AlignedBuffer<int32_t> some_;     // [L], places in a row, or labels of the shortlist
  AlignedBuffer<float> near_cut_;   // [L], scores that share the bucket of the cut
  AlignedBuffer<uint64_t> chosen_;  // a bit a label
  AlignedBuffer<uint32_t> buckets_;
  size_t count_ = 0;  // of the labels found

  LabelGraphView graph_;  // of the last exploration, as are these
  std::span<const int32_t> clusters_;
  std::span<const float> cluster_scores_;
  SearchLoops loops_;
};

}  // namespace elias
