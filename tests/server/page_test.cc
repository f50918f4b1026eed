// The page and the description of the interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/assets.h"
#include "tests/server/running_server.h"

namespace elias::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(PageThreadTest, EveryFileIsServedWithItsTypeAndAPolicy) {
  const RunningServer server;
  ASSERT_GE(assets().size(), 4U);
  for (const Asset& asset : assets()) {
    const std::string name(asset.name);
    const auto response = server.get(name == "index.html" ? "/" : "/" + name);
    EXPECT_EQ(response.status, 200) << name;
    EXPECT_EQ(response.body, asset.bytes) << name;
    EXPECT_NE(response.get_header_value("Content-Type"), "") << name;
    const std::string policy = response.get_header_value("Content-Security-Policy");
    EXPECT_THAT(policy, StartsWith("default-src 'none'; script-src 'self'; style-src 'self'"));
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(response.get_header_value("X-Content-Type-Options"), "nosniff");
  }
  EXPECT_EQ(server.get("/").get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(server.get("/app.js").get_header_value("Content-Type"),
            "text/javascript; charset=utf-8");
  EXPECT_EQ(server.get("/style.css").get_header_value("Content-Type"), "text/css; charset=utf-8");
  for (const char* path : {"/index.html", "/../etc/passwd", "/%2e%2e/app.js", "//app.js"}) {
    EXPECT_EQ(server.get(path).status, 404) << path;
  }
}

TEST(PageThreadTest, HeadIsAsGetWithoutTheBody) {
  const RunningServer server;
  const auto head = server.client().Head("/app.js");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->get_header_value("Content-Length"),
            std::to_string(server.get("/app.js").body.size()));
}

class OpenApiThreadTest : public testing::Test {
 protected:
  OpenApiThreadTest() : document_(Json::parse(server_.get("/openapi.json").body)) {}

  /// What a "$ref" leads to.
  const Json& resolved(const Json& value) const {
    if (!value.contains("$ref")) return value;
    return document_.at(Json::json_pointer(value["$ref"].get<std::string>().substr(1)));
  }
  void check_references(const Json& value) const {
    if (!value.is_structured()) return;
    if (value.is_object() && value.contains("$ref")) {
      EXPECT_NO_THROW(resolved(value)) << value;
    }
    for (const Json& part : value) check_references(part);
  }

  RunningServer server_;
  Json document_;
};

TEST_F(OpenApiThreadTest, DescribesEveryRouteAndNoOther) {
  EXPECT_EQ(document_["openapi"], "3.1.0");
  std::set<std::string> described, served;
  for (const auto& [path, methods] : document_["paths"].items()) {
    for (const auto& [method, _] : methods.items()) {
      if (method != "parameters") described.insert(method + " " + path);
    }
  }
  const Router router = server_.api().routes();
  for (const Route& route : router.routes()) {
    if (route.pattern.ends_with(".js") || route.pattern.ends_with(".css")) continue;
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    served.insert(method + " " + route.pattern);
  }
  EXPECT_EQ(described, served);
}

TEST_F(OpenApiThreadTest, DescribesTheParametersOfEveryRoute) {
  const Router router = server_.api().routes();
  for (const Route& route : router.routes()) {
    if (!document_["paths"].contains(route.pattern)) continue;
    const Json& path = document_["paths"][route.pattern];
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(c));
    std::multiset<std::string> described,
        served(route.rules.query.begin(), route.rules.query.end());
    for (const Json* list : {&path, &path.at(method)}) {
      if (!list->contains("parameters")) continue;
      for (const Json& parameter : (*list)["parameters"]) {
        described.insert(resolved(parameter).at("name").get<std::string>());
      }
    }
    for (const std::string& segment : route.segments) {
      if (segment.starts_with('{')) served.insert(segment.substr(1, segment.size() - 2));
    }
    EXPECT_EQ(described, served) << route.method << ' ' << route.pattern;
  }
}

TEST_F(OpenApiThreadTest, EveryReferenceLeadsSomewhere) { check_references(document_); }

}  // namespace
}  // namespace elias::server
