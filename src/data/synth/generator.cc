#include "data/synth/generator.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/errors.h"

namespace elias {
namespace {

// Streams of the random numbers, one a use.
constexpr uint64_t kTopicStream = 1, kSignatureStream = 2, kFirstPartStream = 16;

constexpr uint64_t kSignatureWords = 3;    // announce a label in one of its groups
constexpr uint64_t kBackgroundWords = 20;  // a topic's own
constexpr uint64_t kBackgroundDraws = 6;   // of them in a text
constexpr uint64_t kLabelsPerTopic = 32;
constexpr double kZipfExponent = 0.9;

// A word for a number: syllables, with a first letter that tells the kinds of words apart.
std::string spell(char kind, uint64_t number) {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
  std::string word(1, kind);
  word += kVowels[number % kVowels.size()];
  number /= kVowels.size();
  do {
    word += kConsonants[number % kConsonants.size()];
    number /= kConsonants.size();
    word += kVowels[number % kVowels.size()];
    number /= kVowels.size();
  } while (number > 0);
  return word;
}

double zipf_weight(uint64_t label) {
  return std::pow(static_cast<double>(label + 1), -kZipfExponent);
}

// The index in `cumulative`, weights added up, that a uniform number falls on.
size_t draw(std::span<const double> cumulative, double uniform) {
  const auto found =
      std::upper_bound(cumulative.begin(), cumulative.end(), uniform * cumulative.back());
  return std::min(static_cast<size_t>(found - cumulative.begin()), cumulative.size() - 1);
}

void check(const SynthSettings& settings) {
  if (settings.labels < 2 || settings.labels > 100'000'000) {
    throw InputError("--labels {}: choose from 2 to 100,000,000", settings.labels);
  }
  if (settings.points < 1) throw InputError("--points 0: choose at least 1");
  if (!(settings.noise >= 0 && settings.noise <= 1)) {
    throw InputError("--noise {}: choose a share from 0 to 1", settings.noise);
  }
  if (settings.groups < 1 || settings.groups > 100) {
    throw InputError("--groups {}: choose from 1 to 100", settings.groups);
  }
  if (!(settings.labels_per_point >= 1 && settings.labels_per_point <= 100)) {
    throw InputError("--labels-per-point {}: choose from 1 to 100", settings.labels_per_point);
  }
}

}  // namespace

SynthWorld::SynthWorld(const SynthSettings& settings) : settings_(settings) {
  check(settings);
  topics_ = static_cast<uint32_t>(std::max<uint64_t>(2, settings.labels / kLabelsPerTopic));
  words_ = std::max<uint64_t>(1000, 2 * settings.labels);
  double sum = 0;
  cumulative_.reserve(settings.labels);
  for (uint64_t label = 0; label < settings.labels; ++label) {
    sum += zipf_weight(label);
    cumulative_.push_back(sum);
  }
  // Counting sort of (topic, label); labels are visited by frequency, so lists come out in order.
  topic_offsets_.assign(topics_ + 1, 0);
  for (uint64_t label = 0; label < settings.labels; ++label) {
    for (uint32_t topic : topics_of(label)) ++topic_offsets_[topic + 1];
  }
  for (uint32_t topic = 0; topic < topics_; ++topic) {
    topic_offsets_[topic + 1] += topic_offsets_[topic];
  }
  topic_labels_.resize(topic_offsets_.back());
  topic_cumulative_.resize(topic_offsets_.back());
  std::vector<uint64_t> next(topic_offsets_.begin(), topic_offsets_.end() - 1);
  for (uint64_t label = 0; label < settings.labels; ++label) {
    for (uint32_t topic : topics_of(label)) {
      const uint64_t at = next[topic]++;
      topic_labels_[at] = static_cast<uint32_t>(label);
      const double before = at == topic_offsets_[topic] ? 0 : topic_cumulative_[at - 1];
      topic_cumulative_[at] = before + zipf_weight(label);
    }
  }
}

// The most frequent hundredth of the labels has all groups, the next tenth about half of them.
uint64_t SynthWorld::groups_of(uint64_t label) const {
  const uint64_t most = std::min<uint64_t>(settings_.groups, topics_);
  if (label * 100 < settings_.labels) return most;
  return label * 10 < settings_.labels ? (most + 1) / 2 : 1;
}

std::vector<uint32_t> SynthWorld::topics_of(uint64_t label) const {
  const Random random(settings_.seed, kTopicStream);
  std::vector<uint32_t> topics;
  const uint64_t wanted = groups_of(label);
  for (uint64_t attempt = 0; topics.size() < wanted; ++attempt) {
    const auto topic = static_cast<uint32_t>(random.below((label << 16) + attempt, topics_));
    if (std::find(topics.begin(), topics.end(), topic) == topics.end()) topics.push_back(topic);
  }
  return topics;
}

std::string SynthWorld::label_name(uint64_t label) const { return spell('l', label); }

std::vector<std::string> SynthWorld::signature(uint64_t label, uint32_t topic) const {
  const Random random(settings_.seed, kSignatureStream);
  const uint64_t group = label * topics_ + topic;
  std::vector<std::string> words;
  for (uint64_t i = 0; i < kSignatureWords; ++i) {
    words.push_back(spell('s', random.below(group * kSignatureWords + i, words_)));
  }
  return words;
}

std::vector<uint64_t> SynthWorld::draw_labels(RandomSequence& random, uint32_t& topic) const {
  const uint64_t first = draw(cumulative_, random.uniform());
  const auto topics = topics_of(first);
  topic = topics[random.below(topics.size())];
  const uint64_t begin = topic_offsets_[topic], supply = topic_offsets_[topic + 1] - begin;
  // Geometric: one label, and another as long as the coin says so.
  uint64_t wanted = 1;
  const double more = 1 - 1 / settings_.labels_per_point;
  while (wanted < supply && random.uniform() < more) ++wanted;
  std::vector<uint64_t> labels = {first};
  const std::span weights(topic_cumulative_.data() + begin, supply);
  for (uint64_t attempt = 0; labels.size() < wanted && attempt < 20 * wanted; ++attempt) {
    const uint64_t label = topic_labels_[begin + draw(weights, random.uniform())];
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  return labels;
}

void SynthWorld::add_point(uint64_t part, uint64_t index, PointBatch& batch) const {
  // A stream a point: how many numbers one point takes does not move the others.
  RandomSequence random(settings_.seed, kFirstPartStream + (part << 40) + index);
  uint32_t topic = 0;
  const auto labels = draw_labels(random, topic);
  std::vector<std::string> words;
  for (uint64_t label : labels) {
    for (std::string& word : signature(label, topic)) {
      const bool noisy = random.uniform() < settings_.noise;
      words.push_back(noisy ? spell('s', random.below(words_)) : std::move(word));
    }
    batch.labels.columns.push_back(static_cast<uint32_t>(label));
    batch.labels.values.push_back(1.0f);
  }
  for (uint64_t i = 0; i < kBackgroundDraws; ++i) {
    words.push_back(spell('t', topic * kBackgroundWords + random.below(kBackgroundWords)));
  }
  for (size_t i = words.size() - 1; i > 0; --i) std::swap(words[i], words[random.below(i + 1)]);
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  batch.texts.add(text);
  batch.labels.finish_row(Csr::Repeats::kMaximum);
}

PointBatch SynthWorld::points(uint64_t part, uint64_t begin, uint64_t end, ThreadPool& pool) const {
  constexpr uint64_t kGrain = 1024;
  std::vector<PointBatch> chunks(chunk_count(end - begin, kGrain));
  pool.for_chunks(end - begin, kGrain, [&](size_t chunk, size_t first, size_t last) {
    for (uint64_t i = begin + first; i < begin + last; ++i) add_point(part, i, chunks[chunk]);
  });
  PointBatch batch;
  for (const auto& chunk : chunks) {
    batch.texts.append(chunk.texts);
    batch.labels.append(chunk.labels);
  }
  batch.labels.cols = settings_.labels;
  return batch;
}

}  // namespace elias
