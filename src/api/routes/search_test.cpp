#include "api/routes/search.h"

#include "api/api_fixture.h"
#include "api/schemas.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const identity::UserId kUser{*Uuid::parse("22222222-2222-4222-8222-222222222222")};
constexpr const char* kDocument = "0190a000-0000-7000-8000-000000000001";

// Remembers what it was asked.
class MemorySearch final : public store::SearchStore {
 public:
  Task<std::string> search_chunks(store::CallContext caller,
                                  store::SearchQuestion question) override {
    last_caller = std::move(caller);
    last = std::move(question);
    ++asked;
    co_return "[]";
  }
  store::CallContext last_caller;
  store::SearchQuestion last;
  int asked = 0;
};

class MemoryEmbedder final : public QueryEmbedder {
 public:
  Task<store::SearchVector> embed_query(store::CallContext caller, std::string query) override {
    last_caller = std::move(caller);
    last = std::move(query);
    ++asked;
    if (missing) co_return fail(*missing);
    co_return store::SearchVector{.values = {0.5F, -1.0F}, .model = "m", .version = "1"};
  }
  std::string last;
  store::CallContext last_caller;
  int asked = 0;
  std::optional<Error> missing;
};

class SearchRoutes : public ::testing::Test {
 protected:
  std::string user() { return ApiFixture::bearer(api.token(Role::authenticated, kTenant, kUser)); }

  MemorySearch search;
  MemoryEmbedder embedder;
  MetricRegistry registry;
  SearchMetrics metrics{registry};
  SystemClock clock;
  ApiFixture api{search_operations(
                     {.search = search, .embedder = embedder, .metrics = metrics, .clock = clock}),
                 {},
                 component_schemas()};
};

TEST_F(SearchRoutes, AskAsTheCallerWithTheVectorOfTheQuestion) {
  const auto reply = api.get("/api/v1/search?query=home%20office", user());
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr(R"("mode":"hybrid")"));
  EXPECT_THAT(reply.body, HasSubstr(R"("model":{"name":"m","version":"1"})"));
  EXPECT_THAT(reply.body, HasSubstr(R"("passages":[])"));
  EXPECT_EQ(embedder.last, "home office");
  EXPECT_EQ(embedder.last_caller.tenant, kTenant);  // Who pays for it.
  EXPECT_EQ(search.last.query, "home office");
  EXPECT_EQ(search.last.limit, 10);
  EXPECT_EQ(search.last.vector->values, (std::vector<float>{0.5F, -1.0F}));
  EXPECT_EQ(search.last_caller.role, "authenticated");
  EXPECT_EQ(search.last_caller.tenant, kTenant);
}

TEST_F(SearchRoutes, TakeEverythingFromABodyToo) {
  const auto reply = api.post(
      "/api/v1/search",
      fmt::format(
          R"({{"query":"q","limit":100,"mode":"vector","explain":true,"documents":["{}"]}})",
          kDocument),
      user());
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(search.last.limit, 100);
  EXPECT_EQ(search.last.mode, "vector");
  EXPECT_TRUE(search.last.explain);
  ASSERT_TRUE(search.last.documents);
  EXPECT_THAT(*search.last.documents, testing::ElementsAre(*Uuid::parse(kDocument)));
}

// Whoever asks in what a filter has left asks in nothing when it has left nothing.
TEST_F(SearchRoutes, NoDocumentsAreOtherThanAllOfThem) {
  const auto of_body = [&](std::string_view more) {
    const auto reply =
        api.post("/api/v1/search", fmt::format(R"({{"query":"q"{}}})", more), user());
    EXPECT_EQ(reply.status, 200) << reply.body;
    return search.last.documents;
  };
  EXPECT_FALSE(of_body(""));
  EXPECT_TRUE(of_body(R"(,"documents":[])").value().empty());
  EXPECT_EQ(api.get("/api/v1/search?query=q", user()).status, 200);
  EXPECT_FALSE(search.last.documents);
  EXPECT_EQ(api.get("/api/v1/search?query=q&documents=", user()).status, 200);
  EXPECT_TRUE(search.last.documents.value().empty());
}

TEST_F(SearchRoutes, TextAsksNoModel) {
  EXPECT_EQ(api.get("/api/v1/search?query=q&mode=text", user()).status, 200);
  EXPECT_EQ(embedder.asked, 0);
  EXPECT_FALSE(search.last.vector.has_value());
  EXPECT_EQ(search.last.mode, "text");
}

TEST_F(SearchRoutes, WithoutAModelWordsAreSearchedAndTheAnswerSaysWhy) {
  embedder.missing = Error{.kind = ErrorKind::not_found, .message = "install the package"};
  const auto reply = api.get("/api/v1/search?query=q", user());
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr(R"("mode":"text")"));
  EXPECT_THAT(reply.body, HasSubstr("install the package"));
  EXPECT_THAT(reply.body, HasSubstr(R"("model":null)"));
  EXPECT_EQ(search.last.mode, "text");
  EXPECT_THAT(registry.render(), HasSubstr("millrace_searches_without_vector_total 1"));
  const auto refused = api.get("/api/v1/search?query=q&mode=vector", user());
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("install the package"));
  EXPECT_EQ(search.asked, 1);
}

TEST_F(SearchRoutes, RefuseWhatCannotBeAskedByItsName) {
  const auto post = [&](std::string_view body) { return api.post("/api/v1/search", body, user()); };
  for (const auto* body :
       {R"({"query":""})", R"({"query":" \n\t"})", R"({})", R"({"query":"a\u0000b"})",
        R"({"query":"a","limit":0})", R"({"query":"a","limit":101})",
        R"({"query":"a","mode":"best"})", R"({"query":"a","documents":["x"]})",
        R"({"query":"a","colour":"red"})", R"({"query":7})"}) {
    const auto reply = post(body);
    EXPECT_THAT(reply.status, testing::AnyOf(400, 422)) << body << reply.body;
  }
  const auto large = post(fmt::format(R"({{"query":"{}"}})", std::string(8193, 'a')));
  EXPECT_THAT(large.status, testing::AnyOf(400, 422));
  // 8192 letters that are more bytes than that.
  std::string wide;
  for (int i = 0; i < 5000; ++i) wide += "ü";
  const auto bytes = post(fmt::format(R"({{"query":"{}"}})", wide));
  EXPECT_EQ(bytes.status, 400);
  EXPECT_THAT(bytes.body, HasSubstr("query has 10000 bytes; at most 8192"));
  EXPECT_EQ(search.asked, 0);
  EXPECT_EQ(embedder.asked, 0);
}

TEST_F(SearchRoutes, NeedAToken) {
  EXPECT_EQ(api.get("/api/v1/search?query=q").status, 401);
  EXPECT_EQ(search.asked, 0);
}

TEST_F(SearchRoutes, CountByWhatWasDone) {
  api.get("/api/v1/search?query=secret-word", user());
  api.get("/api/v1/search?query=secret-word&mode=text", user());
  const auto text = registry.render();
  EXPECT_THAT(text, HasSubstr(R"(millrace_searches_total{mode="hybrid"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(millrace_searches_total{mode="text"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(millrace_search_duration_seconds_count{part="rank"} 2)"));
  EXPECT_THAT(text, Not(HasSubstr("secret-word")));
}

TEST(ArrayText, IsWhatPostgresReads) {
  EXPECT_EQ(store::array_text({}), "{}");
  EXPECT_EQ(store::array_text({0.5F, -1.0F, 1e-7F}), "{0.5,-1,1e-07}");
}

}  // namespace
}  // namespace millrace::api
