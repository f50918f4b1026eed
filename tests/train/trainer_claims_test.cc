// What the method promises, on generated data whose structure is known (ELIAS, sections 1 and 3).
//
// Labels of several topics have points in separate places. A partition serves only one of them, so
// stage 1 loses the others; stage 2 learns an edge for each, and comes near exact one-vs-all.
// Floors lie well below what was measured, yet above what a run reaches in which one of the four
// groups of parameters does not learn.
#include <gtest/gtest.h>

#include "metrics/evaluate.h"
#include "tests/train/small_runs.h"

namespace elias {
namespace {

constexpr uint64_t kLabels = 500, kPoints = 3000, kHeldOut = 1000;
constexpr int64_t kStage1Epochs = 5, kStage2Epochs = 8;

Settings claim_settings() {
  Settings settings = small_settings();
  settings.width = 64;
  settings.clusters = 32;
  settings.beam = 3;
  settings.shortlist = 100;
  settings.edges = 100;
  settings.beta = 20;
  settings.informed_edges = false;  // what the graph knows in the end, it has learned
  settings.batch = 64;
  settings.warm_epochs = 2;
  settings.stage1_epochs = kStage1Epochs;
  settings.stage2_epochs = kStage2Epochs;
  settings.stage1_rates = {.encoder = 5e-3F, .clusters = 5e-3F, .labels = 1e-2F, .edges = 0};
  settings.stage2_rates = {.encoder = 5e-3F, .clusters = 5e-3F, .labels = 1e-2F, .edges = 0.15F};
  settings.evaluate_every = 100;  // the last epoch alone
  return settings;
}

/// As the defaults are for so few labels: one-vs-all before stage 1, all labels are rejected.
Settings rejecting_all() {
  Settings settings = claim_settings();
  settings.logit_loss = LogitLoss::kAll;
  settings.schedule = Schedule::kOne;
  return settings;
}

/// As many epochs as both stages have, in stage 1 alone.
Settings stage1_alone(Settings settings) {
  settings.stage1_epochs += settings.stage2_epochs;
  settings.stage2_epochs = 0;
  return settings;
}

Settings one_vs_all() {
  Settings settings = stage1_alone(claim_settings());
  settings.method = Method::kOva;
  return settings;
}

struct Figures {
  double precision1 = 0, recall10 = 0;
  double score1 = 0;          // the mean of the best label's
  std::vector<int> clusters;  // [L] those from which an edge of more than a quarter leads to it
};

class World {
 public:
  explicit World(uint32_t groups)
      : context_(pool_),
        world_({.labels = kLabels, .points = kPoints, .groups = groups}),
        data_(synth_data(world_, kPoints, kHeldOut, pool_)) {}

  Figures figures_of(const Settings& settings) {
    Figures figures;
    SmallRun run;
    run.keep = [&](const Member& kept) {
      const Predictor predictor(context_, kept.weights, kept.search);
      const Csr scores = predict_all(context_, predictor, data_.held_out_features, 10);
      const Evaluation result = evaluate(data_.held_out_labels, scores, nullptr, {}, pool_);
      figures.precision1 = result.find("P@1").value();
      figures.recall10 = result.find("R@10").value();
      for (size_t i = 0; i < scores.rows(); ++i) {
        const auto own = scores.row(i).values;
        figures.score1 += double{*std::ranges::max_element(own)} / double{kHeldOut};
      }
      figures.clusters.assign(kLabels, 0);
      const LabelGraphView& graph = kept.weights.graph;
      for (size_t edge = 0; edge < graph.labels.size(); ++edge) {
        figures.clusters[graph.labels[edge]] += graph.scores[edge] > 0.25F ? 1 : 0;
      }
    };
    EXPECT_EQ(run.train(context_, settings, data_), Outcome::kFinished);
    EXPECT_EQ(run.kept, 1);
    return figures;
  }

  /// The mean number of clusters of the labels that belong to the given number of topics.
  double mean_clusters(const Figures& figures, size_t topics) const {
    double sum = 0, labels = 0;
    for (size_t label = 0; label < kLabels; ++label) {
      if (world_.topics_of(label).size() != topics) continue;
      sum += figures.clusters[label];
      ++labels;
    }
    return sum / labels;
  }

