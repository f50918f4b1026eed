#include "index/graph_analysis.h"

#include <gmock/gmock.h>

#include "base/errors.h"

namespace elias {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::Pointwise;

// Three clusters, the last empty; label 4 is in none.
const std::vector<int64_t> kOffsets{0, 4, 7, 7};
const std::vector<int32_t> kLabels{0, 1, 2, 3, 0, 1, 5};
const std::vector<float> kScores{1, 0.25F, 0.5F, 0, 0.75F, 0.3125F, 0.0625F};
const LabelGraphView kGraph{6, kOffsets, kLabels, kScores};
const std::vector<uint64_t> kCounts{9, 5, 5, 0, 1, 0};

TEST(GraphAnalysis, CountsEdgesAndLabels) {
  const GraphSummary summary = summarise(kGraph, kCounts, {});
  EXPECT_EQ(summary.edges, 7);
  EXPECT_EQ(summary.covered, 5);
  EXPECT_EQ(summary.counted, 4);  // .25 itself does not count
  EXPECT_EQ(summary.cluster_sizes.least, 0);
  EXPECT_EQ(summary.cluster_sizes.most, 2);
  EXPECT_DOUBLE_EQ(summary.cluster_sizes.mean, 4.0 / 3);
  EXPECT_EQ(summarise(kGraph, kCounts, {}, 0.24F).cluster_sizes.most, 3);
  EXPECT_EQ(summarise(kGraph, kCounts, {}, 0).counted, 6);
}

TEST(GraphAnalysis, BinsOfScores) {
  const auto histogram = summarise(kGraph, kCounts, {}).histogram;
  std::vector<int64_t> expected(20);
  for (const size_t bin : {19, 5, 10, 0, 15, 6, 1}) ++expected[bin];
  EXPECT_THAT(histogram, Pointwise(testing::Eq(), expected));
}

TEST(GraphAnalysis, ClustersPerLabelHeadToTail) {
  // Seen: labels 0, 1, 2, 4 by frequency, of four the deciles 1, 3, 6, 8. Unseen: 3 and 5.
  const auto clusters = summarise(kGraph, kCounts, {}).clusters_per_label;
  EXPECT_THAT(clusters, ElementsAre(0, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0));
  const auto all = summarise(kGraph, kCounts, {}, 0.01F).clusters_per_label;
  EXPECT_THAT(all, ElementsAre(0.5, 2, 0, 2, 0, 0, 1, 0, 0, 0, 0));
}

TEST(GraphAnalysis, MeanOverTheLabelsOfADecile) {
  // Twenty labels, two a decile: label l in the first l % 3 clusters.
  std::vector<int32_t> cluster_one, cluster_two;
  for (int32_t l = 0; l < 20; ++l) {
    if (l % 3 >= 1) cluster_one.push_back(l);
    if (l % 3 >= 2) cluster_two.push_back(l);
  }
  std::vector<int32_t> labels = cluster_one;
  labels.insert(labels.end(), cluster_two.begin(), cluster_two.end());
  const std::vector<int64_t> offsets{0, static_cast<int64_t>(cluster_one.size()),
                                     static_cast<int64_t>(labels.size())};
  const std::vector<float> scores(labels.size(), 1);
  const std::vector<uint64_t> counts(20, 7);
  EXPECT_THAT(summarise({20, offsets, labels, scores}, counts, {}).clusters_per_label,
              ElementsAre(0, 0.5, 1, 1.5, 0.5, 1, 1.5, 0.5, 1, 1.5, 0.5));
}

TEST(GraphAnalysis, WhatIsLeftOfStageOne) {
  EXPECT_EQ(summarise(kGraph, kCounts, {}).stage1_kept, std::nullopt);
  // Scores of these edges: .75, .25, .5, 0, none, none.
  const std::vector<int32_t> stage1{1, 0, 0, 0, 2, 0};
  const auto kept = summarise(kGraph, kCounts, stage1).stage1_kept;
  EXPECT_THAT(kept, Optional(ElementsAre(DoubleEq(0.5), DoubleEq(0.5), DoubleEq(2.0 / 6),
                                         DoubleEq(1.0 / 6), DoubleEq(0))));
}

TEST(GraphAnalysis, OfNothing) {
  const GraphSummary summary = summarise({0, std::vector<int64_t>{0}, {}, {}}, {}, {});
  EXPECT_EQ(summary.edges, 0);
  EXPECT_EQ(summary.cluster_sizes.mean, 0);
  EXPECT_THROW(summarise(kGraph, std::vector<uint64_t>(5), {}), InternalError);
  EXPECT_THROW(summarise(kGraph, kCounts, std::vector<int32_t>(5)), InternalError);
}

TEST(PrunedGraph, EdgesAboveAThreshold) {
  const PrunedGraph pruned = edges_above(kGraph, 0.25F);
  EXPECT_EQ(pruned.graph.label_count, 6);
  EXPECT_THAT(pruned.graph.offsets, ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(pruned.graph.labels, ElementsAre(0, 2, 0, 1));
  EXPECT_THAT(pruned.scores, ElementsAre(1, 0.5F, 0.75F, 0.3125F));
  EXPECT_THAT(edges_above(kGraph, 1).graph.labels, IsEmpty());
  EXPECT_EQ(edges_above(kGraph, 1).graph.clusters(), 3);
  EXPECT_EQ(edges_above(kGraph, -1).scores, kScores);
}

TEST(PrunedGraph, TopEdgesOfEachRow) {
  const PrunedGraph pruned = top_edges(kGraph, 2);
  EXPECT_THAT(pruned.graph.offsets, ElementsAre(0, 2, 4, 4));
  EXPECT_THAT(pruned.graph.labels, ElementsAre(0, 2, 0, 1));
  EXPECT_THAT(pruned.view().scores, ElementsAre(1, 0.5F, 0.75F, 0.3125F));
  EXPECT_THAT(top_edges(kGraph, 3).graph.labels, ElementsAre(0, 1, 2, 0, 1, 5));
  EXPECT_EQ(top_edges(kGraph, 4).scores, kScores);
  EXPECT_THAT(top_edges(kGraph, 0).graph.labels, IsEmpty());
}

TEST(PrunedGraph, OfEqualScoresTheLowerLabelsStay) {
  const std::vector<int64_t> offsets{0, 5};
  const std::vector<int32_t> labels{2, 3, 5, 7, 8};
  const std::vector<float> scores{0.5F, 1, 0.5F, 0.5F, 1};
  const LabelGraphView graph{9, offsets, labels, scores};
  EXPECT_THAT(top_edges(graph, 3).graph.labels, ElementsAre(2, 3, 8));
  EXPECT_THAT(top_edges(graph, 4).graph.labels, ElementsAre(2, 3, 5, 8));
}

TEST(PrunedGraph, LabelsThatLostAllEdgesGetTheirBestBack) {
  PrunedGraph pruned = edges_above(kGraph, 0.5F);  // labels 1, 2, 3 and 5 are gone
  EXPECT_EQ(restore_best_edges(kGraph, pruned), 4);
  EXPECT_EQ(pruned.graph.label_count, 6);
  EXPECT_THAT(pruned.graph.offsets, ElementsAre(0, 3, 6, 6));
  EXPECT_THAT(pruned.graph.labels, ElementsAre(0, 2, 3, 0, 1, 5));
  EXPECT_THAT(pruned.scores, ElementsAre(1, 0.5F, 0, 0.75F, 0.3125F, 0.0625F));
  EXPECT_EQ(restore_best_edges(kGraph, pruned), 0);
  EXPECT_THAT(pruned.graph.labels, ElementsAre(0, 2, 3, 0, 1, 5));
}

TEST(PrunedGraph, OfNothingLeftTheBestEdgesAreRestored) {
  PrunedGraph pruned = top_edges(kGraph, 0);
  EXPECT_EQ(restore_best_edges(kGraph, pruned), 5);  // label 4 never had one
  EXPECT_THAT(pruned.graph.labels, ElementsAre(0, 2, 3, 1, 5));
}

TEST(PrunedGraph, OfEqualBestEdgesTheLowerClusterIsRestored) {
  const std::vector<int64_t> offsets{0, 1, 2};
  const std::vector<int32_t> labels{0, 0};
  const std::vector<float> scores{0.5F, 0.5F};
  const LabelGraphView graph{1, offsets, labels, scores};
  PrunedGraph pruned = top_edges(graph, 0);
  EXPECT_EQ(restore_best_edges(graph, pruned), 1);
  EXPECT_THAT(pruned.graph.offsets, ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace elias
