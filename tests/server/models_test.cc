// What the server tells of its models and their labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/atomic_file.h"
#include "report/inspect_report.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::MatchesRegex;
using testing::StartsWith;

class ModelsThreadTest : public testing::Test {
 protected:
  Json get(const std::string& path) const {
    const auto response = server_.get(path);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  RunningServer server_;
};

TEST_F(ModelsThreadTest, AreListed) {
  const Json model = get("/v1/models")["models"].at(0);
  EXPECT_EQ(model, get("/v1/models/m"));
  EXPECT_EQ(model["name"], "m");
  EXPECT_EQ(model["method"], "elias");
  EXPECT_EQ(model["labels"], 40);
  EXPECT_EQ(model["points"], 3);
  EXPECT_EQ(model["ensemble"], 1);
  EXPECT_EQ(model["takes"], "text");
  EXPECT_EQ(model["threshold"], true);
  EXPECT_THAT(model["loaded_at"].get<std::string>(), MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(server_.get("/v1/models/n").status, 404);
}

TEST_F(ModelsThreadTest, TheIndexIsThatOfTheReportWithoutWhatIsOursAlone) {
  Json wanted = Json::parse(inspection_json(Inspection("m", server_.model())).dump());
  Json index = get("/v1/models/m/index");
  for (const char* own : {"training", "files"}) {
    EXPECT_FALSE(index.contains(own));
    wanted.erase(own);
  }
  const Json sizes = index["cluster_sizes"];
  index.erase("cluster_sizes");
  EXPECT_EQ(index, wanted);
  EXPECT_EQ(index.dump().find(server_.folder("m")), std::string::npos);

  ASSERT_EQ(sizes["bounds"].size(), sizes["clusters"].size() + 1);
  const auto clusters = sizes["clusters"].get<std::vector<int64_t>>();
  EXPECT_EQ(std::accumulate(clusters.begin(), clusters.end(), int64_t{0}),
            wanted["index"]["clusters"]);
  EXPECT_GT(sizes["bounds"].back(), wanted["index"]["edges_that_count_per_cluster"]["most"]);
}

TEST_F(ModelsThreadTest, LabelsAreFoundByPartOfTheirNames) {
  const Json labels = get("/v1/labels?q=tea&limit=2&model=m")["labels"];
  EXPECT_EQ(labels, Json::parse(R"([{"label": "tea", "id": 0, "train_points": 100},
                                    {"label": "teapot", "id": 2, "train_points": 98}])"));
  EXPECT_EQ(get("/v1/labels")["labels"].size(), 20U);
  EXPECT_EQ(get("/v1/labels?q=nothing")["labels"], Json::array());
  EXPECT_EQ(get("/v1/labels?q=%C3%BC")["labels"][0]["label"], "grün, \"süß\"");
  EXPECT_EQ(told(server_.get("/v1/labels?limit=0")),
            "[limit] 'limit' is '0': give a whole number from 1 to 1000");
  EXPECT_EQ(server_.get("/v1/labels?query=tea").status, 400);
}

TEST_F(ModelsThreadTest, ALabelIsThatOfTheReport) {
  ThreadPool pool(1);
  const LabelPortrait portrait = portray(server_.model().first().weights, 5, 10, pool);
  EXPECT_EQ(get("/v1/label?name=a%2Fb"), Json::parse(label_json(server_.model(), portrait).dump()));
  const auto unknown = server_.get("/v1/label?name=teapots");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(told(unknown),
              StartsWith("[name] m: has no label 'teapots': the nearest are 'teapot'"));
  EXPECT_EQ(told(server_.get("/v1/label")), "[name] 'name' is missing: give the name of a label");
}

TEST(ModelsWithoutAnIndexThreadTest, SayThatThereIsNone) {
  const RunningServer server(RunningServer::Setup{.model = {.method = "ova"}});
  const Json index = Json::parse(server.get("/v1/models/m/index").body);
  EXPECT_EQ(index["index"], nullptr);
  EXPECT_EQ(index["cluster_sizes"], nullptr);
  EXPECT_FALSE(Json::parse(server.get("/v1/label?name=tea").body).contains("clusters"));
}

TEST(ModelsWithATestThreadTest, HaveRecallByDecile) {
  const TemporaryFolder temporary;
  write_file(temporary / "tst.tsv", "tea\ta bird in the hand\nteapot,tea\tbirds\n");
  const RunningServer server(RunningServer::Setup{.test_file = temporary / "tst.tsv"});
  const Json index = Json::parse(server.get("/v1/models/m/index").body);
  EXPECT_EQ(index["test"]["points"], 2);
  EXPECT_FALSE(index["test"].contains("file"));
  EXPECT_EQ(index["deciles"][1]["true_pairs"], 3);
  EXPECT_TRUE(index["deciles"][1].contains("R@10"));
}

}  // namespace
}  // namespace elias::server
