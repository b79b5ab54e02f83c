// What /api/v1/search promises: by URL and by body the same, every field with its rule, nothing of
// others, and words where there is no model. Ranking has tests of its own
// (tests/sql/search_pg_test, tests/search), questions that cost money too
// (tests/integration/ingest_questions_pg_test).
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

using identity::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ApiSearch : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // Where no model lies.
    world_ = std::make_unique<ApiWorld>(
        ApiWorld::Options{.env = {{"MILLRACE_EMBEDDINGS_MODELS_DIR", "/nonexistent"}}});
  }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

  ApiSearch()
      : tenant_(world().new_tenant()),
        user_(world().new_user()),
        token_(world().jwt(Role::authenticated, tenant_, user_)) {}

  // A published chunk as a document of its own; its id.
  std::string put(const std::string& name, const std::string& text, identity::UserId owner) {
    auto sql = world().sql();
    // Without the file and the generation that it would come from.
    must(sql.query("set session_replication_role = replica"));
    const auto id = world().new_user().to_string();
    must(sql.query(
        "insert into millrace.shell_files (id, tenant_id, owner_id, patient_id, file_name, "
        "size_bytes, content_type, sha256, storage_path, created_at, updated_at) values "
        "($1::uuid, $2::uuid, $3::uuid, $3::uuid, $4, 1, 'text/plain', sha256('x'), 'x', "
        "millrace.now(), millrace.now())",
        pg::params(id, tenant_.to_string(), owner.to_string(), name)));
    must(sql.query(
        "insert into millrace.document_chunks (document_id, chunk_id, generation_id, content_id, "
        "tenant_id, owner_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, "
        "heading_path, start_byte, end_byte, meta, embed_sha256, config, words, created_at) values "
        "($1::uuid, gen_random_uuid(), $1::uuid, gen_random_uuid(), $2::uuid, $3::uuid, 0, 'm', "
        "'1', '', $4::text, array['Mills', 'Wheels'], 100, 100 + octet_length($4::text), '{}', "
        "'\\x00', "
        "'english', millrace.chunk_words('english'::regconfig, array['Mills', 'Wheels'], "
        "$4::text), millrace.now())",
        pg::params(id, tenant_.to_string(), owner.to_string(), text)));
    return id;
  }
  std::string put(const std::string& name, const std::string& text) {
    return put(name, text, user_);
  }

  Answered get(const std::string& query, const std::string& token) {
    return world().get("/api/v1/search?" + query, token);
  }
  Answered get(const std::string& query) { return get(query, token_); }
  Answered post(const std::string& body) { return world().post("/api/v1/search", token_, body); }

  static std::vector<std::string> names(const Answered& answered) {
    EXPECT_EQ(answered.status, 200) << answered.body;
    std::vector<std::string> out;
    const auto body = answered.json();
    for (const auto& hit : body.at("passages").as_array()) {
      out.emplace_back(hit.at("document_name").as_string());
    }
    return out;
  }
  static std::string text(const Answered& answered, std::string_view name) {
    const auto body = answered.json();
    const auto* value = body.as_object().if_contains(name);
    if (value == nullptr) return "(none)";
    return value->is_string() ? std::string(value->as_string()) : to_json(*value);
  }
  // "limit maximum": the field and its rule, of each that was broken.
  static std::vector<std::string> broken(const Answered& answered) {
    EXPECT_EQ(answered.status, 400) << answered.body;
    EXPECT_EQ(answered.header("content-type"), "application/problem+json") << answered.body;
    EXPECT_THAT(text(answered, "code"), testing::AnyOf("invalid_parameter", "invalid_body"));
    EXPECT_EQ(text(answered, "title"), "Bad Request");
    EXPECT_EQ(text(answered, "status"), "400");
    EXPECT_NE(text(answered, "cid"), "(none)");
    std::vector<std::string> out;
    const auto body = answered.json();
    const auto* errors = body.as_object().if_contains("errors");
    if (errors == nullptr) return out;
    for (const auto& error : errors->as_array()) {
      const auto& object = error.as_object();
      const auto* place = object.if_contains("parameter");
      if (place == nullptr) place = object.if_contains("pointer");
      EXPECT_FALSE(object.at("detail").as_string().empty()) << answered.body;
      out.push_back(fmt::format("{} {}", std::string_view(place->as_string()),
                                std::string_view(object.at("rule").as_string())));
    }
    return out;
  }

  TenantId tenant_;
  identity::UserId user_;
  std::string token_;

 private:
  inline static std::unique_ptr<ApiWorld> world_;
};

