// Labels in ten groups of equal size by how often they stand in the training data, head to tail.
//
// Decile 1 holds the most frequent tenth of the labels, decile 10 the rarest. Labels without a
// training point are in no decile: nothing can be learned of them, so they would blur the tail's
// figures. They form a group of their own, number 0, "unseen".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace elias {

struct LabelDeciles {
  static constexpr size_t kGroups = 11;  // 0 is unseen, 1 to 10 the deciles
  static constexpr uint8_t kUnseen = 0;

  struct Group {
    uint64_t labels = 0;
    uint64_t fewest = 0, most = 0;  // training points of the group's rarest, most frequent label
    uint64_t positives = 0;         // training (point, label) pairs that fall on the group
    double share = 0;               // positives as a share of all of them; 0 if there are none
  };

  std::vector<uint8_t> group_of;  // L: the group of each label
  std::array<Group, kGroups> groups{};
};

/// `counts[l]` is the number of training points of label l. With S labels seen, the one of rank r
/// (counts descending, equal counts by id ascending, r from 0) is in decile 1 + floor(10 r / S):
/// the deciles differ in size by at most one. With fewer than ten labels some deciles are empty.
LabelDeciles label_deciles(std::span<const uint64_t> counts);

/// "unseen", or the decile's number.
std::string group_name(size_t group);

}  // namespace elias
