// From the lists of an ensemble's members to one list (ELIAS, section D.2: members differ in their
// clusters).
//
//   mean      the mean of the members' scores                  (the paper's sum, kept in [0, 1])
//   ranks     the mean of 1 / rank, which no member's scale of scores can sway
//   learned   a probability: sigmoid of a sum of rising piecewise linear functions of the members'
//             log(p / (1 - p)), at least -10 each, learned on held-out points
//
// A member that did not find a label counts as one that gave it the score 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "data/csr.h"
#include "data/scored_label.h"
#include "ranker/monotone_logistic.h"

namespace elias {

enum class FusionKind : uint8_t { kMean, kRanks, kLearned };
inline constexpr std::array<std::string_view, 3> kFusionNames = {"mean", "ranks", "learned"};

struct Fusion {
  FusionKind kind = FusionKind::kMean;
  MonotoneLogistic learned{};  // of kLearned, an input a member

  /// What a label that a member found with `score` at `place`, from 0, or not at all, brings along.
  float evidence(float score, size_t place) const;
  float no_evidence() const;
  /// Of a label with the evidence [M] of all members; in [0, 1].
  float score(std::span<const float> evidence) const;
};

/// What a member found for a point, best first; a label of -1 ends the list.
struct MemberList {
  std::span<const int32_t> labels;
  std::span<const float> scores;
};

/// One thread's room.
class Fuser {
 public:
  /// The labels of all lists, in rising order, with their fused scores; valid until the next call.
  std::span<ScoredLabel> fuse(const Fusion& fusion, std::span<const MemberList> lists);

 private:
  struct Found {
    int32_t label = -1;
    uint32_t member = 0;
    float evidence = 0;
  };
  std::vector<Found> found_;
  std::vector<float> evidence_;  // [M] of one label
  std::vector<ScoredLabel> fused_;
};

/// A learned one. `found` [M]: the labels that each member found for held-out points, and its
/// scores of them.
Fusion fit_fusion(std::span<const Csr> found, const Csr& truth, ThreadPool& pool);

/// Throws InputError, with the name of the file, if it is not one of `members` members.
void check_fusion(const Fusion& fusion, size_t members, const std::string& name);

}  // namespace elias
