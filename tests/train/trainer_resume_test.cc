// The same bits at any number of threads, and however often a run was stopped.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "base/random.h"
#include "tests/temporary_folder.h"
#include "tests/train/small_runs.h"
#include "train/stages.h"

namespace elias {
namespace {

struct Kind {
  std::string name;
  Settings settings;
  // Held-out points choose the model that is kept; without them it is that of the last epoch.
  uint64_t held_out = 40;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

// Every way in which a parameter is stepped, averaged or waits for its step.
std::vector<Kind> kinds() {
  Settings blocks = small_settings();
  blocks.layers = 1;
  blocks.weight_decay = 0.01F;
  Settings rows = small_settings();
  rows.shortlist = 2;  // of 150 labels: more than 8 for each place
  rows.edges = 20;
  Settings shared_steps = small_settings();
  shared_steps.accumulation = 3;
  Settings rows_shared_steps = rows;
  rows_shared_steps.accumulation = 3;
  rows_shared_steps.keep_classifiers = false;
  Settings ova = small_settings();
  ova.method = Method::kOva;
  ova.stage1_epochs = 4;
  Settings ova_shared_steps = ova;
  ova_shared_steps.accumulation = 3;
  Settings regularised = ova;
  regularised.regulariser = Regulariser::kGlas;
  Settings rows_regularised = rows;
  rows_regularised.regulariser = Regulariser::kGravity;
  Settings all_labels = small_settings();
  all_labels.logit_loss = LogitLoss::kAll;
  all_labels.average_from = 1;
  all_labels.evaluate_every = 2;
  Settings one_schedule = all_labels;
  one_schedule.schedule = Schedule::kOne;
  Settings rows_one_schedule = rows;
  rows_one_schedule.schedule = Schedule::kOne;
  Settings published = small_settings();
  published.label_start = LabelStart::kPublished;
  published.keep_classifiers = published.keep_warm_classifiers = false;
  published.informed_edges = false;
  published.kept_clusters = 0;
  const Settings margin = small_glas_settings(EmbeddingLoss::kMargin);
  Settings softmax = small_glas_settings(EmbeddingLoss::kSoftmax);
  softmax.layers = 1;
  softmax.dropout = 0.2F;
  softmax.mined = 5;
  softmax.regulariser = Regulariser::kGravity;
  Settings embedded_ova = small_glas_settings(EmbeddingLoss::kOva);
  embedded_ova.activation = BagActivation::kLinear;
  embedded_ova.accumulation = 3;
  Settings impatient = margin;
  impatient.patience = 1;
  impatient.stage1_epochs = 30;
  Settings transformer = all_labels;
  transformer.encoder = "tiny";
  transformer.word_dropout = 0;
  transformer.weight_decay = 0.01F;
  transformer.average_from = 0.5F;
  Settings parts = transformer;
  parts.activations = 2e-4F;
  parts.pooling = PoolingChoice::kMean;
  Settings embedded_transformer = small_glas_settings(EmbeddingLoss::kSoftmax);
  embedded_transformer.encoder = "tiny";
  embedded_transformer.normalisation = Normalisation::kLayer;
  return {{"margin", margin},
          {"softmax", softmax, 0},
          {"embedded_ova", embedded_ova},
          {"impatient", impatient},
          {"blocks", blocks, 0},
          {"rows", rows},
          {"shared_steps", shared_steps},
          {"regularised", regularised},
          {"rows_regularised", rows_regularised},
          {"rows_shared_steps", rows_shared_steps, 0},
          {"ova", ova},
          {"ova_shared_steps", ova_shared_steps, 0},
          {"all_labels", all_labels, 0},
          {"one_schedule", one_schedule},
          {"rows_one_schedule", rows_one_schedule, 0},
          {"published", published, 0},
          {"transformer", transformer},
          {"transformer_in_parts", parts, 0},
          {"embedded_transformer", embedded_transformer}};
}

std::string name_of_kind(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

// 150 labels, 10 batches an epoch, the last of which is smaller: not a multiple of 3.
TrainingData resume_data(uint64_t held_out, ThreadPool& pool, const Settings& settings = {}) {
  const SynthWorld world({.labels = 150, .points = 154, .groups = 3});
  TrainingData data = synth_data(world, 154, held_out, pool);
  if (has_transformer(settings)) add_transformer(world, settings, pool, data);
  return data;
}

int64_t epochs_of(const Settings& settings) {
  int64_t epochs = 0;
  for (const Stage& stage : stages_of(settings)) epochs += stage.epochs;
  return epochs;
}

// --- threads -------------------------------------------------------------------------------------

class TrainerThreads : public testing::TestWithParam<Kind> {};

TEST_P(TrainerThreads, SameBits) {
  std::optional<uint64_t> expected;
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    const TrainingData data = resume_data(GetParam().held_out, pool, GetParam().settings);
    SmallRun run;
    EXPECT_EQ(run.train(Context(pool), GetParam().settings, data), Outcome::kFinished);
    EXPECT_GT(run.kept, 0);
    if (!expected) expected = run.hash;
    EXPECT_EQ(run.hash, *expected) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TrainerThreads, testing::ValuesIn(kinds()), name_of_kind);

// --- stop and resume -----------------------------------------------------------------------------

/// Runs to the end in as many pieces as there are stops, counted in batches since the beginning;
/// each piece takes nothing from the one before but the file.
class Pieces {
 public:
  Pieces(const Settings& settings, const TrainingData& data, ThreadPool& pool)
      : settings_(settings), data_(data), context_(pool) {}

  /// A hash of what was kept last, and of the loss of the last epoch.
  uint64_t hash_with_stops(const std::vector<int64_t>& stops) {
    int64_t done = 0;
    uint64_t hash = 0;
    double loss = 0;
    for (size_t piece = 0; piece <= stops.size(); ++piece) {
      SmallRun run;
      const bool last = piece == stops.size();
      if (!last) run.stop = [&] { return done + run.batches >= stops[piece]; };
      run.checkpoint = [&](const SafetensorsWriter& writer) { writer.write(path()); };
      std::optional<SafetensorsFile> file;
      if (piece > 0) file.emplace(path());
      const Outcome outcome = run.train(context_, settings_, data_, std::move(file));
      EXPECT_EQ(outcome, last ? Outcome::kFinished : Outcome::kStopped);
      done += run.batches;
      EXPECT_TRUE(last || done == stops[piece]) << done;
      if (run.kept > 0) hash = run.hash;
      for (const SmallRun::LogLine& line : run.log) {
        if (line.event == "epoch") loss = line.fields.at("loss").get<double>();
      }
    }
    batches_ = done;
    return mix_bits(hash ^ std::bit_cast<uint64_t>(loss), 0x9e3779b97f4a7c15);
  }

  int64_t batches() const { return batches_; }

 private:
  std::string path() const { return folder_ / "checkpoint.safetensors"; }

  const Settings& settings_;
  const TrainingData& data_;
  Context context_;
  TemporaryFolder folder_;
  int64_t batches_ = 0;
};

class TrainerResume : public testing::TestWithParam<Kind> {};

TEST_P(TrainerResume, EndsInTheSameBits) {
  ThreadPool pool(2);
  const TrainingData data = resume_data(GetParam().held_out, pool, GetParam().settings);
  const Settings& settings = GetParam().settings;
  Pieces pieces(settings, data, pool);
  const uint64_t unbroken = pieces.hash_with_stops({});
  const int64_t batches = pieces.batches();
  constexpr int64_t kEpoch = 10;
  // A run without a gain ends early, or patience is not what is tested.
  const int64_t all = epochs_of(settings) * kEpoch;
  EXPECT_TRUE(settings.patience > 0 ? batches < all : batches == all) << batches;

  std::vector<std::vector<int64_t>> plans = {{0}, {batches - 1}};
  int64_t start = 0;
  for (const int64_t epochs : {settings.warm_epochs, settings.stage1_epochs}) {
    start += epochs * kEpoch;
    if (start >= batches) break;
    // At a stage's start, around it, and again in the stage that follows.
    plans.push_back({start});
    plans.push_back({start - 1, start});
    plans.push_back({start, start + 1});
  }
  RandomSequence random(1, 2);
  for (int i = 0; i < 4; ++i) {
    const auto first = static_cast<int64_t>(random.below(static_cast<uint64_t>(batches)));
    const auto more = static_cast<int64_t>(random.below(static_cast<uint64_t>(batches - first)));
    plans.push_back({first, first + more});
  }
  for (const auto& stops : plans) {
    EXPECT_EQ(pieces.hash_with_stops(stops), unbroken) << testing::PrintToString(stops);
    EXPECT_EQ(pieces.batches(), batches);
  }
}

// Saving on the way does not change what follows.
TEST_P(TrainerResume, CheckpointsLeaveNoTrace) {
  ThreadPool pool(2);
  const TrainingData data = resume_data(GetParam().held_out, pool, GetParam().settings);
  SmallRun plain, saving;
  plain.train(Context(pool), GetParam().settings, data);
  int64_t saved = 0;
  saving.checkpoint_due = [&] { return saving.batches % 3 == 1; };
  saving.checkpoint = [&](const SafetensorsWriter&) { ++saved; };
  saving.train(Context(pool), GetParam().settings, data);
  EXPECT_GT(saved, saving.batches / 4);
  EXPECT_EQ(saving.hash, plain.hash);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TrainerResume, testing::ValuesIn(kinds()), name_of_kind);

// --- checkpoints that are none -------------------------------------------------------------------

class TrainerCheckpoint : public testing::Test {
 protected:
  TrainerCheckpoint() : pool_(2), context_(pool_), data_(resume_data(40, pool_)) {}

  /// A checkpoint before the given batch of the whole run.
  std::string checkpoint(const Settings& settings, int64_t batch) {
    std::string path = folder_ / "checkpoint";
    SmallRun run;
    run.stop = [&] { return run.batches >= batch; };
    run.checkpoint = [&](const SafetensorsWriter& writer) { writer.write(path); };
    EXPECT_EQ(run.train(context_, settings, data_), Outcome::kStopped);
    return path;
  }

  void resume(const Settings& settings, const TrainingData& data, const std::string& path) {
    SmallRun run;
    run.train(context_, settings, data, SafetensorsFile(path));
  }

  ThreadPool pool_;
  Context context_;
  TrainingData data_;
  TemporaryFolder folder_;
};

TEST_F(TrainerCheckpoint, OfOtherSettingsIsRefused) {
  const Settings settings = small_settings();
  const std::string path = checkpoint(settings, 45);  // stage 2, epoch 2
  EXPECT_NO_THROW(resume(settings, data_, path));
  const auto refused = [&](const auto& change) {
    Settings other = settings;
    change(other);
    EXPECT_THROW(resume(other, data_, path), InputError);
  };
  refused([](Settings& other) { other.width = 16; });
  refused([](Settings& other) { other.layers = 1; });
  refused([](Settings& other) { other.method = Method::kOva; });
  refused([](Settings& other) { other.clusters = 16; });
  refused([](Settings& other) { other.seed = 8; });
  refused([](Settings& other) { other.batch = 32; });
  refused([](Settings& other) { other.warm_epochs = 0; });
  refused([](Settings& other) { other.stage1_epochs = 3; });
  refused([](Settings& other) { other.stage2_epochs = 1; });
  refused([](Settings& other) { other.shortlist = 2; });  // labels by rows
}

TEST_F(TrainerCheckpoint, OfOtherDataIsRefused) {
  const Settings settings = small_settings();
  const std::string path = checkpoint(settings, 45);
  const auto other = [&](uint64_t labels, uint64_t points, uint64_t seed) {
    return synth_data(SynthWorld({.labels = labels, .points = points, .seed = seed}), points, 40,
                      pool_);
  };
  EXPECT_THROW(resume(settings, other(151, 154, 1), path), InputError);
  EXPECT_THROW(resume(settings, other(150, 200, 1), path), InputError);
  EXPECT_THROW(resume(settings, other(150, 154, 2), path), InputError);
}

TEST_F(TrainerCheckpoint, TruncatedIsRefused) {
  const Settings settings = small_settings();
  const std::string path = checkpoint(settings, 45);
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (const size_t length :
       {size_t{0}, size_t{4}, size_t{200}, whole.size() / 2, whole.size() - 1}) {
    const std::string truncated = folder_ / "truncated";
    std::ofstream(truncated, std::ios::binary) << whole.substr(0, length);
    EXPECT_THROW(resume(settings, data_, truncated), InputError) << length;
  }
}

// A sound file that says of the run what cannot be.
TEST_F(TrainerCheckpoint, ImpossibleIsRefused) {
  const Settings settings = small_settings();
  const SafetensorsFile file(checkpoint(settings, 45));
  const std::string path = folder_ / "impossible";
  const auto refused = [&](const std::string& name, auto change) {
    SafetensorsWriter writer;
    auto values = change(file);
    for (const auto& [key, tensor] : file.tensors()) {
      if (key != name) writer.add(key, tensor);
    }
    using Value = typename decltype(values)::value_type;
    if (!values.empty()) writer.add(name, std::span<const Value>(values));
    writer.write(path);
    EXPECT_THROW(resume(settings, data_, path), InputError) << name;
  };
  const auto with = [](const std::string& name, auto wrong, size_t at) {
    return [=](const SafetensorsFile& from) {
      const auto old = from.vector<decltype(wrong)>(name);
      std::vector<decltype(wrong)> values(old.begin(), old.end());
      values.at(at) = wrong;
      return values;
    };
  };
  const auto none = [](const SafetensorsFile&) { return std::vector<float>(); };
  for (const auto& [name, tensor] : file.tensors()) refused(name, none);
  for (const int64_t wrong : {-1, 3}) refused("position", with("position", wrong, 0));
  for (const int64_t wrong : {-1, 3}) refused("position", with("position", wrong, 1));
  for (const int64_t wrong : {-1, 10}) refused("position", with("position", wrong, 2));
  for (const int32_t wrong : {-1, 8}) refused("cluster_of", with("cluster_of", wrong, 5));
  for (const int32_t wrong : {-2, 8}) refused("parents", with("parents", wrong, 5));
  for (const int32_t wrong : {-1, 150}) refused("graph.labels", with("graph.labels", wrong, 5));
  refused("graph.labels", with("graph.labels", int32_t{0}, 1));  // no longer rising
  for (const int64_t wrong : {-1, 1000000}) {
    refused("graph.offsets", with("graph.offsets", wrong, 1));
    refused("graph.offsets", with("graph.offsets", wrong, 8));
  }
  refused("graph.offsets", with("graph.offsets", int64_t{1}, 0));
  for (const int32_t wrong : {-1, 1000000}) {
    refused("table.done_steps", with("table.done_steps", wrong, 5));
  }
}

}  // namespace
}  // namespace elias