TEST_F(ApiSearch, APassageSaysWhereItStands) {
  const auto id = put("mill.md", "The wheel of the mill has twelve paddles.");
  const auto answer = get("query=paddles&mode=text&explain=true");
  ASSERT_THAT(names(answer), ElementsAre("mill.md"));
  EXPECT_EQ(text(answer, "mode"), "text");
  EXPECT_EQ(text(answer, "notice"), "null");
  EXPECT_EQ(text(answer, "model"), "null");
  const auto body = answer.json();
  const auto& hit = body.at("passages").at(0);
  EXPECT_EQ(hit.at("rank"), 1);
  EXPECT_EQ(hit.at("document_id").as_string(), id);
  EXPECT_EQ(hit.at("text").as_string(), "The wheel of the mill has twelve paddles.");
  EXPECT_EQ(to_json(hit.at("heading_path")), R"(["Mills","Wheels"])");
  EXPECT_EQ(hit.at("start_byte"), 100);
  // The word itself, in bytes of the parsed text.
  EXPECT_EQ(to_json(hit.at("passage").at("highlights")), "[[133,140]]");
  EXPECT_TRUE(hit.at("explain").at("cosine").is_null());
  EXPECT_FALSE(
      get("query=paddles&mode=text").json().at("passages").at(0).as_object().contains("explain"));
}

TEST_F(ApiSearch, UrlAndBodyAskTheSame) {
  const auto first = put("a.md", "Water enters the race at the gate.");
  const auto second = put("b.md", "The gate is opened in the morning. The race is long.");
  const auto by_url = get(fmt::format(
      "query=gate%20race&mode=text&limit=1&explain=true&documents={},{}", first, second));
  const auto by_body = post(fmt::format(
      R"({{"query":"gate race","mode":"text","limit":1,"explain":true,"documents":["{}","{}"]}})",
      first, second));
  EXPECT_EQ(names(by_url).size(), 1U);
  EXPECT_EQ(by_url.body, by_body.body);
  // One document, and one that nobody has.
  EXPECT_THAT(names(get("query=gate&mode=text&documents=" + second)), ElementsAre("b.md"));
  EXPECT_THAT(names(post(fmt::format(R"({{"query":"gate","mode":"text","documents":["{}"]}})",
                                     world().new_user()))),
              IsEmpty());
  EXPECT_EQ(names(post(R"({"query":"gate","mode":"text"})")).size(), 2U);
  EXPECT_THAT(names(post(R"({"query":"gate","mode":"text","documents":[]})")), IsEmpty());
  EXPECT_THAT(names(get("query=gate&mode=text&documents=")), IsEmpty());
  EXPECT_THAT(names(get("query=nobodysaysthis&mode=text")), IsEmpty());
}

