#include "train/fold_lists.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/errors.h"
#include "tests/temporary_folder.h"
#include "tests/train/small_runs.h"
#include "train/ranker_stage.h"

namespace elias {
namespace {

TEST(DealFolds, GivesAllFoldsTheSameNumberOfPointsButForOne) {
  for (const size_t points : {2U, 10U, 11U, 1000U}) {
    for (const size_t folds : {1U, 2U, 3U, 16U}) {
      const auto fold_of = deal_folds(points, folds, 5);
      ASSERT_EQ(fold_of.size(), points);
      std::vector<size_t> sizes(folds);
      for (const uint8_t fold : fold_of) ++sizes.at(fold);
      const auto [least, most] = std::ranges::minmax(sizes);
      EXPECT_LE(most - least, 1U);
    }
  }
}

TEST(DealFolds, IsAFunctionOfTheSeed) {
  EXPECT_EQ(deal_folds(100, 3, 5), deal_folds(100, 3, 5));
  EXPECT_NE(deal_folds(100, 3, 5), deal_folds(100, 3, 6));
}

/// Runs of three folds on generated points.
class FoldListsTest : public testing::Test {
 protected:
  static constexpr size_t kPoints = 110, kFolds = 3;

  FoldListsTest() {
    settings_.ranker_folds = kFolds;
    settings_.ranker_top = 8;
    settings_.warm_epochs = settings_.stage1_epochs = settings_.stage2_epochs = 1;
    data_ = synth_data(SynthWorld({.labels = 60, .points = kPoints}), kPoints, 20, pool_);
  }

  Csr lists_of_fold(const TrainingData& data, size_t fold) {
    Csr lists;
    const TrainingHooks hooks{
        .stop = [] { return false; },
        .progress = [](const TrainingProgress&) {},
        .log = [](const std::string&, const nlohmann::ordered_json&) {},
        .checkpoint_due = [] { return false; },
        .checkpoint = [](const SafetensorsWriter&) {},
        .keep = [](const Member&) { FAIL() << "no model is to be kept"; },
    };
    const auto keep = [&](const Csr& found) { lists = found; };
    EXPECT_EQ(train_fold(context_, settings_, data, fold, hooks, keep, std::nullopt),
              Outcome::kFinished);
    return lists;
  }

  std::string file_of(const Csr& lists) {
    std::string path = folder_ / fmt::format("{}", files_++);
    fold_file(lists).write(path);
    return path;
  }

  std::vector<uint8_t> fold_of() const { return deal_folds(kPoints, kFolds, settings_.seed); }

  ThreadPool pool_{2};
  Context context_{pool_};
  TemporaryFolder folder_;
  int files_ = 0;
  Settings settings_ = small_settings();
  TrainingData data_;
};

/// The data with other labels for some points: each has those of the next of them.
TrainingData with_labels_changed(TrainingData data, const std::vector<size_t>& points) {
  std::vector<size_t> rows(data.labels.rows());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  for (size_t i = 0; i < points.size(); ++i) rows[points[i]] = points[(i + 1) % points.size()];
  data.labels = select_rows(data.labels, rows);
  return data;
}

// Whatever the labels of a fold's points are, its lists are the same; those of others matter.
TEST_F(FoldListsTest, AModelDoesNotSeeThePointsWhoseLabelsItFinds) {
  const auto folds = fold_of();
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<size_t> inside, outside;
    for (size_t i = 0; i < kPoints; ++i) (folds[i] == fold ? inside : outside).push_back(i);
    const Csr lists = lists_of_fold(data_, fold);
    EXPECT_EQ(lists.rows(), inside.size());
    EXPECT_EQ(lists_of_fold(with_labels_changed(data_, inside), fold).columns, lists.columns);
    EXPECT_NE(lists_of_fold(with_labels_changed(data_, outside), fold).columns, lists.columns);
  }
}

TEST_F(FoldListsTest, EveryPointHasTheListThatTheModelOfItsFoldFinds) {
  std::vector<SafetensorsFile> files;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    files.emplace_back(file_of(lists_of_fold(data_, fold)));
  }
  const Csr joined = join_folds(files, kPoints, data_.labels.cols, settings_.seed);
  ASSERT_EQ(joined.rows(), kPoints);
  EXPECT_EQ(joined.cols, 60U);
  EXPECT_EQ(joined.values, std::vector<float>(joined.nonzeros(), 1));

  const auto folds = fold_of();
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<size_t> outside;
    for (size_t i = 0; i < kPoints; ++i) {
      if (folds[i] != fold) outside.push_back(i);
    }
    TrainingData others = data_;
    others.features = select_rows(data_.features, outside);
    others.labels = select_rows(data_.labels, outside);
    Settings settings = settings_;
    settings.seed += 1 + fold;
    Csr all;  // what a model of the points outside finds for every point
    SmallRun run;
    run.keep = [&](const Member& member) {
      const Predictor predictor(context_, member.weights, member.search);
      all = predict_all(context_, predictor, data_.features, settings_.ranker_top);
    };
    run.train(context_, settings, others);
    for (size_t i = 0; i < kPoints; ++i) {
      if (folds[i] != fold) continue;
      EXPECT_TRUE(std::ranges::equal(joined.row(i).columns, all.row(i).columns)) << i;
    }
  }
}

TEST_F(FoldListsTest, FilesOfOtherPointsAreRefused) {
  const auto join = [&](const Csr& first) {
    Csr second;
    second.offsets.assign(3, 0);
    std::vector<SafetensorsFile> files;
    files.emplace_back(file_of(first));
    files.emplace_back(file_of(second));
    return join_folds(files, 4, 60, 0);  // two points a fold
  };
  Csr lists;
  lists.offsets = {0, 1, 3};
  lists.columns = {59, 3, 4};
  EXPECT_EQ(join(lists).rows(), 4U);
  Csr wrong = lists;
  wrong.columns[0] = 60;
  EXPECT_THROW(join(wrong), InputError);
  wrong = lists;
  wrong.offsets = {0, 4, 3};
  EXPECT_THROW(join(wrong), InputError);
  wrong.offsets = {0, 3};
  EXPECT_THROW(join(wrong), InputError);
  wrong.offsets = {0, 1, 2};
  EXPECT_THROW(join(wrong), InputError);
}

}  // namespace
}  // namespace elias
