#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/errors.h"
#include "server/secrets.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(TokenTest, IsComparedWhole) {
  EXPECT_TRUE(bears_token("", ""));
  EXPECT_TRUE(bears_token("Bearer abc", "abc"));
  for (const char* wrong : {"", "abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abd",
                            "Bearer abcd", "Bearer abcabc", "Basic abc", "bearer abc"}) {
    EXPECT_FALSE(bears_token(wrong, "abc")) << wrong;
  }
}

TEST(TokenTest, IsReadFromAFile) {
  const TemporaryFolder temporary;
  const auto read = [&](const std::string& text) {
    write_file(temporary / "token", text);
    return read_token(temporary / "token");
  };
  EXPECT_EQ(read(" abc-1\n"), "abc-1");
  EXPECT_THAT([&] { read(" \n"); }, ThrowsMessage<InputError>(HasSubstr("is empty")));
  EXPECT_THAT([&] { read("a b"); }, ThrowsMessage<InputError>(HasSubstr("more than one word")));
  EXPECT_THROW(read("a%41"), InputError);  // which no header could hold
  EXPECT_THROW(read_token(temporary / "nothing"), InputError);
}

TEST(TokenThreadTest, IsWantedOfAllButThePageAndHealth) {
  RunningServer server(RunningServer::Setup{.options = {.token = "abc"}});
  const Router router = server.api().routes();
  for (const Route& route : router.routes()) {
    std::string path = route.pattern;
    for (size_t at = path.find("{model}"); at != std::string::npos; at = path.find("{model}")) {
      path.replace(at, 7, "m");
    }
    const bool open = path == "/" || path == "/openapi.json" || path.ends_with(".js") ||
                      path.ends_with(".css") || path.starts_with("/v2/health/");
    const auto response = route.method == "POST" ? server.post(path, "{}") : server.get(path);
    EXPECT_EQ(response.status == 401, !open) << path;
    if (!open) {
      EXPECT_EQ(response.get_header_value("WWW-Authenticate"), "Bearer");
      EXPECT_EQ(told(response),
                "this server wants a token: send the header 'Authorization: Bearer TOKEN'");
    }
  }
  EXPECT_EQ(server.get("/v1/models", {{"Authorization", "Bearer abc"}}).status, 200);
  EXPECT_EQ(server.get("/v1/models", {{"Authorization", "Bearer abx"}}).status, 401);
}

TEST(SiteThreadTest, PagesOfOthersCannotPostByWayOfABrowser) {
  const RunningServer server;
  const auto status = [&](const std::string& path, const std::string& site) {
    const auto answer = server.client().Post(path, httplib::Headers{{"Sec-Fetch-Site", site}},
                                             R"({"text": "tea"})", "application/json");
    return answer ? answer->status : 0;
  };
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(status("/v1/predict", site), 403);
    EXPECT_EQ(status("/v1/models/m/reload", site), 403);
  }
  for (const char* site : {"same-origin", "none"}) EXPECT_EQ(status("/v1/predict", site), 200);
  EXPECT_EQ(server.get("/v1/models", {{"Sec-Fetch-Site", "cross-site"}}).status, 200);
}

}  // namespace
}  // namespace elias::server
