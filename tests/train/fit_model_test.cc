// Whole runs in their folders: what they train, in which order, and that a run which was stopped or
// killed ends in the bytes of one that never was.
#include "train/fit_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/temporary_folder.h"
#include "tests/train/small_runs.h"

namespace elias {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr int64_t kNever = 1'000'000;

TrainingPoints small_points(ThreadPool& pool) {
  constexpr uint64_t kPoints = 100, kLabels = 40;
  TrainingPoints points;
  points.data = synth_data(SynthWorld({.labels = kLabels, .points = kPoints}), kPoints, 20, pool);
  points.labels.require_ids("here");
  points.labels.cover_ids(kLabels);
  points.label_counts = column_counts(points.data.labels);
  points.sizes.points = kPoints;
  return points;
}

/// What an end of the process leaves, be it ever so sudden: exceptions clean nothing up.
struct Killed {};

/// Runs in one folder, as often as it takes.
class Fit {
 public:
  Fit(const Settings& settings, const TrainingPoints& points, ThreadPool& pool)
      : settings_(settings), points_(points), context_(pool) {}

  /// Goes on with the run; it stops when it has told of so many steps, or is killed there.
  Outcome run(int64_t steps, bool kill = false) {
    RunFolder folder(path(), false);
    folder.begin({{"data", {{"points", 100}}}, {"settings", to_json(settings_)}});
    int64_t done = 0;
    const FitHooks hooks{.stop = [&] { return !kill && done >= steps; },
                         .progress =
                             [&](const TrainingProgress& progress) {
                               tell(progress);
                               if (++done >= steps && kill) throw Killed{};
                             },
                         .log = [](const std::string&, const nlohmann::ordered_json&) {}};
    const Outcome outcome = fit_model(context_, folder, settings_, points_,
                                      {.checkpoint_minutes = kill ? 0.0 : 1e6}, hooks);
    steps_ += done;
    return outcome;
  }

  /// The files of the model, by name.
  std::map<std::string, std::string> model() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(path() + "/run/best")) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }

  void finish() {
    RunFolder folder(path(), false);
    folder.begin({{"data", {{"points", 100}}}, {"settings", to_json(settings_)}});
    folder.finish();
  }

  std::string path() const { return folder_ / "m"; }
  int64_t steps() const { return steps_; }
  const std::vector<std::string>& stages() const { return stages_; }

 private:
  void tell(const TrainingProgress& progress) {
    if (stages_.empty() || stages_.back() != progress.stage) stages_.push_back(progress.stage);
    // The shares of what follows on training are of its own work.
    const bool follows = progress.stage == "ranker" || progress.stage.ends_with("hnsw");
    const bool anew = follows && share_ == 1;
    EXPECT_TRUE(anew || steps_ > 0 || progress.share >= share_) << progress.stage;
    EXPECT_LE(progress.share, 1);
    share_ = progress.share;
  }

  const Settings& settings_;
  const TrainingPoints& points_;
  Context context_;
  TemporaryFolder folder_;
  int64_t steps_ = 0;  // of the runs before
  std::vector<std::string> stages_;
  double share_ = 0;
};

struct Kind {
  std::string name;
  Settings settings;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

Settings quick_settings() {
  Settings settings = small_settings();
  settings.width = 8;
  settings.batch = 32;
  settings.stage1_epochs = settings.stage2_epochs = 1;
  settings.ranker_top = 8;
  return settings;
}

std::vector<Kind> kinds() {
  const Settings single = quick_settings();
  Settings ensemble = single;
  ensemble.ensemble = 2;
  Settings folds = single;
  folds.ranker_folds = 3;
  Settings folds_and_ensemble = ensemble;
  folds_and_ensemble.ranker_folds = 2;
  folds_and_ensemble.fusion = FusionKind::kLearned;
  Settings ova = folds;
  ova.method = Method::kOva;
  ova.ranker = RankerChoice::kBoth;
  Settings near = single;
  near.method = Method::kOva;
  near.index = IndexChoice::kHnsw;
  Settings near_ensemble = near;
  near_ensemble.ensemble = 2;
  near_ensemble.ranker = RankerChoice::kOff;
  return {{"single", single},
          {"ensemble", ensemble},
          {"folds", folds},
          {"folds_and_ensemble", folds_and_ensemble},
          {"folds_of_ova", ova},
          {"neighbours", near},
          {"neighbours_of_an_ensemble", near_ensemble}};
}

class FitModelTest : public testing::TestWithParam<Kind> {
 protected:
  Fit fit() { return {GetParam().settings, points_, pool_}; }

