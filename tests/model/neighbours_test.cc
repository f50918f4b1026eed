// Models whose labels have a graph of neighbours: what is predicted by it, and its file.
#include <gmock/gmock.h>

#include <filesystem>

#include "index/neighbour_builder.h"
#include "model/config.h"
#include "model/explain.h"
#include "model/model.h"
#include "tests/model/tiny_model.h"
#include "tests/ops/backends.h"
#include "tests/temporary_folder.h"

namespace elias {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

NeighbourGraph graph_of(const TinyModel& model, int64_t neighbours = 4) {
  ThreadPool pool(1);
  const PredictorWeights weights = model.views();
  return *build_neighbours(Context(pool), weights.label_weights, weights.label_bias,
                           {.neighbours = neighbours}, [](double) { return false; });
}

SearchSettings with_ef(int64_t ef) { return {.shortlist = 30, .ef = ef}; }

void expect_equal(const Csr& actual, const Csr& expected) {
  EXPECT_EQ(actual.offsets, expected.offsets);
  EXPECT_EQ(actual.columns, expected.columns);
  EXPECT_EQ(actual.values, expected.values);
}

class NeighboursModelTest : public testing::TestWithParam<bool> {
 protected:
  PredictorWeights near(const TinyModel& model, const NeighbourGraph& graph) const {
    PredictorWeights weights = model.views();
    weights.neighbours = graph.view();
    return weights;
  }

  /// A model of one member, or of two, with names for none of its labels.
  ModelParts parts_of(const PredictorWeights& weights, size_t members = 1) {
    labels_ = LabelSpace();
    labels_.require_ids("here");
    labels_.cover_ids(static_cast<uint64_t>(weights.label_weights.rows()));
    counts_.assign(static_cast<size_t>(weights.label_weights.rows()), 1);
    ModelParts parts{.method = "ova",
                     .members = {},
                     .fusion = {},
                     .labels = &labels_,
                     .label_counts = counts_,
                     .points = 9,
                     .training = {{"epochs", 3}}};
    for (size_t m = 0; m < members; ++m) {
      parts.members.push_back({.weights = weights,
                               .search = {.ef = 60 + static_cast<int64_t>(m)},
                               .stage1_clusters = {}});
    }
    return parts;
  }

  TinySizes sizes(int64_t L = 400) const { return {.C = 0, .L = L, .halves = GetParam()}; }

