// POST /v1/models/{model}/reload while everybody asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "base/atomic_file.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

float score(const RunningServer& server) {
  return server.ask(R"({"text": "a bird in the hand"})")["predictions"][0]["labels"][0]["score"];
}

TEST(ReloadThreadTest, PutsTheNewModelInThePlaceOfTheOld) {
  const RunningServer server;
  const float before = score(server);
  write_text_model(server.folder("m"), {.seed = 2, .threshold = false});
  EXPECT_EQ(score(server), before);
  const auto response = server.post("/v1/models/m/reload", "{}");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Json::parse(response.body)["model"], "m");
  EXPECT_NE(score(server), before);
  EXPECT_EQ(Json::parse(server.get("/v1/models/m").body)["threshold"], false);
  EXPECT_EQ(server.post("/v1/models/n/reload", "").status, 404);
  EXPECT_EQ(server.post("/v1/models/m/reload", R"({"now": true})").status, 400);
  EXPECT_EQ(server.get("/v1/models/m/reload").status, 405);
}

TEST(ReloadThreadTest, AModelThatIsRefusedLeavesTheOldOneInItsPlace) {
  const RunningServer server;
  const float before = score(server);
  const std::string loaded_at = Json::parse(server.get("/v1/models/m").body)["loaded_at"];
  write_file(server.folder("m") + "/config.json", "{}");
  const auto refused = server.post("/v1/models/m/reload", "");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(told(refused), StartsWith("[model] 'm' stays as it is: "));
  EXPECT_EQ(score(server), before);
  EXPECT_EQ(Json::parse(server.get("/v1/models/m").body)["loaded_at"], loaded_at);
  EXPECT_THAT(server.get("/metrics").body, HasSubstr("elias_reloads_total{outcome=\"refused\"} 1"));
}

TEST(ReloadThreadTest, NoRequestIsLost) {
  const RunningServer server;
  std::atomic<bool> done{false};
  std::atomic<int> answers{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      auto client = server.client();
      const std::string body =
          i == 0 ? R"({"text": "birds", "explain": true})" : R"({"text": "birds"})";
      while (!done) {
        const auto result = client.Post("/v1/predict", body, "application/json");
        ASSERT_TRUE(result);
        ASSERT_EQ(result->status, 200) << result->body;
        ++answers;
      }
    });
  }
  std::thread reader([&] {
    while (!done) {
      EXPECT_EQ(server.get("/v1/models/m/index").status, 200);
      EXPECT_EQ(server.get("/v1/labels?q=tea").status, 200);
      EXPECT_EQ(server.get("/v1/label?name=tea").status, 200);
      EXPECT_EQ(server.get("/metrics").status, 200);
    }
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(server.post("/v1/models/m/reload", "").status, 200);
  while (answers < 100) std::this_thread::yield();
  done = true;
  for (auto& client : clients) client.join();
  reader.join();
}

}  // namespace
}  // namespace elias::server
