#include "server/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api_error.h"

namespace elias::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

TEST(TargetTest, IsSplitBeforeItIsDecoded) {
  const Target target = Target::parse("/v1/models/a%2Fb%20c+d/index?q=a%26b+c&limit=3&x");
  EXPECT_THAT(target.segments, ElementsAre("v1", "models", "a/b c+d", "index"));
  EXPECT_THAT(target.query, ElementsAre(Pair("q", "a&b c"), Pair("limit", "3"), Pair("x", "")));
  EXPECT_THAT(Target::parse("/").segments, ElementsAre(""));
  EXPECT_THAT(Target::parse("/a/").segments, ElementsAre("a", ""));
  EXPECT_THAT(Target::parse("/a?n=b=c").query, ElementsAre(Pair("n", "b=c")));
}

TEST(TargetTest, WhatIsNotWellFormedIsRefused) {
  EXPECT_THAT([] { Target::parse("*"); }, ThrowsMessage<ApiError>(HasSubstr("begin with a slash")));
  for (const char* wrong : {"/%", "/%2", "/%2g", "/a?b=%"}) {
    EXPECT_THAT([&] { Target::parse(wrong); }, ThrowsMessage<ApiError>(HasSubstr("hexadecimal")));
  }
  EXPECT_THAT([] { Target::parse("/%ff"); }, ThrowsMessage<ApiError>(HasSubstr("not UTF-8")));
  EXPECT_THAT([] { Target::parse("/?a=1&a=2"); }, ThrowsMessage<ApiError>(HasSubstr("twice")));
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    router_.add("GET", "/a", {}, [](Call&) {});
    router_.add("POST", "/a", {}, [](Call&) {});
    router_.add("GET", "/a/{x}/b/{y}", {}, [](Call&) {});
  }
  int status_of(const char* method, const char* path) const {
    try {
      router_.find(method, Target::parse(path));
      return 200;
    } catch (const ApiError& error) {
      return error.status();
    }
  }
  Router router_;
};

TEST_F(RouterTest, FindsRoutesByMethodAndPath) {
  EXPECT_EQ(status_of("GET", "/a"), 200);
  EXPECT_EQ(status_of("HEAD", "/a"), 200);
  EXPECT_EQ(status_of("POST", "/a"), 200);
  EXPECT_EQ(status_of("DELETE", "/a"), 405);
  EXPECT_EQ(status_of("POST", "/a/1/b/2"), 405);
  EXPECT_EQ(status_of("GET", "/a/"), 404);
  EXPECT_EQ(status_of("GET", "/a/1/b/"), 404);
  EXPECT_EQ(status_of("GET", "//a"), 404);
  EXPECT_EQ(router_.methods_of(Target::parse("/a")), "GET, HEAD, POST");
}

TEST_F(RouterTest, HandsOverWhatStandsInThePath) {
  const Target target = Target::parse("/a/1%2F2/b/%C3%A4");
  EXPECT_THAT(parameters_of(router_.find("GET", target), target), ElementsAre("1/2", "ä"));
}

}  // namespace
}  // namespace elias::server
