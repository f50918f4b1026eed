// Whole runs on small generated data: what the tests of the trainer share.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "data/synth/generator.h"
#include "text/tfidf_fitter.h"
#include "text/wordpiece_learner.h"
#include "train/encoder_start.h"
#include "train/trainer.h"

namespace elias {

/// Tf-idf features of points of a generated world: part 0 to learn from, part 1 held out.
inline TrainingData synth_data(const SynthWorld& world, uint64_t points, uint64_t held_out,
                               ThreadPool& pool) {
  const PointBatch train = world.points(0, 0, points, pool);
  const PointBatch test = world.points(1, 0, held_out, pool);
  TfidfFitter fitter({.min_df = 2, .sublinear_tf = true}, pool);
  fitter.add(train.texts);
  const Tfidf tfidf = fitter.finish();
  return {.features = tfidf.transform(train.texts, pool),
          .labels = train.labels,
          .held_out_features = tfidf.transform(test.texts, pool),
          .held_out_labels = test.labels};
}

/// Gives the data tokens of the same texts, and a tiny transformer to start with: its width and its
/// pooling are those of the settings.
inline void add_transformer(const SynthWorld& world, const Settings& settings, ThreadPool& pool,
                            TrainingData& data) {
  const PointBatch train = world.points(0, 0, data.labels.rows(), pool);
  const PointBatch test = world.points(1, 0, data.held_out_labels.rows(), pool);
  WordPieceLearnerOptions options;
  options.size = 400;
  WordPieceLearner learner(options, pool);
  learner.add(train.texts);
  Pretrained start = make_transformer(
      {.layers = 2, .width = settings.width, .heads = 2, .inner = 24, .positions = 16},
      learner.finish(), 1);
  if (settings.pooling == PoolingChoice::kMean) start.config.shape.pooling = Pooling::kMean;
  start.weights.shape = start.config.shape;
  const WordPiece wordpiece(start.tokens, "words");
  data.tokens = wordpiece.encode_all(train.texts, 16, pool);
  data.held_out_tokens = wordpiece.encode_all(test.texts, 16, pool);
  data.transformer = std::make_shared<const Pretrained>(std::move(start));
}

/// Settings of a short run with all three stages; what depends on the data's size is for the test.
inline Settings small_settings() {
  Settings settings;
  settings.seed = 7;
  settings.width = 32;
  settings.dropout = 0.5F;
  settings.word_dropout = 0.2F;
  settings.normalisation = Normalisation::kLayer;
  settings.clusters = 8;
  settings.beam = 3;
  settings.shortlist = 24;
  settings.edges = 40;
  settings.beta = 30;
  settings.logit_loss = LogitLoss::kShortlist;
  settings.schedule = Schedule::kStages;
  settings.loss = EmbeddingLoss::kMargin;
  settings.mined = 0;
  settings.regulariser = Regulariser::kNone;
  settings.regulariser_weight = 1;
  settings.batch = 16;
  settings.evaluate_every = 1;
  settings.warm_epochs = 1;
  settings.stage1_epochs = 2;
  settings.stage2_epochs = 3;
  settings.stage1_rates = {.encoder = 2e-3F, .clusters = 5e-3F, .labels = 5e-3F, .edges = 0};
  settings.stage2_rates = {.encoder = 1e-3F, .clusters = 1e-3F, .labels = 5e-3F, .edges = 5e-2F};
  return settings;
}

/// The same of an embedding classifier, in one stage.
inline Settings small_glas_settings(EmbeddingLoss loss) {
  Settings settings = small_settings();
  settings.method = Method::kGlas;
  settings.normalisation = Normalisation::kWeight;
  settings.dropout = 0;
  settings.loss = loss;
  settings.margin = 0.3F;
  settings.scale = loss == EmbeddingLoss::kMargin ? 1 : 8;
  settings.regulariser = Regulariser::kGlas;
  settings.regulariser_weight = 10;
  settings.stage1_epochs = 4;
  settings.stage1_rates.labels = 2e-3F;
  return settings;
}

/// All learned numbers of a kept model.
inline std::vector<std::span<const float>> numbers_of(const Member& kept) {
  std::vector<std::span<const float>> numbers;
  const auto add = [&](ConstTensorView view) {
    if (view) numbers.push_back(view.span<float>());
  };
  const PredictorWeights& weights = kept.weights;
  for (const auto& view :
       {weights.cluster_weights, weights.cluster_bias, weights.label_weights, weights.label_bias}) {
    add(view);
  }
  if (weights.encoder.reads_tokens()) {
    for_parts(weights.encoder.transformer().weights,
              [&](const std::string&, const ConstTensorView& part) { add(part); });
  } else {
    const BagWeights<ConstTensorView>& bag = weights.encoder.bag();
    for (const auto& view : {bag.table, bag.gain, bag.shift}) add(view);
    for (const auto& layer : bag.layers) {
      for (const auto& view : {layer.weights, layer.bias, layer.gain, layer.shift}) add(view);
    }
  }
  numbers.push_back(weights.graph.scores);
  numbers.emplace_back(&kept.search.gamma, 1);
  return numbers;
}

inline uint64_t hash_of(const Member& kept) {
  uint64_t hash = 0;
  const auto add = [&](auto values) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    hash = mix_bits(hash ^ hash_bytes(bytes), 0x9e3779b97f4a7c15);
  };
  for (const auto& numbers : numbers_of(kept)) add(numbers);
  add(kept.weights.graph.offsets);
  add(kept.weights.graph.labels);
  add(kept.stage1_clusters);
  return hash;
}

/// What a run says and keeps; a test adds what it wants to happen in between.
struct SmallRun {
  struct LogLine {
    std::string event;
    nlohmann::ordered_json fields;
  };

  std::vector<LogLine> log;
  int64_t batches = 0;  // so far, over all stages
  int64_t kept = 0;
  uint64_t hash = 0;  // of the model kept last
  std::function<bool()> stop = [] { return false; };
  std::function<bool()> checkpoint_due = [] { return false; };
  std::function<void(const SafetensorsWriter&)> checkpoint = [](const SafetensorsWriter&) {};
  std::function<void(const Member&)> keep = [](const Member&) {};

  Outcome train(const Context& context, const Settings& settings, const TrainingData& data,
                std::optional<SafetensorsFile> resume = std::nullopt) {
    const TrainingHooks hooks{
        .stop = stop,
        .progress = [this](const TrainingProgress&) { ++batches; },
        .log =
            [this](const std::string& event, const nlohmann::ordered_json& fields) {
              log.push_back({event, fields});
            },
        .checkpoint_due = checkpoint_due,
        .checkpoint = checkpoint,
        .keep =
            [this](const Member& candidate) {
              ++kept;
              hash = hash_of(candidate);
              keep(candidate);
            }};
    return elias::train(context, settings, data, hooks, std::move(resume));
  }
};

}  // namespace elias
