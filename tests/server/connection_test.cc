// What connections may do: many requests, several at a time, slowly, wrongly, and not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/raw_client.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kGet = "GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n";

std::string predict(const std::string& body) {
  return "POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: "
         "application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

RunningServer::Setup with(const Limits& limits, size_t connections = 256) {
  return {.options = {.connections = connections, .limits = limits}};
}

TEST(ConnectionThreadTest, IsKeptForTheNextRequest) {
  const RunningServer server;
  RawClient client(server.port());
  for (int i = 0; i < 200; ++i) {
    client.send(predict(R"({"text": "birds"})"));
    EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
}

TEST(ConnectionThreadTest, RequestsSentAtOnceAreAnsweredInOrder) {
  const RunningServer server;
  RawClient client(server.port());
  std::string requests;
  for (int i = 1; i <= 20; ++i) {
    requests += predict(R"({"text": "birds", "k": )" + std::to_string(i) + "}") + kGet;
  }
  client.send(requests);
  for (int i = 1; i <= 20; ++i) {
    const std::string answer = client.answer();
    const Json json = Json::parse(answer.substr(answer.find("\r\n\r\n")));
    EXPECT_LE(json["predictions"][0]["labels"].size(), static_cast<size_t>(i));
    EXPECT_GE(json["predictions"][0]["labels"].size(), static_cast<size_t>(std::min(i, 15)));
    EXPECT_THAT(client.answer(), HasSubstr("{\"live\":true}"));
  }
}

TEST(ConnectionThreadTest, ARequestMayComeByteByByte) {
  const RunningServer server;
  RawClient client(server.port());
  for (const char c : predict(R"({"text": "birds"})")) client.send({&c, 1});
  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(ConnectionThreadTest, EndsAfterARequestWhoseBodyWasNotRead) {
  const RunningServer server;
  for (const std::string head :
       {"POST /nothing HTTP/1.1\r\n", "POST /v1/models HTTP/1.1\r\n",
        "PUT /v1/predict HTTP/1.1\r\n", "GET /v2/health/live HTTP/1.1\r\n"}) {
    RawClient client(server.port());
    const std::string smuggled = kGet;
    client.send(head + "Content-Length: " + std::to_string(smuggled.size()) + "\r\n\r\n" +
                smuggled);
    const std::string answer = client.rest();
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << head;  // one answer alone
  }
}

TEST(ConnectionThreadTest, ABodyOfDoubtfulLengthIsRefused) {
  const RunningServer server;
  for (const std::string headers :
       {"Content-Length: 3\r\nContent-Length: 5\r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -1\r\n",
        "Content-Length: 1x\r\n", "Content-Length: 99999999999999999999999\r\n",
        "Transfer-Encoding: gzip\r\n"}) {
    RawClient client(server.port());
    client.send("POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\n" + headers +
                "\r\n");
    client.end();
    EXPECT_THAT(client.rest(), StartsWith("HTTP/1.1 4")) << headers;
  }
}

TEST(ConnectionThreadTest, AHeadThatAnotherReaderCouldUnderstandOtherwiseIsRefused) {
  const RunningServer server;
  for (const std::string header :
       {"Content-Length : 5\r\n", "Transfer-Encoding : chunked\r\n", "Content-Length: 5\nX: y\r\n",
        "X: y\r\n Content-Length: 5\r\n", "Content-Length:\r\n", "Content-Length: %35\r\n"}) {
    RawClient client(server.port());
    client.send("POST /v1/predict HTTP/1.1\r\n" + header + "\r\n" + kGet);
    const std::string answer = client.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << header;
    EXPECT_THAT(answer, HasSubstr("this is no request of HTTP/1.1")) << header;
    EXPECT_EQ(answer.find("HTTP/1.1 ", 1), std::string::npos) << header;  // one answer alone
  }
}

TEST(ConnectionThreadTest, ChunksMustBeWellFormed) {
  const RunningServer server;
  const std::string head =
      "POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n";
  const auto chunks = [](const std::string& size) {
    return size + "{\"text\": \"a\"}\r\n0\r\n\r\n";
  };
  RawClient good(server.port());
  good.send(head + chunks("00d\r\n") + kGet);
  EXPECT_THAT(good.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(good.answer(), StartsWith("HTTP/1.1 200"));
  for (const std::string size : {"0xd\r\n", "+d\r\n", "d \r\n", "d;a=b\r\n", "d\n"}) {
    RawClient wrong(server.port());
    wrong.send(head + chunks(size) + kGet);
    const std::string answer = wrong.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << size;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << size;
  }
  // Not kept until its line ends, which it never does.
  RawClient endless(server.port());
  endless.send(head + std::string(1000, '0'));
  EXPECT_THAT(endless.rest(), StartsWith("HTTP/1.1 400"));
}

TEST(ConnectionThreadTest, ABodyOfPartsIsRefused) {
  const RunningServer server;
  const auto refused = server.post("/v1/models/m/reload", "--x\r\n\r\na\r\n--x--\r\n",
                                   "multipart/form-data; boundary=x");
  EXPECT_EQ(refused.status, 415);
}

TEST(ConnectionThreadTest, WhatIsNoRequestIsToldSo) {
  const RunningServer server;
  for (const std::string nonsense :
       {"nonsense\r\n\r\n", "GET / HTTP/3\r\n\r\n", "BREW / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n",
        "\x16\x03\x01\x02\r\n\r\n"}) {
    RawClient client(server.port());
    client.send(nonsense);
    const std::string answer = client.rest();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << nonsense;
    EXPECT_THAT(answer, HasSubstr("this is no request of HTTP/1.1"));
  }
}

TEST(ConnectionThreadTest, APostWithoutABodyIsNotWaitedFor) {
  const RunningServer server;
  RawClient client(server.port());
  client.send("POST /v1/models/m/reload HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200"));
  client.send(kGet);
  EXPECT_THAT(client.answer(), StartsWith("HTTP/1.1 200"));
}

TEST(ConnectionThreadTest, AClientThatAsksFirstIsToldBeforeItSendsItsBody) {
  const RunningServer server(with({.body = 100}));
  const std::string head =
      "POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n";
  RawClient good(server.port());
  good.send(head + "Content-Length: 13\r\n\r\n");
  EXPECT_THAT(good.answer(), StartsWith("HTTP/1.1 100 Continue\r\n"));
  good.send(R"({"text": "a"})");
  EXPECT_THAT(good.answer(), StartsWith("HTTP/1.1 200"));
  RawClient wrong(server.port());
  wrong.send("POST /nothing HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n");
  EXPECT_THAT(wrong.rest(), StartsWith("HTTP/1.1 404"));
}

TEST(ConnectionThreadTest, OfASlowClientIsEnded) {
  const RunningServer server(with({.patience = milliseconds(50)}));
  RawClient head(server.port()), body(server.port());
  head.send("GET / HTTP/1.1\r\nHo");
  EXPECT_THAT(head.rest(), StartsWith("HTTP/1.1 408"));
  body.send(
      "POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{");
  const std::string answer = body.rest();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(answer, HasSubstr("too slowly"));
}

TEST(ConnectionThreadTest, ThatIsIdleForLongIsEnded) {
  const RunningServer server(with({.idle = milliseconds(500)}));
  RawClient once(server.port()), never(server.port());
  once.send(kGet);
  EXPECT_THAT(once.answer(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(once.rest(), "");
  EXPECT_EQ(never.rest(), "");
}

TEST(ConnectionThreadTest, IdleOnesMakeRoomForOthers) {
  const RunningServer server(with({}, 3));
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(std::make_unique<RawClient>(server.port()));
    idle.back()->send(kGet);
    EXPECT_THAT(idle.back()->answer(), StartsWith("HTTP/1.1 200"));
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(server.get("/v2/health/live").status, 200);
}

TEST(ConnectionThreadTest, ThatIsLeftInTheMiddleHarmsNobody) {
  const RunningServer server(with({}, 4));
  for (int i = 0; i < 20; ++i) {
    RawClient half(server.port()), unread(server.port());
    half.send("POST /v1/predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{\"text\"");
    unread.send(predict(R"({"text": "birds", "k": 40})"));
  }
  EXPECT_EQ(server.get("/v2/health/live").status, 200);
}

TEST(ConnectionThreadTest, SaysNothingOfTheProgram) {
  const RunningServer server;
  RawClient client(server.port());
  client.send(kGet);
  const std::string answer = client.answer();
  EXPECT_THAT(answer, Not(HasSubstr("Server:")));
  EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store\r\n"));
}

}  // namespace
}  // namespace elias::server
