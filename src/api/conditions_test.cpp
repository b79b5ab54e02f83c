// Conditions of requests that the pipeline judges before a handler runs: the version that a change
// is about, the key of a repeat, and the memory that bodies take together.
#include "api/api_fixture.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

namespace millrace::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Operation takes_note(std::string method = "POST") {
  auto operation = plain_operation("note", std::move(method), "/notes", Access::open());
  operation.body = RequestBody{
      .schema = R"({"type":"object","properties":{"note":{"type":"string"}}})", .required = false};
  return operation;
}

std::string put(const std::string& headers) {
  return "PUT /notes HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n" + headers + "\r\n";
}

TEST(Conditions, TheVersionOfATagReachesAChangeThatIsGuarded) {
  auto get = plain_operation("get", "GET", "/notes", Access::open());
  get.conditional = true;
  int counted = 0;
  get.handler = [&counted](Call&) -> Task<Reply> {
    co_return Reply::json(json::Object{{"ok", true}, {"counted", ++counted}}).in_version("v7");
  };
  auto set = takes_note("PUT");
  set.guards_change = true;
  std::vector<std::optional<std::vector<std::string>>> seen;
  set.handler = [&seen](Call& call) {
    seen.push_back(call.if_match);
    return says_ok(call);
  };
  ApiFixture api({std::move(get), std::move(set)});
  const auto tag = api.get("/notes").header("etag");
  EXPECT_THAT(tag, StartsWith("\"v7."));
  // What has been counted since is news to a reader, and no reason to refuse a change.
  EXPECT_EQ(api.get("/notes", "If-None-Match: " + tag + "\r\n").status, 200);
  for (const auto& header : {std::string(), "If-Match: " + tag + "\r\n",
                             std::string("If-Match: *\r\n"), "If-Match: W/" + tag + "\r\n"}) {
    EXPECT_EQ(api.ask(put(header)).status, 200) << header;
  }
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_FALSE(seen[0].has_value());
  EXPECT_THAT(seen[1].value(), ElementsAre("v7"));
  EXPECT_THAT(seen[2].value(), ElementsAre("*"));
  EXPECT_THAT(seen[3].value(), IsEmpty()) << "a weak tag names no version";
}

TEST(Conditions, AKeyThatIsNotKeptIsRefused) {  // F02
  auto own = plain_operation("own", "POST", "/own", Access::open());
  own.parameters = {{.in = In::header, .name = "Idempotency-Key", .description = "Read here."}};
  ApiFixture api(
      {takes_note(), std::move(own), plain_operation("get", "GET", "/x", Access::open())});
  const std::string key = "Idempotency-Key: \"k-1\"\r\n";
  const auto refused = api.post("/notes", R"({"note":"a"})", key);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(text_of(object_of(refused), "code"), "idempotency_not_supported");
  EXPECT_EQ(api.post("/notes", R"({"note":"a"})").status, 200);
  EXPECT_EQ(api.post("/own", "", key).status, 200) << "it reads the key itself";
  EXPECT_EQ(api.get("/x", key).status, 200) << "reading may be repeated anyway";
}

TEST(Conditions, BodiesTogetherTakeNoMoreMemoryThanThereIsForThem) {
  ApiFixture api({takes_note()}, {.bodies_max_bytes = 48 * 1024});
  const auto body = [](std::size_t bytes) {
    return R"({"note":")" + std::string(bytes, 'x') + "\"}";
  };
  const auto refused = api.post("/notes", body(100 * 1024));
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(text_of(object_of(refused), "code"), "too_many_bodies");
  EXPECT_EQ(refused.header("retry-after"), "1");
  // Each gives back what it took, the refused one too.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(api.post("/notes", body(40 * 1024)).status, 200);
}

TEST(ByteBudget, GivesNoMoreThanItHasAndTakesItBack) {
  ByteBudget budget(10);
  ByteBudget::Share one;
  EXPECT_TRUE(one.grow(budget, 4));
  EXPECT_TRUE(one.grow(budget, 4));
  {
    ByteBudget::Share two;
    EXPECT_FALSE(two.grow(budget, 3));
    EXPECT_TRUE(two.grow(budget, 2));
    EXPECT_FALSE(one.grow(budget, 1));
  }
  EXPECT_TRUE(one.grow(budget, 2));
}

}  // namespace
}  // namespace millrace::api
