// Made-up data with known structure, for tests and for machines without data.
//
// The world: topics, each with words of its own and a list of labels. A label belongs to one to
// `groups` topics, the frequent ones to more, and in each it is announced by other words: its
// points fall into separate groups of text, which a partition of the labels cannot serve well and a
// learned index can. Label frequencies follow Zipf's law. A point is drawn by choosing a label by
// frequency, one of its topics, and more labels of that topic.
//
// Everything is a function of the settings: point i is the same however many threads write it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/thread_pool.h"
#include "data/label_space.h"
#include "data/point_reader.h"

namespace elias {

struct SynthSettings {
  uint64_t labels = 1000;
  uint64_t points = 10000;
  uint64_t seed = 1;
  double labels_per_point = 3;  // on average, before the topic's supply runs out
  uint32_t groups = 3;          // most topics of a label
  double noise = 0.1;           // share of announcing words that are replaced by random ones
};

class SynthWorld {
 public:
  /// Throws InputError if a setting is out of range.
  explicit SynthWorld(const SynthSettings& settings);

  /// Points [begin, end) of a part: 0 is training, 1 is test, and so on; parts do not overlap.
  PointBatch points(uint64_t part, uint64_t begin, uint64_t end, ThreadPool& pool) const;

  /// "velu", "mikaro": the name of a label, made of syllables, different for each.
  std::string label_name(uint64_t label) const;

  /// The topics of a label, one for each of its groups.
  std::vector<uint32_t> topics_of(uint64_t label) const;

  /// The words that announce a label in the group it has in `topic`.
  std::vector<std::string> signature(uint64_t label, uint32_t topic) const;

 private:
  uint64_t groups_of(uint64_t label) const;
  std::vector<uint64_t> draw_labels(RandomSequence& random, uint32_t& topic) const;
  void add_point(uint64_t part, uint64_t index, PointBatch& batch) const;

  SynthSettings settings_;
  uint32_t topics_;
  uint64_t words_;                        // size of the announcing vocabulary
  std::vector<double> cumulative_;        // L: Zipf weights added up
  std::vector<uint64_t> topic_offsets_;   // topics + 1
  std::vector<uint32_t> topic_labels_;    // labels of each topic, most frequent first
  std::vector<double> topic_cumulative_;  // their Zipf weights added up, topic by topic
};

}  // namespace elias
