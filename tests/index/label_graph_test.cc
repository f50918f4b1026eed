#include "index/label_graph.h"

#include <gmock/gmock.h>

#include "base/errors.h"

namespace elias {
namespace {

using testing::ElementsAre;

TEST(LabelGraph, PartitionPutsEachLabelInItsRow) {
  const std::vector<int32_t> cluster_of{2, 0, 2, 3, 0};
  const LabelGraph graph = partition_graph(cluster_of, 5);
  EXPECT_EQ(graph.label_count, 5);
  EXPECT_EQ(graph.clusters(), 5);
  EXPECT_EQ(graph.edges(), 5);
  EXPECT_THAT(graph.offsets, ElementsAre(0, 2, 2, 4, 5, 5));
  EXPECT_THAT(graph.labels, ElementsAre(1, 4, 0, 2, 3));
}

TEST(LabelGraph, PartitionOfNothingHasEmptyRows) {
  const LabelGraph graph = partition_graph({}, 2);
  EXPECT_THAT(graph.offsets, ElementsAre(0, 0, 0));
  EXPECT_EQ(graph.edges(), 0);
}

TEST(LabelGraph, PartitionRefusesAClusterThatIsNone) {
  EXPECT_THROW(partition_graph(std::vector<int32_t>{0, 2}, 2), InternalError);
  EXPECT_THROW(partition_graph(std::vector<int32_t>{-1}, 2), InternalError);
}

TEST(LabelGraph, ParentIsTheHighestEdgeAndOfEqualsTheLowestCluster) {
  const std::vector<int64_t> offsets{0, 3, 6, 8};
  const std::vector<int32_t> labels{0, 1, 4, 0, 1, 2, 0, 2};
  const std::vector<float> scores{0.5F, 1, 0, 0.75F, 1, 0.25F, 0.625F, 0.5F};
  EXPECT_THAT(label_parents({6, offsets, labels, scores}), ElementsAre(1, 0, 2, -1, 0, -1));
}

TEST(LabelGraph, EdgesToALabelComeByRisingCluster) {
  const std::vector<int64_t> offsets = {0, 2, 2, 5};
  const std::vector<int32_t> labels = {0, 3, 1, 3, 4};
  const std::vector<float> scores = {0.5F, 0.25F, 1, 0.75F, 0};
  const LabelGraphView graph{6, offsets, labels, scores};
  const auto edges = edges_to(graph, 3);
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].cluster, 0);
  EXPECT_EQ(edges[0].score, 0.25F);
  EXPECT_EQ(edges[1].cluster, 2);
  EXPECT_EQ(edges[1].score, 0.75F);
  EXPECT_TRUE(edges_to(graph, 5).empty());
}

}  // namespace
}  // namespace elias