  ThreadPool pool_{2};
  TrainingPoints points_ = small_points(pool_);
};

TEST_P(FitModelTest, AStoppedRunEndsInTheSameBytes) {
  Fit whole = fit();
  EXPECT_EQ(whole.run(kNever), Outcome::kFinished);
  constexpr int64_t kSteps = 7;
  Fit stopped = fit();
  int64_t pieces = 1;
  while (stopped.run(kSteps) == Outcome::kStopped) ++pieces;
  EXPECT_GE(pieces, whole.steps() / kSteps);
  EXPECT_EQ(stopped.steps(), whole.steps());  // nothing was done twice
  EXPECT_EQ(stopped.model(), whole.model());
}

TEST_P(FitModelTest, AKilledRunEndsInTheSameBytes) {
  Fit whole = fit();
  whole.run(kNever);
  Fit killed = fit();
  constexpr int64_t kSteps = 11;
  for (bool finished = false; !finished;) {
    try {
      finished = killed.run(kSteps, true) == Outcome::kFinished;
    } catch (const Killed&) {
    }
  }
  EXPECT_EQ(killed.model(), whole.model());
}

TEST_P(FitModelTest, NothingButTheModelIsLeftWhenTheRunIsFinished) {
  Fit run = fit();
  run.run(kNever);
  const auto model = run.model();
  run.finish();
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(run.path() + "/run")) {
    left.push_back(entry.path().filename());
  }
  std::ranges::sort(left);
  EXPECT_THAT(left, ElementsAre("lock", "log.jsonl", "settings.json"));
  for (const auto& [name, bytes] : model) EXPECT_TRUE(fs::exists(run.path() + "/" + name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, FitModelTest, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST(FitModel, TrainsFoldsThenMembersThenTheRanker) {
  ThreadPool pool(2);
  const TrainingPoints points = small_points(pool);
  Settings settings = quick_settings();
  settings.warm_epochs = 0;
  settings.ranker_folds = 2;
  Fit single(settings, points, pool);
  single.run(kNever);
  EXPECT_THAT(single.stages(),
              ElementsAre("fold 1/2  stage 1", "fold 1/2  stage 2", "fold 2/2  stage 1",
                          "fold 2/2  stage 2", "stage 1", "stage 2", "ranker"));
  settings.ensemble = 2;
  settings.ranker_folds = 0;
  Fit ensemble(settings, points, pool);
  ensemble.run(kNever);
  EXPECT_THAT(ensemble.stages(),
              ElementsAre("member 1/2  stage 1", "member 1/2  stage 2", "member 2/2  stage 1",
                          "member 2/2  stage 2", "ranker"));
}

// Folds change what the ranker learns from, and nothing else.
TEST(FitModel, FoldsChangeTheRankerAlone) {
  ThreadPool pool(2);
  const TrainingPoints points = small_points(pool);
  Settings settings = quick_settings();
  Fit without(settings, points, pool);
  without.run(kNever);
  Settings with_folds = settings;
  with_folds.ranker_folds = 3;
  Fit with(with_folds, points, pool);
  with.run(kNever);
  auto expected = without.model(), model = with.model();
  for (const char* name : {"encoder.safetensors", "index.safetensors", "classifiers.safetensors"}) {
    EXPECT_EQ(model.at(name), expected.at(name)) << name;
  }
  EXPECT_NE(model.at("ranker.safetensors"), expected.at("ranker.safetensors"));
}

// The lists are kept, and the process ends before the checkpoint is gone.
TEST(FitModel, ACheckpointOfAFoldThatIsFinishedIsNotTaken) {
  ThreadPool pool(2);
  const TrainingPoints points = small_points(pool);
  Settings settings = quick_settings();
  settings.ranker_folds = 2;
  Fit whole(settings, points, pool);
  whole.run(kNever);
  for (const char* fold : {"fold-1", "fold-2"}) {
    Fit fit(settings, points, pool);
    const std::string run = fit.path() + "/run/", checkpoint = run + "checkpoint.safetensors";
    while (!fs::exists(run + fold + ".safetensors")) {
      if (fs::exists(checkpoint)) {
        fs::copy_file(checkpoint, fit.path() + "/last", fs::copy_options::overwrite_existing);
      }
      ASSERT_EQ(fit.run(2), Outcome::kStopped);
    }
    fs::rename(fit.path() + "/last", checkpoint);
    EXPECT_EQ(fit.run(kNever), Outcome::kFinished);
    EXPECT_EQ(fit.model(), whole.model());
  }
}

TEST(FitModel, DamagedListsOfAFoldAreRefused) {
  ThreadPool pool(2);
  const TrainingPoints points = small_points(pool);
  Settings settings = quick_settings();
  settings.ranker_folds = 2;
  Fit fit(settings, points, pool);
  while (!fs::exists(fit.path() + "/run/fold-2.safetensors")) fit.run(5);
  const std::string path = fit.path() + "/run/fold-1.safetensors";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put(1);
  file.close();
  try {
    fit.run(kNever);
    FAIL() << "it was taken";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("fold-1.safetensors"),
                                             testing::HasSubstr("to start the run anew, remove")));
  }
}

}  // namespace
}  // namespace elias
