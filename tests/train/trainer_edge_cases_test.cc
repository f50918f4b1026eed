// Data and settings at the edge of what makes sense: a run ends, and its numbers are numbers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "tests/train/small_runs.h"

namespace elias {
namespace {

constexpr uint32_t kFeatures = 12;

using Row = std::vector<uint32_t>;

Csr matrix(uint64_t cols, const std::vector<Row>& rows, float value = 1) {
  Csr result;
  result.cols = cols;
  for (const Row& row : rows) {
    for (const uint32_t column : row) {
      result.columns.push_back(column);
      result.values.push_back(value);
    }
    result.finish_row(Csr::Repeats::kMaximum);
  }
  return result;
}

/// Point i has features and labels that go with i; the last fifth of the points is held out too.
TrainingData plain_data(size_t points, uint32_t labels) {
  std::vector<Row> x, y;
  for (uint32_t i = 0; i < points; ++i) {
    x.push_back({i % kFeatures, (i * 5 + 1) % kFeatures});
    y.push_back({i % labels, i * 7 % labels});
  }
  const auto first = static_cast<ptrdiff_t>(points - points / 5);
  return {.features = matrix(kFeatures, x),
          .labels = matrix(labels, y),
          .held_out_features = matrix(kFeatures, {x.begin() + first, x.end()}),
          .held_out_labels = matrix(labels, {y.begin() + first, y.end()})};
}

Csr emptied(const Csr& rows, size_t every) {
  Csr result;
  result.cols = rows.cols;
  for (size_t i = 0; i < rows.rows(); ++i) {
    const CsrRow row = rows.row(i);
    if (i % every != 0) {
      result.columns.insert(result.columns.end(), row.columns.begin(), row.columns.end());
      result.values.insert(result.values.end(), row.values.begin(), row.values.end());
    }
    result.finish_row(Csr::Repeats::kMaximum);
  }
  return result;
}

struct Case {
  std::string name;
  std::function<TrainingData()> data = [] { return plain_data(50, 20); };
  std::function<void(Settings&)> change = [](Settings&) {};
};

std::ostream& operator<<(std::ostream& out, const Case& edge) { return out << edge.name; }

std::vector<Case> data_cases() {
  const auto with_values = [](float value) {
    return [value] {
      TrainingData data = plain_data(50, 20);
      std::ranges::fill(data.labels.values, value);
      return data;
    };
  };
  return {
      {.name = "one_label", .data = [] { return plain_data(30, 1); }},
      {.name = "two_labels_ten_points", .data = [] { return plain_data(10, 2); }},
      {.name = "one_point", .data = [] { return plain_data(1, 3); }},
      {.name = "all_the_same_label",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.labels = matrix(20, std::vector<Row>(50, Row{3}));
             return data;
           }},
      {.name = "all_labels_at_every_point",
       .data =
           [] {
             TrainingData data = plain_data(20, 3);
             data.labels = matrix(3, std::vector<Row>(20, Row{0, 1, 2}));
             return data;
           }},
      {.name = "points_without_features",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.features = emptied(data.features, 3);
             data.held_out_features = emptied(data.held_out_features, 2);
             return data;
           }},
      {.name = "no_features",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.features = emptied(data.features, 1);
             data.held_out_features = emptied(data.held_out_features, 1);
             return data;
           }},
      {.name = "points_without_labels",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.labels = emptied(data.labels, 3);
             data.held_out_labels = emptied(data.held_out_labels, 2);
             return data;
           }},
      {.name = "no_labels",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.labels = emptied(data.labels, 1);
             data.held_out_labels = emptied(data.held_out_labels, 1);
             return data;
           }},
      {.name = "labels_without_points",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.labels.cols = data.held_out_labels.cols = 64;
             return data;
           }},
      {.name = "graded_labels", .data = with_values(0.3F)},
      {.name = "labels_of_no_relevance", .data = with_values(0)},
      {.name = "huge_features",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             std::ranges::fill(data.features.values, 1e15F);
             return data;
           }},
      {.name = "no_held_out_points",
       .data =
           [] {
             TrainingData data = plain_data(50, 20);
             data.held_out_features = matrix(kFeatures, {});
             data.held_out_labels = matrix(20, {});
             return data;
           }},
  };
}

