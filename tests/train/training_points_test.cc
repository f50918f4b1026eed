#include "train/training_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::HasSubstr;

class TrainingPointsTest : public testing::Test {
 protected:
  /// Reads trn with the settings, and dev if it is not empty.
  TrainingPoints read(const std::string& train, const std::string& dev = "") {
    write_file(folder_ / "trn", train);
    if (!dev.empty()) write_file(folder_ / "dev", dev);
    return read_training_points({folder_ / "trn", dev.empty() ? "" : folder_ / "dev", {}}, {},
                                settings_, pool_);
  }

  std::string refusal(const std::string& train, const std::string& dev = "") {
    try {
      read(train, dev);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  /// `count` points of labels a and b, with words.
  static std::string texts(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += fmt::format("{}\tcommon word{}\n", i % 2 == 0 ? "a" : "b,a", i % 5);
    }
    return text;
  }

  TemporaryFolder folder_;
  ThreadPool pool_{2};
  Settings settings_;
};

TEST_F(TrainingPointsTest, TextsBecomeFeaturesAndSomeAreHeldOut) {
  settings_.characters_high = 0;
  const TrainingPoints points = read(texts(40));
  ASSERT_TRUE(points.tfidf);
  EXPECT_EQ(points.tfidf->documents(), 40);
  EXPECT_EQ(points.sizes.points, 40);
  EXPECT_EQ(points.sizes.labels, 2);
  EXPECT_EQ(points.sizes.features, 6);
  EXPECT_EQ(points.sizes.labels_per_point, 1.5);
  EXPECT_EQ(points.sizes.features_per_point, 2);
  EXPECT_EQ(points.data.labels.rows(), 36);
  EXPECT_EQ(points.data.features.rows(), 36);
  EXPECT_EQ(points.data.held_out_labels.rows(), 4);
  EXPECT_EQ(points.data.held_out_features.rows(), 4);
  EXPECT_EQ(points.data.held_out_features.cols, 6);
  EXPECT_THAT(points.label_counts, testing::ElementsAre(40, 20));  // held-out ones included
  EXPECT_EQ(settings_.clusters, 1);
}

TEST_F(TrainingPointsTest, APointKeepsItsFeaturesAndLabels) {
  settings_.held_out = 3;
  std::string sparse = "20 21 20\n";
  for (int i = 0; i < 20; ++i)
    sparse += fmt::format("{} {}:{} {}:{}\n", i, i, 3 * i + 3, 20, 4 * i + 4);
  const TrainingPoints points = read(sparse);
  EXPECT_FALSE(points.tfidf);
  std::set<uint32_t> seen;
  const auto look = [&](const Csr& features, const Csr& labels) {
    for (size_t i = 0; i < labels.rows(); ++i) {
      const uint32_t id = labels.row(i).columns[0];
      EXPECT_EQ(features.row(i).columns[0], id);
      EXPECT_EQ(features.row(i).values[0], 0.6F);  // of unit length
      seen.insert(id);
    }
  };
  look(points.data.features, points.data.labels);
  look(points.data.held_out_features, points.data.held_out_labels);
  EXPECT_EQ(seen.size(), 20);
  EXPECT_EQ(points.data.held_out_labels.rows(), 3);
}

TEST_F(TrainingPointsTest, PointsWithoutLabelsAreLeftOut) {
  const TrainingPoints points = read(texts(10) + "\tno label here\n\talso common\n");
  EXPECT_EQ(points.unlabelled, 2);
  EXPECT_EQ(points.sizes.points, 10);
  EXPECT_EQ(points.data.labels.rows() + points.data.held_out_labels.rows(), 10);
  EXPECT_THAT(refusal("\tone\n\ttwo\n"), HasSubstr("no point has a label"));
  EXPECT_THAT(refusal(texts(10), "\tcommon\n"), HasSubstr("no point has a label"));
  EXPECT_THAT(refusal("a\tone\na\ttwo\n"), HasSubstr("one label alone"));
}

TEST_F(TrainingPointsTest, ADevFileTakesThePlaceOfHeldOutPoints) {
  settings_.held_out = 5;
  settings_.characters_high = 0;
  const TrainingPoints points = read(texts(10), "c\tunknown words\n\tno label\na\tcommon\n");
  EXPECT_EQ(settings_.held_out, 0);
  EXPECT_EQ(points.data.labels.rows(), 10);
  EXPECT_EQ(points.data.held_out_labels.rows(), 2);
  EXPECT_EQ(points.sizes.labels, 3);  // "c" has no point to learn from
  EXPECT_EQ(points.data.labels.cols, 3);
  EXPECT_EQ(points.label_counts[2], 0);
  EXPECT_EQ(points.data.held_out_features.row(0).size(), 0);
  EXPECT_EQ(points.unlabelled_dev, 1);
}

TEST_F(TrainingPointsTest, FilesMustFitTogether) {
  EXPECT_THAT(refusal("0\tone two\n1\ttwo\n", "0 1:1 2:1\n1 1:1\n"),
              HasSubstr("holds features, but"));
  EXPECT_THAT(refusal("2 3 2\n0 1:1\n1 2:1\n", "2 4 2\n0 1:1\n1 2:1\n"),
              HasSubstr("has 4 features"));
  EXPECT_THAT(refusal("2 3 2\n0\n1\n"), HasSubstr("no point has a feature"));
  const TrainingPoints points = read("0 1:1 2:1\n1 2:1\n", "0 1:1 7:1\n1 9:1\n");
  EXPECT_EQ(points.unknown_features, 2);
  EXPECT_EQ(points.data.held_out_features.cols, 3);
  EXPECT_EQ(points.data.held_out_features.row(0).size(), 1);
  EXPECT_EQ(points.data.held_out_features.row(1).size(), 0);
}

TEST_F(TrainingPointsTest, TheFingerprintIsOfTheDataAlone) {
  const auto first = read(texts(40)).fingerprint;
  settings_ = {};
  settings_.seed = 1;
  settings_.words_high = 2;
  EXPECT_EQ(read(texts(40)).fingerprint, first);
  std::string other = texts(40);
  other[other.size() - 2] = 'x';
  EXPECT_NE(read(other).fingerprint, first);
  other = texts(40);
  other[0] = 'b';
  EXPECT_NE(read(other).fingerprint["hash"], first["hash"]);
  EXPECT_NE(read(texts(40), texts(10)).fingerprint["hash"], first["hash"]);
}

TEST(HeldOutPoints, AreAFunctionOfTheSeed) {
  const auto chosen = held_out_points(1000, 100, 7);
  EXPECT_EQ(chosen.size(), 100);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), 100);
  EXPECT_LT(chosen.back(), 1000);
  EXPECT_EQ(held_out_points(1000, 100, 7), chosen);
  EXPECT_NE(held_out_points(1000, 100, 8), chosen);
  EXPECT_TRUE(held_out_points(10, 0, 7).empty());
  EXPECT_EQ(held_out_points(3, 3, 7), (std::vector<size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace elias
