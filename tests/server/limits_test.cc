// Limits, each at its two sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/server/raw_client.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text_body(size_t size) { return R"({"text": ")" + std::string(size, 'a') + "\"}"; }

TEST(LimitsThreadTest, OfTheBody) {
  const RunningServer server(RunningServer::Setup{.options = {.limits = {.body = 512}}});
  const std::string most = text_body(512 - 12), more = text_body(512 - 11);
  ASSERT_EQ(most.size(), 512U);
  EXPECT_EQ(server.post("/v1/predict", most).status, 200);
  const auto refused = server.post("/v1/predict", more);
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(told(refused), StartsWith("the body has more than"));
  EXPECT_EQ(refused.get_header_value("Connection"), "close");
}

TEST(LimitsThreadTest, OfABodyWithoutALengthAndOfAPackedOne) {
  const RunningServer server(RunningServer::Setup{.options = {.limits = {.body = 512}}});
  const auto chunked = [&](const std::string& body) {
    return server.client().Post(
        "/v1/predict",
        [&](size_t, httplib::DataSink& sink) {
          sink.write(body.data(), body.size());
          sink.done();
          return true;
        },
        "application/json");
  };
  EXPECT_EQ(chunked(text_body(500))->status, 200);
  EXPECT_EQ(chunked(text_body(501))->status, 413);
  auto packing = server.client();
  packing.set_compress(true);
  EXPECT_EQ(packing.Post("/v1/predict", text_body(500), "application/json")->status, 200);
  const auto bomb = packing.Post("/v1/predict", text_body(10'000'000), "application/json");
  ASSERT_TRUE(bomb);
  EXPECT_EQ(bomb->status, 413);
}

TEST(LimitsThreadTest, OfATextAndOfTexts) {
  const RunningServer server(
      RunningServer::Setup{.options = {.limits = {.text = 100, .texts = 3}}});
  EXPECT_EQ(server.post("/v1/predict", text_body(100)).status, 200);
  const auto text = server.post("/v1/predict", text_body(101));
  EXPECT_EQ(text.status, 413);
  EXPECT_THAT(told(text), StartsWith("[text] 'text' has more than"));
  EXPECT_EQ(server.post("/v1/predict", R"({"texts": ["", "", ""]})").status, 200);
  const auto texts = server.post("/v1/predict", R"({"texts": ["", "", "", ""]})");
  EXPECT_EQ(texts.status, 413);
  EXPECT_THAT(told(texts), StartsWith("[texts] 'texts' has 4 texts"));
}

TEST(LimitsThreadTest, OfTheHead) {
  const RunningServer server;
  const auto answer = [&](const std::string& request) {
    RawClient client(server.port());
    client.send(request);
    return client.rest();
  };
  const std::string line = "GET /v2/health/live HTTP/1.1\r\n", end = "Connection: close\r\n\r\n";
  EXPECT_THAT(answer(line + "A: " + std::string(4000, 'a') + "\r\n" + end),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer(line + "A: " + std::string(4100, 'a') + "\r\n" + end),
              StartsWith("HTTP/1.1 431"));
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "A: aaaaaaaa\r\n";
  EXPECT_THAT(answer(line + many + end), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(answer("GET /" + std::string(7000, 'a') + " HTTP/1.1\r\n" + end),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n" + end),
              StartsWith("HTTP/1.1 431"));
  // As much stack as any line may cost.
  std::string ranges = "Range: bytes=1-1";
  while (ranges.size() < 4000) ranges += ",1-1";
  EXPECT_THAT(answer(line + ranges + "\r\n" + end), StartsWith("HTTP/1.1 200"));
}

/// A replica that is at work until it is told to go on.
class HeldReplica {
 public:
  explicit HeldReplica(RunningServer& server)
      : service_(server.api().choose("m", "").service),
        answer_(service_->run(
            [this](Replica&) {
              begun_.set_value();
              go_on_.get_future().wait();
            },
            Job::Clock::now() + std::chrono::hours(1))) {
    begun_.get_future().wait();
  }
  ~HeldReplica() {
    go_on_.set_value();
    answer_.wait();
  }

 private:
  std::promise<void> begun_, go_on_;
  std::shared_ptr<PredictionService> service_;
  PendingAnswer answer_;
};

TEST(LimitsThreadTest, OfTheQueue) {
  RunningServer server(RunningServer::Setup{
      .service = {.replicas = 1, .queue = {.capacity = 2, .batch = 8, .batch_wait = {}}}});
  std::thread waiting;
  {
    const HeldReplica held(server);
    waiting = std::thread([&] { server.ask(R"({"texts": ["a", "b"]})"); });
    while (server.api().choose("m", "").service->counts().waiting_texts < 2)
      std::this_thread::yield();
    const auto refused = server.post("/v1/predict", R"({"text": "a"})");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.get_header_value("Retry-After"), "1");
    EXPECT_EQ(told(refused), "2 texts wait already, of 2 that may: ask again in a while");
  }
  waiting.join();
  EXPECT_EQ(server.post("/v1/predict", R"({"text": "a"})").status, 200);
}

TEST(LimitsThreadTest, OfTime) {
  RunningServer server(
      RunningServer::Setup{.options = {.limits = {.answer = std::chrono::milliseconds(50)}},
                           .service = {.replicas = 1, .queue = {}}});
  const HeldReplica held(server);
  for (const char* body : {R"({"text": "a"})", R"({"text": "a", "explain": true})"}) {
    const auto overdue = server.post("/v1/predict", body);
    EXPECT_EQ(overdue.status, 503);
    EXPECT_EQ(overdue.get_header_value("Retry-After"), "1");
    EXPECT_THAT(told(overdue), HasSubstr("in time"));
  }
}

TEST(LimitsThreadTest, OfExplanations) {
  const RunningServer server;
  Json body{{"explain", true}, {"texts", std::vector<std::string>(16, "birds")}};
  EXPECT_EQ(server.post("/v1/predict", body.dump()).status, 200);
  body["texts"].push_back("birds");
  EXPECT_EQ(server.post("/v1/predict", body.dump()).status, 413);
}

}  // namespace
}  // namespace elias::server