  TemporaryFolder temporary_;
  ThreadPool pool_{2};
  Context context_{pool_};
  LabelSpace labels_;
  std::vector<uint64_t> counts_;
};
INSTANTIATE_TEST_SUITE_P(Weights, NeighboursModelTest, testing::Bool(),
                         [](const auto& type) { return type.param ? "bfloat16" : "float32"; });

TEST_P(NeighboursModelTest, FindsWhatAScanFindsWhereAllLabelsAreKept) {
  const TinyModel model(sizes());
  const NeighbourGraph graph = graph_of(model, 16);
  const PredictorWeights all = model.views(), some = near(model, graph);
  const Predictor scan(context_, all, with_ef(0)), search(context_, some, with_ef(400));
  const Csr points = random_points(40, 30, 6);
  for (const int64_t k : {1, 10, 100, 400, 1000}) {
    expect_equal(predict_all(context_, search, points, k), predict_all(context_, scan, points, k));
  }
}

TEST_P(NeighboursModelTest, ALongListIsAScan) {
  const TinyModel model(sizes());
  const NeighbourGraph graph = graph_of(model);
  const PredictorWeights all = model.views(), some = near(model, graph);
  const Predictor scan(context_, all, with_ef(0)), search(context_, some, with_ef(5));
  const Csr points = random_points(40, 30, 6);
  expect_equal(predict_all(context_, search, points, 60), predict_all(context_, scan, points, 60));
  EXPECT_NE(predict_all(context_, search, points, 5).values,
            predict_all(context_, scan, points, 5).values);
}

TEST_P(NeighboursModelTest, APointIsScoredTheSameAloneAndInAnyBatchOnAnyThreads) {
  const TinyModel model(sizes());
  const NeighbourGraph graph = graph_of(model);
  const PredictorWeights weights = near(model, graph);
  const Csr points = random_points(150, 30, 8);
  expect_same_bits_at_any_thread_count([&](const Context& context) {
    const Predictor predictor(context, weights, with_ef(20));
    const Csr together = predict_all(context, predictor, points, 10);
    const auto state = predictor.make_state();
    std::vector<int32_t> labels(10);
    std::vector<float> scores(10);
    for (const size_t n : {0, 63, 64, 149}) {
      predictor.predict(context, points, n, n + 1, 10, {}, *state, {labels, scores});
      const CsrRow row = together.row(n);
      for (size_t i = 0; i < 10; ++i) {
        const auto at = std::ranges::find(row.columns, static_cast<uint32_t>(labels[i]));
        EXPECT_TRUE(at != row.columns.end());
        EXPECT_EQ(row.values[static_cast<size_t>(at - row.columns.begin())], scores[i]);
      }
    }
    std::vector<Tensor> results;
    results.emplace_back(Shape{static_cast<int64_t>(together.values.size())}, DType::kFloat32);
    std::ranges::copy(together.values, results.back().span<float>().begin());
    return results;
  });
}

TEST_P(NeighboursModelTest, CandidatesAreScannedAndFewLabelsNeedNoGraph) {
  const TinyModel model(sizes());
  const NeighbourGraph graph = graph_of(model);
  const PredictorWeights all = model.views(), some = near(model, graph);
  const Predictor scan(context_, all, with_ef(0)), search(context_, some, with_ef(20));
  const Csr points = random_points(20, 30, 6);
  for (const size_t step : {3, 50}) {
    std::vector<uint8_t> flags(400);
    for (size_t l = 0; l < 400; l += step) flags[l] = 1;
    const AllowedLabels allowed(flags);
    expect_equal(predict_all(context_, search, points, 9, allowed),
                 predict_all(context_, scan, points, 9, allowed));
  }
}

TEST_P(NeighboursModelTest, APointThatTheGraphLeadsNowhereIsScanned) {
  const TinyModel model(sizes());
  NeighbourGraph graph = graph_of(model);
  std::ranges::fill(graph.links, -1);
  const PredictorWeights all = model.views(), some = near(model, graph);
  const Predictor scan(context_, all, with_ef(0)), search(context_, some, with_ef(20));
  const Csr points = random_points(20, 30, 6);
  expect_equal(predict_all(context_, search, points, 9), predict_all(context_, scan, points, 9));
}

TEST_P(NeighboursModelTest, AModelIsReadAsItWasWritten) {
  const Csr points = random_points(40, 30, 6);
  for (const int64_t L : {1, 400}) {
    const TinyModel tiny(sizes(L));
    const NeighbourGraph graph = graph_of(tiny);
    for (const size_t members : {1, 2}) {
      const ModelParts parts = parts_of(near(tiny, graph), members);
      write_model(temporary_ / "m", parts, LabelStorage::kFloat32);
      const Model model = Model::load(temporary_ / "m", context_);
      ASSERT_EQ(model.config().neighbours.size(), members);
      EXPECT_EQ(model.config().neighbours.back().links, 8);
      EXPECT_EQ(model.members().back().search.ef, 59 + static_cast<int64_t>(members));
      const Predictor in_memory(context_, parts.members, parts.fusion, {});
      expect_equal(predict_all(context_, model.predictor(), points, 8),
                   predict_all(context_, in_memory, points, 8));

      const LabelSpace labels = model.label_space();
      write_model(temporary_ / "again", elias::parts_of(model, labels), LabelStorage::kFloat32);
      for (const ModelFile& file : model.config().files) {
        EXPECT_EQ(Model::load(temporary_ / "again", context_).config().find(file.name)->checksum,
                  file.checksum);
      }
    }
  }
}

TEST_P(NeighboursModelTest, CanBeScannedAllTheSame) {
  const TinyModel tiny(sizes());
  const NeighbourGraph graph = graph_of(tiny);
  ModelParts parts = parts_of(near(tiny, graph));
  parts.members[0].search.ef = 5;
  write_model(temporary_ / "m", parts, LabelStorage::kFloat32);
  const Model own = Model::load(temporary_ / "m", context_);
  const Model exact = Model::load(temporary_ / "m", context_, IndexUse::kExact);
  const PredictorWeights all = tiny.views();
  const Predictor scan(context_, all, with_ef(0));
  const Csr points = random_points(40, 30, 6);
  const Csr expected = predict_all(context_, scan, points, 5);
  expect_equal(predict_all(context_, exact.predictor(), points, 5), expected);
  EXPECT_NE(predict_all(context_, own.predictor(), points, 5).values, expected.values);
}

TEST_P(NeighboursModelTest, ExplainSaysTheNumbersOfThePrediction) {
  const TinyModel tiny(sizes());
  const NeighbourGraph graph = graph_of(tiny);
  write_model(temporary_ / "m", parts_of(near(tiny, graph)), LabelStorage::kFloat32);
  const Model model = Model::load(temporary_ / "m", context_);
  const Csr points = random_points(9, 30, 6);
  Explainer explainer(context_, model);
  for (size_t n = 0; n < points.rows(); ++n) {
    for (const ExplainedLabel& label : explainer.explain(points, n, 20, {})) {
      EXPECT_EQ(label.score, label.p);
      EXPECT_EQ(label.score, label.members.front().sigmoid_z);
    }
  }
}

// Bad content that was written so, checksums and all.
TEST_P(NeighboursModelTest, AGraphThatLeadsAstrayIsRefused) {
  const TinyModel tiny(sizes());
  const NeighbourGraph good = graph_of(tiny);
  const auto refused = [&](const char* message, const auto& spoil) {
    NeighbourGraph graph = good;
    spoil(graph);
    write_model(temporary_ / "m", parts_of(near(tiny, graph)), LabelStorage::kFloat32);
    EXPECT_THAT([&] { Model::load(temporary_ / "m", context_); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr("m/neighbours.safetensors: "), HasSubstr(message))));
  };
  refused("to 400, which is not there", [](auto& g) { g.links[9] = 400; });
  refused("enter at label 400", [](auto& g) { g.entry = 400; });
  refused("offsets do not fit", [](auto& g) { g.offsets[3] = -1; });
}

TEST_P(NeighboursModelTest, AFileThatIsMissingIsRefused) {
  const TinyModel tiny(sizes());
  const NeighbourGraph graph = graph_of(tiny);
  write_model(temporary_ / "m", parts_of(near(tiny, graph)), LabelStorage::kFloat32);
  std::filesystem::remove(temporary_ / "m/neighbours.safetensors");
  EXPECT_THAT([&] { Model::load(temporary_ / "m", context_); },
              ThrowsMessage<InputError>(HasSubstr("neighbours.safetensors")));
}

TEST_P(NeighboursModelTest, WhatDoesNotFitTogetherIsRefused) {
  const TinyModel tiny(sizes()), other(sizes(300));
  const NeighbourGraph graph = graph_of(tiny), smaller = graph_of(other);
  const auto refused = [&](const PredictorWeights& weights, int64_t ef, const char* message) {
    EXPECT_THAT([&] { Predictor(context_, weights, with_ef(ef)); },
                ThrowsMessage<InputError>(HasSubstr(message)));
  };
  refused(near(tiny, smaller), 10, "its graph is of 300 neighbours, but it has 400 labels");
  refused(near(tiny, graph), 0, "ef is 0, but must be in [1, ");
}

}  // namespace
}  // namespace elias
