#include "train/ranker_stage.h"

#include <gtest/gtest.h>

#include "tests/data/sparse.h"
#include "tests/model/tiny_model.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

/// A model of random weights on disk, points for it, and a run of the stage that can be stopped.
class RankerStageTest : public testing::Test {
 protected:
  RankerStageTest() {
    settings_.ranker_top = 10;
    settings_.ranker_dropped = 0.01F;
    const std::vector<uint64_t> counts(static_cast<size_t>(tiny_.sizes().L), 5);
    LabelSpace labels;
    labels.require_ids("here");
    labels.cover_ids(static_cast<uint64_t>(tiny_.sizes().L));
    const ModelParts parts{
        .method = "elias",
        .members = {{.weights = tiny_.views(),
                     .search = {.alpha = 3, .beam = 4, .shortlist = 20, .gamma = 0.5F},
                     .stage1_clusters = {}}},
        .fusion = {},
        .labels = &labels,
        .label_counts = counts,
        .points = 300,
        .training = {},
    };
    write_model(folder_ / "model", parts, LabelStorage::kFloat32);
  }

  /// Stops before block `blocks`, if it comes to that.
  std::optional<LearnedRanker> run(int threads, int blocks, bool resume) {
    ThreadPool pool(threads);
    const Context context(pool);
    const Model model = Model::load(folder_ / "model", context);
    TrainingHooks hooks;
    int begun = 0;
    hooks.stop = [&] { return begun >= blocks; };
    hooks.progress = [&](const TrainingProgress& progress) {
      ++begun;
      EXPECT_GT(progress.share, 0);
      EXPECT_LE(progress.share, 1);
    };
    hooks.log = [](const std::string&, const nlohmann::ordered_json&) {};
    hooks.checkpoint_due = [] { return false; };
    hooks.checkpoint = [&](const SafetensorsWriter& writer) {
      writer.write(folder_ / "checkpoint");
    };
    std::optional<SafetensorsFile> checkpoint;
    if (resume) {
      checkpoint.emplace(folder_ / "checkpoint");
      EXPECT_TRUE(is_ranker_checkpoint(*checkpoint));
    }
    const auto find_lists = [&] {
      return training_lists_
                 ? *training_lists_
                 : labels_to_rank(context, settings_, model.predictor(), data_.features);
    };
    return train_ranker(context, settings_, data_, model, find_lists, hooks, checkpoint);
  }

  static void expect_same(const LearnedRanker& a, const LearnedRanker& b) {
    EXPECT_EQ(a.weights.offsets, b.weights.offsets);
    EXPECT_EQ(a.weights.layout, b.weights.layout);
    EXPECT_EQ(a.weights.ids, b.weights.ids);
    EXPECT_EQ(a.weights.weights, b.weights.weights);
    EXPECT_EQ(a.weights.bias, b.weights.bias);
    for (const float p : {0.1F, 0.5F, 0.9F}) {
      const FoundLabel label{.p = p, .margin = 3 * p - 1, .count = 4};
      EXPECT_EQ(a.mix.score(label), b.mix.score(label));
    }
  }

  static constexpr int kNever = 1000;
  TemporaryFolder folder_;
  const TinyModel tiny_{{}};
  Settings settings_;
  std::optional<Csr> training_lists_;  // none: what the model finds
  TrainingData data_{.features = random_csr(300, 30, 8, 9, 1),
                     .labels = random_csr(300, 40, 3, 1, 2),
                     .held_out_features = random_csr(80, 30, 8, 9, 3),
                     .held_out_labels = random_csr(80, 40, 3, 1, 4)};
};

TEST_F(RankerStageTest, LearnsFromWhatTheModelFinds) {
  const auto learned = run(1, kNever, false);
  ASSERT_TRUE(learned);
  EXPECT_EQ(learned->weights.bias.size(), 40U);
  EXPECT_GT(learned->weights.weights.size(), 200U);
  const RankerPart part = learned->part(settings_, {});
  EXPECT_EQ(part.top, 10);
  EXPECT_EQ(part.input.parts, RankerParts::kWords);
  EXPECT_EQ(part.mix.kind, MixKind::kLearned);
}

TEST_F(RankerStageTest, LearnsFromTheListsItIsGiven) {
  const auto from_model = run(1, kNever, false);
  training_lists_ = random_csr(300, 40, 10, 1, 5);
  const auto from_lists = run(1, kNever, false);
  training_lists_->values.assign(training_lists_->nonzeros(), 1);  // scores do not matter
  const auto from_same_labels = run(1, kNever, false);
  ASSERT_TRUE(from_model && from_lists && from_same_labels);
  EXPECT_NE(from_lists->weights.weights, from_model->weights.weights);
  expect_same(*from_lists, *from_same_labels);
}

TEST_F(RankerStageTest, SeesTheVectorOfAPointWhereAsked) {
  for (const RankerChoice choice : {RankerChoice::kVector, RankerChoice::kBoth}) {
    settings_.ranker = choice;
    const auto learned = run(1, kNever, false);
    ASSERT_TRUE(learned);
    const SparseRankerView ranker = learned->weights.view();
    int64_t of_words = 0, of_vector = 0;
    for (uint32_t label = 0; label < ranker.labels(); ++label) {
      for (uint32_t v = 0; v < 30 + static_cast<uint32_t>(tiny_.sizes().D); ++v) {
        (v < 30 ? of_words : of_vector) += ranker.weight(label, v) != 0;
      }
    }
    EXPECT_GT(of_vector, 100);
    EXPECT_EQ(of_words > 0, choice == RankerChoice::kBoth);
    EXPECT_EQ(of_words + of_vector, static_cast<int64_t>(ranker.ids.size()));
  }
}

TEST_F(RankerStageTest, AStoppedRunEndsInTheSameBits) {
  const auto whole = run(2, kNever, false);
  ASSERT_TRUE(whole);
  for (const int blocks : {0, 1, 4, 9}) {
    EXPECT_FALSE(run(1, blocks, false));
    EXPECT_FALSE(run(2, 3, true));
    const auto resumed = run(1, kNever, true);
    ASSERT_TRUE(resumed);
    expect_same(*resumed, *whole);
  }
}

TEST_F(RankerStageTest, WorksWithoutHeldOutPoints) {
  data_.held_out_features = random_csr(0, 30, 8, 9, 3);
  data_.held_out_labels = random_csr(0, 40, 3, 1, 4);
  for (const MixKind mix : {MixKind::kProduct, MixKind::kTree, MixKind::kLearned}) {
    settings_.mix = mix;
    const auto learned = run(1, kNever, false);
    ASSERT_TRUE(learned);
    EXPECT_GT(learned->mix.score({.p = 0.9F, .margin = 1, .count = 3}),
              learned->mix.score({.p = 0.1F, .margin = -1, .count = 3}));
  }
}

using RankerStageThreadTest = RankerStageTest;

TEST_F(RankerStageThreadTest, GivesTheSameBitsAtAnyNumberOfThreads) {
  const auto alone = run(1, kNever, false);
  ASSERT_TRUE(alone);
  for (const int threads : {2, 5}) {
    const auto learned = run(threads, kNever, false);
    ASSERT_TRUE(learned);
    expect_same(*learned, *alone);
  }
}

}  // namespace
}  // namespace elias