TEST_F(ApiSearch, EachParameterOfTheUrlHasItsRule) {
  EXPECT_THAT(broken(get("mode=text")), ElementsAre("query required"));
  EXPECT_THAT(broken(get("query=&mode=text")), ElementsAre("query minLength"));
  EXPECT_THAT(broken(get("query=a%00b")), ElementsAre("query encoding"));
  // A URL has no room for the longest question; a body has.
  EXPECT_EQ(get("query=" + std::string(8'193, 'a')).status, 414);
  EXPECT_THAT(broken(get("query=a&query=b")), ElementsAre("query once"));
  EXPECT_THAT(broken(get("query=a&limit=0")), ElementsAre("limit minimum"));
  EXPECT_THAT(broken(get("query=a&limit=101")), ElementsAre("limit maximum"));
  EXPECT_THAT(broken(get("query=a&limit=ten")), ElementsAre("limit type"));
  EXPECT_THAT(broken(get("query=a&mode=best")), ElementsAre("mode enum"));
  EXPECT_THAT(broken(get("query=a&explain=maybe")), ElementsAre("explain type"));
  EXPECT_THAT(broken(get("query=a&documents=x")), ElementsAre("documents format"));
  // All of them at once.
  EXPECT_THAT(broken(get("query=&limit=0&mode=best")),
              testing::UnorderedElementsAre("query minLength", "limit minimum", "mode enum"));
}

TEST_F(ApiSearch, EachMemberOfTheBodyHasItsRule) {
  EXPECT_THAT(broken(post("{}")), ElementsAre("# required"));
  EXPECT_THAT(broken(post(R"({"query":""})")), ElementsAre("#/query minLength"));
  EXPECT_THAT(broken(post(R"({"query":7})")), ElementsAre("#/query type"));
  EXPECT_THAT(broken(post(fmt::format(R"({{"query":"{}"}})", std::string(8'193, 'a')))),
              ElementsAre("#/query maxLength"));
  EXPECT_THAT(broken(post(R"({"query":"a","limit":0})")), ElementsAre("#/limit minimum"));
  EXPECT_THAT(broken(post(R"({"query":"a","limit":101})")), ElementsAre("#/limit maximum"));
  EXPECT_THAT(broken(post(R"({"query":"a","limit":1.5})")), ElementsAre("#/limit type"));
  EXPECT_THAT(broken(post(R"({"query":"a","mode":"best"})")), ElementsAre("#/mode enum"));
  EXPECT_THAT(broken(post(R"({"query":"a","explain":"yes"})")), ElementsAre("#/explain type"));
  EXPECT_THAT(broken(post(R"({"query":"a","documents":["x"]})")),
              ElementsAre(HasSubstr("#/documents/0 ")));
  EXPECT_THAT(broken(post(R"({"query":"a","documents":"x"})")), ElementsAre("#/documents type"));
  EXPECT_THAT(broken(post(R"({"query":"a","colour":"red"})")),
              ElementsAre(HasSubstr("additionalProperties")));
  std::string many;
  for (int i = 0; i < 1'001; ++i) {
    many += fmt::format(R"({}"{}")", i == 0 ? "" : ",", world().new_user());
  }
  EXPECT_THAT(broken(post(fmt::format(R"({{"query":"a","documents":[{}]}})", many))),
              ElementsAre("#/documents maxItems"));
}

// What a schema cannot say.
TEST_F(ApiSearch, AQuestionOfNothingAndOneOfTooManyBytesAreRefusedByName) {
  const auto refused = [&](const Answered& answered, std::string_view detail) {
    EXPECT_EQ(answered.status, 400) << answered.body;
    EXPECT_EQ(answered.header("content-type"), "application/problem+json");
    EXPECT_THAT(text(answered, "detail"), HasSubstr(std::string(detail)));
  };
  refused(get("query=%20%09"), "query must not be empty");
  refused(post(R"({"query":" \n\t"})"), "query must not be empty");
  std::string wide;
  for (int i = 0; i < 5'000; ++i) wide += "ü";
  refused(post(fmt::format(R"({{"query":"{}"}})", wide)),
          "query has 10000 bytes; at most 8192 are searched for");
  // At the bound it is asked.
  EXPECT_EQ(post(fmt::format(R"({{"query":"{}","mode":"text"}})", std::string(8'192, 'a'))).status,
            200);
  EXPECT_EQ(names(get("query=a&mode=text&limit=100")).size(), 0U);
  EXPECT_EQ(world().post("/api/v1/search", token_, "{").status, 400);
  EXPECT_EQ(world()
                .ask({.method = "POST",
                      .path = "/api/v1/search",
                      .token = token_,
                      .body = "query=a",
                      .content_type = "application/x-www-form-urlencoded"})
                .status,
            415);
  EXPECT_EQ(world().ask({.method = "DELETE", .path = "/api/v1/search", .token = token_}).status,
            405);
}

TEST_F(ApiSearch, WithoutAModelWordsAreSearchedAndTheAnswerSaysWhy) {
  put("a.md", "The miller closes the gate at night.");
  for (const auto& answer : {get("query=miller"), post(R"({"query":"miller","mode":"hybrid"})")}) {
    EXPECT_THAT(names(answer), ElementsAre("a.md"));
    EXPECT_EQ(text(answer, "mode"), "text");
    EXPECT_THAT(text(answer, "notice"), HasSubstr("searched by words alone"));
    EXPECT_EQ(text(answer, "model"), "null");
  }
  const auto refused = get("query=miller&mode=vector");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_EQ(refused.header("content-type"), "application/problem+json");
  EXPECT_EQ(text(refused, "code"), "conflict");
  EXPECT_THAT(text(refused, "detail"), HasSubstr("mode text works"));
  EXPECT_EQ(post(R"({"query":"miller","mode":"vector"})").status, 409);
  // Nothing was asked of a model, so nothing needs one.
  EXPECT_EQ(text(get("query=miller&mode=text"), "notice"), "null");
}

TEST_F(ApiSearch, StrangersFindNothing) {
  const auto mine = put("mine.md", "The secret of the mill is granite.");
  put("theirs.md", "The other secret is granite too.", world().new_user());
  EXPECT_THAT(names(get("query=granite&mode=text")), ElementsAre("mine.md"));
  // Another user of the tenant, and a user with the same id in another tenant.
  const auto neighbour = world().jwt(Role::authenticated, tenant_, world().new_user());
  const auto elsewhere = world().jwt(Role::authenticated, world().new_tenant(), user_);
  for (const auto& token : {neighbour, elsewhere}) {
    EXPECT_THAT(names(get("query=granite&mode=text", token)), IsEmpty());
    // Not even by its name: it is as if it were not there.
    EXPECT_THAT(names(get("query=granite&mode=text&documents=" + mine, token)), IsEmpty());
  }
  // Services find what is their tenant's, and nothing of others.
  EXPECT_EQ(names(get("query=granite&mode=text", world().jwt(Role::service_role, tenant_))).size(),
            2U);
  EXPECT_EQ(names(get("query=granite&mode=text", world().key(Role::reader, tenant_))).size(), 2U);
  EXPECT_THAT(
      names(get("query=granite&mode=text", world().jwt(Role::service_role, world().new_tenant()))),
      IsEmpty());
  const auto nobody = get("query=granite", "");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.header("content-type"), "application/problem+json");
  EXPECT_FALSE(nobody.header("www-authenticate").empty());
  EXPECT_EQ(world().post("/api/v1/search", "", R"({"query":"granite"})").status, 401);
}

// H-12 and the rules of logs: a question may hold what nobody else is to read.
TEST_F(ApiSearch, AQuestionIsInNoAnswerButItsOwnAndInNoLog) {
  const auto refused = get("query=xyzzyplugh&limit=0");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, testing::Not(HasSubstr("xyzzyplugh")));
  EXPECT_EQ(get("query=xyzzyplugh&mode=text").status, 200);
  EXPECT_EQ(post(R"({"query":"xyzzyplugh"})").status, 200);
  EXPECT_THAT(world().program().err(), testing::Not(HasSubstr("xyzzyplugh")));
  EXPECT_THAT(world().get("/metrics").body, testing::Not(HasSubstr("xyzzyplugh")));
}

}  // namespace
}  // namespace millrace::test