std::vector<Case> settings_cases() {
  const auto changed = [](std::string name, std::function<void(Settings&)> change) {
    Case edge{.name = std::move(name)};
    edge.change = std::move(change);
    return edge;
  };
  return {
      changed("beam_beyond_clusters", [](Settings& s) { s.beam = 100; }),
      changed("shortlist_beyond_labels", [](Settings& s) { s.shortlist = 1000; }),
      changed("shortlist_of_one", [](Settings& s) { s.shortlist = 1; }),
      changed("one_cluster", [](Settings& s) { s.clusters = 1; }),
      changed("as_many_clusters_as_labels", [](Settings& s) { s.clusters = 16; }),
      changed("one_edge", [](Settings& s) { s.edges = 1; }),
      changed("no_extra_clusters", [](Settings& s) { s.extra_clusters = 0; }),
      changed("no_short_stage", [](Settings& s) { s.warm_epochs = 0; }),
      changed("no_stage_2", [](Settings& s) { s.stage2_epochs = 0; }),
      changed("batch_beyond_points", [](Settings& s) { s.batch = 1000; }),
      changed("batch_of_one", [](Settings& s) { s.batch = 1; }),
      changed("accumulation_beyond_batches", [](Settings& s) { s.accumulation = 100; }),
      changed("all_words_dropped", [](Settings& s) { s.word_dropout = 0.99F; }),
      changed("width_of_one", [](Settings& s) { s.width = 1; }),
      changed("high_rates",
              [](Settings& s) {
                s.stage1_rates = s.stage2_rates = {1, 1, 1, 1};
              }),
      changed("large_alpha", [](Settings& s) { s.alpha = 1e6F; }),
  };
}

Settings edge_settings(const Case& edge, uint64_t labels) {
  Settings settings = small_settings();
  settings.width = 8;
  settings.layers = 1;
  // More clusters than labels are refused: resolve() sees to it, and so must whoever does not.
  settings.clusters =
      std::min<int64_t>(settings.clusters, static_cast<int64_t>(std::bit_floor(labels)));
  edge.change(settings);
  return settings;
}

void expect_numbers(const Context& context, const Member& kept, const Csr& features) {
  for (const auto& numbers : numbers_of(kept)) {
    EXPECT_TRUE(std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); }));
  }
  const Predictor predictor(context, kept.weights, kept.search);
  const Csr scores = predict_all(context, predictor, features, 5);
  EXPECT_EQ(scores.rows(), features.rows());
  EXPECT_TRUE(std::ranges::all_of(scores.values, [](float p) { return p >= 0 && p <= 1; }));
}

/// Trains, and expects sound numbers of all that is logged and kept.
void expect_sound_run(const Settings& settings, const TrainingData& data) {
  ThreadPool pool(2);
  const Context context(pool);
  SmallRun run;
  run.keep = [&](const Member& kept) { expect_numbers(context, kept, data.features); };
  EXPECT_EQ(run.train(context, settings, data), Outcome::kFinished);
  EXPECT_GT(run.kept, 0);
  for (const auto& line : run.log) {
    if (line.event != "epoch") continue;
    EXPECT_TRUE(std::isfinite(line.fields.at("loss").get<double>())) << line.fields;
  }
}

class TrainerEdgeCases : public testing::TestWithParam<Case> {};

TEST_P(TrainerEdgeCases, Elias) {
  const TrainingData data = GetParam().data();
  expect_sound_run(edge_settings(GetParam(), data.labels.cols), data);
}

TEST_P(TrainerEdgeCases, AsPublished) {
  const TrainingData data = GetParam().data();
  Settings settings = edge_settings(GetParam(), data.labels.cols);
  set_as_published(settings);
  expect_sound_run(settings, data);
}

TEST_P(TrainerEdgeCases, OneVsAll) {
  const TrainingData data = GetParam().data();
  Settings settings = edge_settings(GetParam(), data.labels.cols);
  settings.method = Method::kOva;
  expect_sound_run(settings, data);
}

