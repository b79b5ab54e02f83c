#include "http/router.h"

#include "http/response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::http {
namespace {

using testing::HasSubstr;

Task<void> nothing(ServerRequest&, ResponseWriter&) { co_return ok(); }

Route route(std::string method, std::string pattern) {
  return {.method = std::move(method), .pattern = std::move(pattern), .handler = nothing};
}

Router make(std::vector<Route> routes) {
  auto router = Router::make(std::move(routes));
  EXPECT_TRUE(router.has_value()) << router.error().message;
  return *std::move(router);
}

// "pattern name=value ...", or "404", "405 Allow", "400 fault".
std::string found(const Router& router, std::string_view method, std::string_view raw) {
  RequestPath path;
  if (const auto fault = path.parse(raw); !fault.empty()) return "400 " + std::string(fault);
  const auto match = router.find(method, path);
  if (!match.fault.empty()) return "400 " + std::string(match.fault);
  if (match.allow.empty()) return "404";
  if (match.route == nullptr) return "405 " + std::string(match.allow);
  std::string text = match.route->pattern;
  for (std::size_t i = 0; i < match.parameter_count; ++i) {
    text +=
        " " + std::string(match.parameters[i].name) + "=" + std::string(match.parameters[i].value);
  }
  return text;
}

class Routing : public testing::Test {
 protected:
  Router router_ = make({
      route("GET", "/"),
      route("GET", "/api/v1/jobs"),
      route("POST", "/api/v1/jobs"),
      route("POST", "/api/v1/jobs/bulk"),
      route("GET", "/api/v1/jobs/{id}"),
      route("DELETE", "/api/v1/jobs/{id}"),
      route("GET", "/api/v1/jobs/{job}/events"),
      route("GET", "/api/v1/{kind}/{id}/events"),
      route("GET", "/storage/{bucket}/{path...}"),
      route("PUT", "/storage/{bucket}/{path...}"),
      route("GET", "/storage/{bucket}/list"),
      route("OPTIONS", "/files"),
      route("POST", "/files"),
  });