 private:
  ThreadPool pool_;
  Context context_;
  SynthWorld world_;
  TrainingData data_;
};

TEST(SlowTrainerClaims, StageTwoServesLabelsOfSeveralTopics) {
  World world(3);
  const Figures partition = world.figures_of(stage1_alone(claim_settings()));
  const Figures learned = world.figures_of(claim_settings());
  const Figures exact = world.figures_of(one_vs_all());
  RecordProperty("recall10_stage1", std::to_string(partition.recall10));
  RecordProperty("recall10_stage2", std::to_string(learned.recall10));
  RecordProperty("recall10_one_vs_all", std::to_string(exact.recall10));

  // Measured: R@10 76.9, 90.0 and 92.4; P@1 85.3, 89.6 and 91.1.
  EXPECT_GT(learned.recall10, partition.recall10 + 0.07);
  EXPECT_GT(learned.recall10, exact.recall10 - 0.08);
  EXPECT_GT(learned.precision1, 0.83);
  EXPECT_GT(exact.precision1, 0.85);
  EXPECT_GT(exact.recall10, 0.86);
  EXPECT_GT(partition.precision1, 0.75);
  EXPECT_GT(partition.recall10, 0.69);  // 0.6 if clusters do not learn

  // Measured: 1.03, 2.11 and 4.20; 2.0, 4.0 and 7.2 if edges stay as they are at the start.
  EXPECT_LT(world.mean_clusters(learned, 1), 1.4);
  EXPECT_GT(world.mean_clusters(learned, 2), 1.6);
  EXPECT_GT(world.mean_clusters(learned, 3), 2.2);
}

TEST(SlowTrainerClaims, StageTwoServesThemWhereAllLabelsAreRejected) {
  World world(3);
  const Figures partition = world.figures_of(stage1_alone(rejecting_all()));
  const Figures learned = world.figures_of(rejecting_all());

  // Measured: R@10 85.1 and 93.4; P@1 90.7 and 92.1; clusters 1.0, 2.5 and 4.4.
  EXPECT_GT(learned.recall10, partition.recall10 + 0.04);
  EXPECT_GT(learned.recall10, 0.89);
  EXPECT_GT(learned.precision1, 0.88);
  EXPECT_LT(world.mean_clusters(learned, 1), 1.4);
  EXPECT_GT(world.mean_clusters(learned, 2), 1.6);
  EXPECT_GT(world.mean_clusters(learned, 3), 2.2);
}

TEST(SlowTrainerClaims, WithOneTopicEachAPartitionIsEnough) {
  World world(1);
  const Figures partition = world.figures_of(stage1_alone(claim_settings()));
  const Figures learned = world.figures_of(claim_settings());

  // Measured: 93.3 and 92.7, and 1.1 clusters a label: it is not for being frequent, as those of
  // several topics are, that a label is given more.
  EXPECT_NEAR(learned.recall10, partition.recall10, 0.04);
  EXPECT_GT(partition.recall10, 0.88);
  EXPECT_LT(world.mean_clusters(learned, 1), 1.4);
}

Settings embeddings(EmbeddingLoss loss) {
  Settings settings = small_glas_settings(loss);
  settings.width = 64;
  settings.batch = 64;
  settings.stage1_epochs = kStage1Epochs + kStage2Epochs;
  settings.stage1_rates = {.encoder = 5e-3F, .clusters = 0, .labels = 5e-3F, .edges = 0};
  settings.evaluate_every = 100;
  return settings;
}

TEST(SlowTrainerClaims, EmbeddingsLearnByEveryLoss) {
  World world(3);
  const Figures margin = world.figures_of(embeddings(EmbeddingLoss::kMargin));
  const Figures softmax = world.figures_of(embeddings(EmbeddingLoss::kSoftmax));
  const Figures all = world.figures_of(embeddings(EmbeddingLoss::kOva));

  // Measured: P@1 87.2, 95.5 and 89.6; R@10 88.4, 91.3 and 89.7.
  EXPECT_GT(margin.precision1, 0.82);
  EXPECT_GT(margin.recall10, 0.84);
  EXPECT_GT(softmax.precision1, 0.92);
  EXPECT_GT(softmax.recall10, 0.87);
  EXPECT_GT(all.precision1, 0.85);
  EXPECT_GT(all.recall10, 0.85);
}

// Whatever the scale of scores is, a line makes them such; a sigmoid of the scores themselves would
// be 0 of nearly all labels where the scale is large.
TEST(SlowTrainerClaims, ScoresOfEmbeddingsAreProbabilities) {
  World world(3);
  for (const float scale : {24.0F, 1000.0F}) {
    Settings settings = embeddings(EmbeddingLoss::kSoftmax);
    settings.scale = scale;
    const Figures figures = world.figures_of(settings);
    // Measured: 88.6 and 79.7; scores of 79.8 and 70.7.
    EXPECT_GT(figures.precision1, 0.75) << scale;
    EXPECT_NEAR(figures.score1, figures.precision1, 0.13) << scale;
  }
}

}  // namespace
}  // namespace elias
