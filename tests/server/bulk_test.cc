// POST /v1/predict with lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/server/raw_client.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kLines = "application/x-ndjson";

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

class BulkThreadTest : public testing::Test {
 protected:
  RunningServer server_{RunningServer::Setup{.options = {.limits = {.body = 1000, .text = 2000}}}};
};

TEST_F(BulkThreadTest, ALineIsAnsweredByALineInOrder) {
  const auto response = server_.post("/v1/predict?k=2&model=m",
                                     "{\"text\": \"birds\", \"id\": 7}\n"
                                     "\"hand\"\n"
                                     "{\"id\": \"b\"}\n"
                                     "\n"
                                     "{\"text\": \"\xff\"}\n"
                                     "{\"text\": \"bush\"}",
                                     kLines);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.get_header_value("Content-Type"), kLines);
  const auto lines = lines_of(response.body);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0]["id"], 7);
  const Json birds = server_.ask(R"({"text": "birds", "k": 2})")["predictions"][0]["labels"];
  EXPECT_EQ(lines[0]["labels"], Json({birds[0]["label"], birds[1]["label"]}));
  EXPECT_EQ(lines[0]["scores"], Json({birds[0]["score"], birds[1]["score"]}));
  EXPECT_EQ(lines[1]["labels"].size(), 2U);
  EXPECT_FALSE(lines[1].contains("id"));
  EXPECT_THAT(lines[2]["error"].get<std::string>(), StartsWith("'text' is missing"));
  EXPECT_EQ(lines[2]["line"], 3);
  EXPECT_EQ(lines[3]["line"], 4);
  EXPECT_THAT(lines[4]["error"].get<std::string>(), HasSubstr("UTF-8"));
  EXPECT_EQ(lines[5]["labels"].size(), 2U);
}

TEST_F(BulkThreadTest, HasNoLimitButThatOfALine) {
  std::string body;
  for (int i = 0; i < 3000; ++i)
    body += "{\"id\": " + std::to_string(i) + ", \"text\": \"birds\"}\n";
  ASSERT_GT(body.size(), 50'000U);  // the limit of other bodies is 1000
  const auto lines = lines_of(server_.post("/v1/predict?k=1", body, kLines).body);
  ASSERT_EQ(lines.size(), 3000U);
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(lines[i]["id"], i);
}

TEST_F(BulkThreadTest, ALineThatIsTooLongIsSkipped) {
  const std::string most(2000, 'a'), more(2001, 'a'), much(100'000, 'a');
  const auto lines =
      lines_of(server_
                   .post("/v1/predict",
                         "\"" + most + "\"\n\"" + more + "\"\n\"" + much + "\"\n\"a\"", kLines)
                   .body);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[0].contains("labels"));
  EXPECT_THAT(lines[1]["error"].get<std::string>(), StartsWith("'text' has more than the"));
  EXPECT_THAT(lines[2]["error"].get<std::string>(), StartsWith("the line is longer than any text"));
  EXPECT_EQ(lines[2]["line"], 3);
  EXPECT_TRUE(lines[3].contains("labels"));
}

TEST_F(BulkThreadTest, WhatIsAskedIsCheckedBeforeTheBodyIsRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"k=0", "[k] 'k' is '0'"},
      {"k=1&k=2", "[k] 'k' is given twice"},
      {"model=n", "[model] there is no model 'n'"},
      {"threshold=2", "[threshold] 'threshold' is '2'"},
      {"explain=true", "[explain] there is no parameter"}};
  for (const auto& [query, wanted] : cases) {
    const auto response = server_.post(std::string("/v1/predict?") + query, "\"a\"\n", kLines);
    EXPECT_GE(response.status, 400);
    EXPECT_THAT(told(response), StartsWith(wanted));
  }
}

TEST_F(BulkThreadTest, NothingIsAnsweredByNothing) {
  const auto response = server_.post("/v1/predict", "", kLines);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
}

// The client sends everything, far more than any buffer between the two holds, before it reads.
TEST_F(BulkThreadTest, AClientThatReadsLastDoesNotLockUp) {
  std::string body;
  while (body.size() < 16'000'000) body += "\"" + std::string(1900, 'x') + "\"\n";
  RawClient client(server_.port());
  client.send(
      "POST /v1/predict?k=20 HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
      "Connection: close\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n");
  client.send(body);
  const std::string answer = client.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n0\r\n\r\n"));  // chunked, to the end
}

// Bulk waits where others are refused.
TEST(BulkQueueThreadTest, AFullQueueMakesItWait) {
  const RunningServer server(RunningServer::Setup{
      .service = {.replicas = 1, .queue = {.capacity = 300, .batch = 8, .batch_wait = {}}}});
  std::vector<std::thread> clients;
  std::atomic<int> answers{0};
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      std::string body;
      for (int line = 0; line < 1000; ++line) body += "\"a bird in the hand\"\n";
      for (const Json& line : lines_of(server.post("/v1/predict", body, kLines).body)) {
        if (line.contains("labels")) ++answers;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(answers, 4000);
}

}  // namespace
}  // namespace elias::server
