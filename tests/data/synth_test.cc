#include "data/synth/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/errors.h"

namespace elias {
namespace {

SynthSettings settings(uint64_t labels, uint64_t points) {
  SynthSettings result;
  result.labels = labels;
  result.points = points;
  return result;
}

TEST(Synth, IsAFunctionOfItsSeed) {
  ThreadPool one(1), seven(7);
  const SynthWorld world(settings(500, 3000));
  const PointBatch batch = world.points(0, 0, 3000, one);
  EXPECT_EQ(batch.texts.bytes,
            SynthWorld(settings(500, 3000)).points(0, 0, 3000, seven).texts.bytes);
  // Any cut gives the same points.
  PointBatch pieces = world.points(0, 0, 1000, seven);
  pieces.texts.append(world.points(0, 1000, 3000, one).texts);
  EXPECT_EQ(pieces.texts.bytes, batch.texts.bytes);
  SynthSettings other = settings(500, 3000);
  other.seed = 2;
  EXPECT_NE(SynthWorld(other).points(0, 0, 3000, one).texts.bytes, batch.texts.bytes);
  EXPECT_NE(world.points(1, 0, 3000, one).texts.bytes, batch.texts.bytes);
}

TEST(Synth, FrequenciesFollowZipf) {
  ThreadPool pool(2);
  const SynthWorld world(settings(1000, 100000));
  const auto counts = column_counts(world.points(0, 0, 100000, pool).labels);
  // Slope of log count over log rank, on the sums of ranks 1-10, 10-100, 100-1000.
  const auto sum = [&](size_t begin, size_t end) {
    double total = 0;
    for (size_t i = begin; i < end; ++i) total += static_cast<double>(counts[i]);
    return total / static_cast<double>(end - begin);
  };
  const double slope = std::log(sum(10, 100) / sum(100, 1000)) / std::log(10.0);
  EXPECT_GT(slope, 0.6);
  EXPECT_LT(slope, 1.2);
  EXPECT_GT(counts[0], 20 * counts[999]);
}

TEST(Synth, FrequentLabelsHaveSeveralGroups) {
  const SynthWorld world(settings(1000, 1));
  EXPECT_EQ(world.topics_of(0).size(), 3u);
  EXPECT_EQ(world.topics_of(50).size(), 2u);
  EXPECT_EQ(world.topics_of(999).size(), 1u);
  for (uint64_t label = 0; label < 20; ++label) {
    const auto topics = world.topics_of(label);
    EXPECT_EQ(std::set(topics.begin(), topics.end()).size(), topics.size());
  }
  EXPECT_NE(world.signature(0, world.topics_of(0)[0]), world.signature(0, world.topics_of(0)[1]));
}

// Without noise, every label of a point is announced by all its words for one of its topics.
TEST(Synth, TextsAnnounceTheirLabels) {
  ThreadPool pool(2);
  SynthSettings quiet = settings(300, 500);
  quiet.noise = 0;
  const SynthWorld world(quiet);
  const PointBatch batch = world.points(0, 0, 500, pool);
  for (size_t row = 0; row < batch.rows(); ++row) {
    const std::string text = " " + std::string(batch.texts.row(row)) + " ";
    for (uint32_t label : batch.labels.row(row).columns) {
      const auto topics = world.topics_of(label);
      EXPECT_TRUE(std::any_of(topics.begin(), topics.end(), [&](uint32_t topic) {
        const auto words = world.signature(label, topic);
        return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
          return text.find(" " + word + " ") != std::string::npos;
        });
      }));
    }
  }
}

TEST(Synth, NamesAreDistinctAndSettingsChecked) {
  const SynthWorld world(settings(20000, 1));
  std::set<std::string> names;
  for (uint64_t label = 0; label < 20000; ++label) names.insert(world.label_name(label));
  EXPECT_EQ(names.size(), 20000u);
  EXPECT_THROW(SynthWorld(settings(1, 10)), InputError);
  EXPECT_THROW(SynthWorld(settings(10, 0)), InputError);
  SynthSettings bad = settings(10, 10);
  bad.noise = 1.5;
  EXPECT_THROW(SynthWorld{bad}, InputError);
}

TEST(Synth, TwoLabelsAreEnough) {
  ThreadPool pool(1);
  const PointBatch batch = SynthWorld(settings(2, 10)).points(0, 0, 10, pool);
  EXPECT_EQ(batch.rows(), 10u);
  EXPECT_EQ(batch.labels.cols, 2u);
}

}  // namespace
}  // namespace elias