  std::string get(std::string_view path) { return found(router_, "GET", path); }
};

TEST_F(Routing, FindsLiteralsAndParameters) {
  EXPECT_EQ(get("/"), "/");
  EXPECT_EQ(get("/api/v1/jobs"), "/api/v1/jobs");
  EXPECT_EQ(get("/api/v1/jobs/17"), "/api/v1/jobs/{id} id=17");
  EXPECT_EQ(get("/api/v1/jobs/17/events"), "/api/v1/jobs/{job}/events job=17");
  EXPECT_EQ(get("/api/v1/queues/q/events"), "/api/v1/{kind}/{id}/events kind=queues id=q");
  EXPECT_EQ(found(router_, "POST", "/api/v1/jobs/bulk"), "/api/v1/jobs/bulk");
}

TEST_F(Routing, ALiteralThatLeadsNowhereGivesWayToAParameter) {
  EXPECT_EQ(get("/api/v1/jobs/bulk/events"), "/api/v1/jobs/{job}/events job=bulk");
  EXPECT_EQ(get("/storage/b/list/x"), "/storage/{bucket}/{path...} bucket=b path=list/x");
  EXPECT_EQ(get("/storage/b/list"), "/storage/{bucket}/list bucket=b");
}

TEST_F(Routing, TheRestKeepsItsSlashes) {
  EXPECT_EQ(get("/storage/b/a/b/c.pdf"), "/storage/{bucket}/{path...} bucket=b path=a/b/c.pdf");
  EXPECT_EQ(get("/storage/b/a//b/"), "/storage/{bucket}/{path...} bucket=b path=a//b/");
  EXPECT_EQ(get("/storage/b/a%20b/%C3%BC"),
            "/storage/{bucket}/{path...} bucket=b path=a b/\xC3\xBC");
  EXPECT_EQ(get("/storage/b/"), "404") << "nothing is no rest";
  EXPECT_EQ(get("/storage/b"), "404");
}

TEST_F(Routing, UnknownPathsAre404) {
  for (const auto* path : {"/api", "/api/v1/jobs/", "/api/v1//jobs", "//api/v1/jobs",
                           "/API/v1/jobs", "/api/v1/jobs/1/2/3", "/api/v1/jobs/17/events/", "/x"}) {
    EXPECT_EQ(get(path), "404") << path;
  }
}

TEST_F(Routing, OtherMethodsAre405AndSayWhich) {
  EXPECT_EQ(found(router_, "PUT", "/api/v1/jobs"), "405 GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(found(router_, "POST", "/api/v1/jobs/17"), "405 GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(get("/api/v1/jobs/bulk"), "405 POST, OPTIONS") << "not the job named bulk";
  EXPECT_EQ(found(router_, "HEAD", "/files"), "405 POST, OPTIONS");
}

TEST_F(Routing, HeadIsServedByGet) {
  EXPECT_EQ(found(router_, "HEAD", "/api/v1/jobs/17"), "/api/v1/jobs/{id} id=17");
  EXPECT_EQ(found(router_, "OPTIONS", "/files"), "/files");
}

TEST_F(Routing, EncodedSlashesStayInsideTheirSegment) {
  EXPECT_EQ(get("/api/v1/jobs/a%2Fb"), "/api/v1/jobs/{id} id=a/b");
  EXPECT_EQ(get("/api%2Fv1/jobs"), "404");
  EXPECT_EQ(get("/api/v1/jobs%2F17"), "404");
  EXPECT_EQ(get("/storage/b/a%2Fb"), "400 the path has an encoded slash");
  EXPECT_EQ(get("/storage/b/a%5Cb"), "400 the path has an encoded slash");
  EXPECT_EQ(get("/storage/a%2Fb/c"), "/storage/{bucket}/{path...} bucket=a/b path=c");
}

TEST_F(Routing, DoubleEncodingIsDecodedOnce) {
  EXPECT_EQ(get("/api/v1/jobs/a%252Fb"), "/api/v1/jobs/{id} id=a%2Fb");
  EXPECT_EQ(get("/api/v1/jobs/%252e%252e"), "/api/v1/jobs/{id} id=%2e%2e");
  EXPECT_EQ(get("/api/v1/%6Aobs"), "/api/v1/jobs") << "an encoded letter is the letter";
}

TEST_F(Routing, DotSegmentsAreRefusedHoweverTheyAreWritten) {
  for (const auto* path : {"/api/../v1", "/..", "/./api", "/api/v1/jobs/..", "/api/%2e%2e/v1",
                           "/api/%2E./v1", "/api/.%2e/v1", "/storage/b/a/../../c", "/%2e"}) {
    EXPECT_THAT(get(path), HasSubstr("400 the path has a . or .. segment")) << path;
  }
  EXPECT_EQ(get("/api/v1/jobs/..."), "/api/v1/jobs/{id} id=...");
}

TEST_F(Routing, BadPathsAreRefused) {
  for (const auto* path :
       {"", "api", "/a%", "/a%2", "/a%zz", "/a%00", "/a%0A", "/a%7F", "/a%FF", "/a\\b", "/a b",
        "/a\"b", "/a<b", "/a{b", "/a|b", "/a^b", "/a`b", "/\xC3\xBC"}) {
    EXPECT_THAT(get(path), HasSubstr("400")) << path;
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "/a";
  EXPECT_THAT(get(deep), HasSubstr("too many segments"));
}

TEST_F(Routing, AllRoutesCanBeListed) {
  EXPECT_EQ(router_.routes().size(), 13U);
  EXPECT_EQ(router_.routes()[4].pattern, "/api/v1/jobs/{id}");
  EXPECT_EQ(router_.allow_all(), "GET, HEAD, POST, PUT, DELETE, OPTIONS");
}

std::string refusal(std::vector<Route> routes) {
  const auto router = Router::make(std::move(routes));
  return router ? "accepted" : router.error().message;
}

TEST(Router, RefusesTablesThatCannotBeMeant) {
  EXPECT_THAT(refusal({route("GET", "/a"), route("GET", "/a")}), HasSubstr("told apart"));
  EXPECT_THAT(refusal({route("GET", "/{a}/x"), route("GET", "/{b}/x")}), HasSubstr("told apart"));
  EXPECT_EQ(refusal({route("GET", "/{a}/x"), route("POST", "/{b}/x")}), "accepted");
  EXPECT_THAT(refusal({route("TRACE", "/a")}), HasSubstr("unknown method"));
  EXPECT_THAT(refusal({route("get", "/a")}), HasSubstr("unknown method"));
  EXPECT_THAT(refusal({{.method = "GET", .pattern = "/a"}}), HasSubstr("no handler"));
  for (const auto* pattern :
       {"a", "/{", "/{}", "/{A}", "/a{b}", "/{a}b", "/a?b", "/a%20b", "/{a...}/b", "/{a}/{a}"}) {
    EXPECT_THAT(refusal({route("GET", pattern)}), HasSubstr("route GET " + std::string(pattern)));
  }
}

TEST(Query, IsDecodedInOrder) {
  const auto query = parse_query("a=1&b=%C3%BC+x&a=2&empty=&bare&&=v&c=a%3Db%26");
  ASSERT_TRUE(query.has_value());
  EXPECT_EQ(*query, (std::vector<QueryParameter>{{"a", "1"},
                                                 {"b", "\xC3\xBC x"},
                                                 {"a", "2"},
                                                 {"empty", ""},
                                                 {"bare", ""},
                                                 {"", "v"},
                                                 {"c", "a=b&"}}));
  EXPECT_TRUE(parse_query("")->empty());
}

TEST(Query, MalformedTextIsRefused) {
  for (const auto* bad : {"a=%", "a=%4", "a=%zz", "%=1", "a=%FF", "a=%00"}) {
    EXPECT_FALSE(parse_query(bad).has_value()) << bad;
  }
  std::string many;
  for (int i = 0; i < 300; ++i) many += "a=1&";
  EXPECT_FALSE(parse_query(many).has_value());
}

}  // namespace
}  // namespace millrace::http