TEST_P(TrainerEdgeCases, Embeddings) {
  const TrainingData data = GetParam().data();
  for (const EmbeddingLoss loss :
       {EmbeddingLoss::kMargin, EmbeddingLoss::kSoftmax, EmbeddingLoss::kOva}) {
    Settings settings = small_glas_settings(loss);
    settings.width = 8;
    settings.regulariser =
        loss == EmbeddingLoss::kSoftmax ? Regulariser::kGravity : Regulariser::kGlas;
    settings.similarity = Similarity::kPmi;
    GetParam().change(settings);
    expect_sound_run(settings, data);
  }
}

// Labels by rows need many of them for each place.
TEST_P(TrainerEdgeCases, ManyLabels) {
  TrainingData data = GetParam().data();
  data.labels.cols = data.held_out_labels.cols = 400;
  Settings settings = edge_settings(GetParam(), 400);
  settings.shortlist = std::min<int64_t>(settings.shortlist, 3);
  expect_sound_run(settings, data);
}

TEST_P(TrainerEdgeCases, Resolved) {
  const TrainingData data = GetParam().data();
  Settings settings;
  settings.warm_epochs = settings.stage1_epochs = settings.stage2_epochs = 1;
  settings.width = 8;
  GetParam().change(settings);
  const auto points = static_cast<double>(data.labels.rows());
  resolve(settings, {.points = static_cast<int64_t>(data.labels.rows()),
                     .labels = static_cast<int64_t>(data.labels.cols),
                     .labels_per_point = static_cast<double>(data.labels.nonzeros()) / points,
                     .features = kFeatures,
                     .features_per_point = static_cast<double>(data.features.nonzeros()) / points});
  expect_sound_run(settings, data);
}

const auto kName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Data, TrainerEdgeCases, testing::ValuesIn(data_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Settings, TrainerEdgeCases, testing::ValuesIn(settings_cases()), kName);

TEST(TrainerEdgeCase, WithoutHeldOutPointsTheLastModelIsKept) {
  ThreadPool pool(1);
  TrainingData data = plain_data(50, 20);
  data.held_out_features = matrix(kFeatures, {});
  data.held_out_labels = matrix(20, {});
  const Settings settings = edge_settings({}, 20);
  SmallRun run;
  run.train(Context(pool), settings, data);
  EXPECT_EQ(run.kept, settings.stage2_epochs);
  EXPECT_TRUE(run.log.back().fields.contains("kept"));
}

TEST(TrainerEdgeCase, WithoutHeldOutPointsNobodyLosesPatience) {
  ThreadPool pool(1);
  TrainingData data = plain_data(50, 20);
  data.held_out_features = matrix(kFeatures, {});
  data.held_out_labels = matrix(20, {});
  Settings settings = small_glas_settings(EmbeddingLoss::kSoftmax);
  settings.patience = 1;
  SmallRun run;
  run.train(Context(pool), settings, data);
  EXPECT_EQ(run.kept, settings.stage1_epochs);
}

// All pairs of 5,000 labels would be looked at, were it not for a bound.
TEST(TrainerEdgeCase, BatchesOfManyLabels) {
  std::vector<Row> x, y;
  for (uint32_t i = 0; i < 500; ++i) {
    x.push_back({i % kFeatures});
    Row& own = y.emplace_back();
    for (uint32_t j = 0; j < 10; ++j) own.push_back(10 * i + j);
  }
  const TrainingData data{.features = matrix(kFeatures, x),
                          .labels = matrix(5000, y),
                          .held_out_features = matrix(kFeatures, {}),
                          .held_out_labels = matrix(5000, {})};
  ASSERT_GT(5000, kMostRegularised);
  for (const EmbeddingLoss loss : {EmbeddingLoss::kSoftmax, EmbeddingLoss::kOva}) {
    Settings settings = small_glas_settings(loss);
    settings.width = 4;
    settings.batch = 500;
    settings.stage1_epochs = 1;
    expect_sound_run(settings, data);
  }
}

}  // namespace
}  // namespace elias
