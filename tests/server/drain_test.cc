// A server that stops: what is under way is answered, nothing else is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/raw_client.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(DrainThreadTest, RequestsUnderWayAreAnswered) {
  RunningServer server;
  RawClient begun(server.port()), bulk(server.port());
  // The server has the head of a request; its body comes when it is stopping already.
  begun.send(
      "POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 17\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_THAT(begun.answer(), StartsWith("HTTP/1.1 100"));
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += "\"a bird in the hand\"\n";
  bulk.send(
      "POST /v1/predict?k=30 HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Length: " +
      std::to_string(lines.size()) + "\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(bulk.answer(), StartsWith("HTTP/1.1 100"));
  bulk.send(lines.substr(0, 1000));

  server.begin_to_stop();
  begun.send(R"({"text": "birds"})");
  EXPECT_THAT(begun.rest(), StartsWith("HTTP/1.1 200"));
  bulk.send(lines.substr(1000));
  const std::string answer = bulk.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(answer.ends_with("\r\n0\r\n\r\n"));  // all of it
  server.stop();
}

TEST(DrainThreadTest, IdleConnectionsAreEndedAndNoneIsTaken) {
  RunningServer server;
  RawClient idle(server.port());
  idle.send("GET /v2/health/ready HTTP/1.1\r\n\r\n");
  EXPECT_THAT(idle.answer(), StartsWith("HTTP/1.1 200"));
  server.stop();
  EXPECT_EQ(idle.rest(), "");
  httplib::Client late("127.0.0.1", server.port());
  EXPECT_FALSE(late.Get("/v2/health/ready"));
}

TEST(DrainThreadTest, WhatIsAskedMeanwhileIsToldSoAndLivenessStays) {
  RunningServer server;
  RawClient client(server.port()), holding(server.port());
  holding.send(
      "POST /v1/predict?k=30 HTTP/1.1\r\nContent-Type: application/x-ndjson\r\n"
      "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(holding.answer(), StartsWith("HTTP/1.1 100"));
  client.send("GET /v2/health/live HTTP/1.1\r\n");  // half of a request
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server.get("/v2/health/ready").status, 200);
  server.begin_to_stop();
  client.send("\r\n");
  const std::string live = client.rest();
  EXPECT_THAT(live, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(live, HasSubstr("Connection: close"));
  holding.send("\"a\"\n");
  EXPECT_THAT(holding.rest(), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace elias::server
