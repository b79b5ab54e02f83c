// Documents for exports and the templates they are shown with, as clients keep and read them.
#include "export_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::IsSupersetOf;

class ApiExportDocuments : public ExportFixture {
 protected:
  static std::string body_of(const std::string& title, const std::string& name,
                             const std::string& slug = "minimal") {
    return fmt::format(
        R"({{"title":"{}","templateSlug":"{}","data":{{"profile":{{"name":"{}"}}}}}})", title, slug,
        name);
  }
  Answered put(const std::string& id, const std::string& body,
               std::vector<http::Header> headers = {}) {
    return world().ask({.method = "PUT",
                        .path = path(id),
                        .token = token_,
                        .body = body,
                        .headers = std::move(headers)});
  }
  Answered remove(const std::string& id, std::vector<http::Header> headers = {}) {
    return world().ask(
        {.method = "DELETE", .path = path(id), .token = token_, .headers = std::move(headers)});
  }
  Answered read(const std::string& id) { return world().get(path(id), token_); }
  static std::string path(const std::string& id) { return "/api/v1/export/documents/" + id; }
};

TEST_F(ApiExportDocuments, ADocumentIsKeptInVersions) {  // F06
  const auto made = post("/api/v1/export/documents", body_of("CV", "Ada"));
  ASSERT_EQ(made.status, 201) << made.body;
  const auto first = made.json().at("data").as_object();
  const std::string id(first.at("id").as_string());
  EXPECT_EQ(made.header("location"), path(id));
  EXPECT_EQ(first.at("version"), json::Value(1));
  EXPECT_EQ(first.at("userId"), json::Value(user_.to_string()));

  const auto same = put(id, body_of("CV", "Ada"));
  EXPECT_EQ(same.json().at("data").at("version"), json::Value(1)) << "nothing has changed";
  const auto second = put(id, body_of("CV", "Ada Lovelace"));
  EXPECT_EQ(second.status, 200) << second.body;
  EXPECT_EQ(second.json().at("data").at("version"), json::Value(2));
  EXPECT_NE(second.json().at("data").at("contentSha256"), first.at("contentSha256"));
  EXPECT_EQ(read(id).json().at("data").at("data").at("profile").at("name"),
            json::Value("Ada Lovelace"));
  EXPECT_EQ(put(world().new_user().to_string(), body_of("CV", "Ada")).status, 404);
}

// The version that an order names can be read as long as the order is there (F06).
TEST_F(ApiExportDocuments, AnOrderKeepsTheVersionThatItNames) {
  const auto id = document();
  const auto job = start(id);
  ASSERT_EQ(put(id, body_of("CV", "Grace")).status, 200);
  const auto old = world().get(path(id) + "?version=1", token_);
  ASSERT_EQ(old.status, 200) << old.body;
  EXPECT_EQ(old.json().at("data").at("data").at("profile").at("name"), json::Value("Ada"));
  // X-21: what has changed since is another wish.
  EXPECT_NE(start(id), job);
}

TEST_F(ApiExportDocuments, OfTwoWhoHaveReadTheSameOneWrites) {  // If-Match, MR040
  const auto id = document();
  const auto tag = read(id).header("etag");
  EXPECT_EQ(put(id, body_of("CV", "First"), {{"If-Match", tag}}).status, 200);
  const auto late = put(id, body_of("CV", "Second"), {{"If-Match", tag}});
  EXPECT_EQ(late.status, 412) << late.body;
  EXPECT_EQ(late.json().at("code"), json::Value("precondition_failed"));
  EXPECT_EQ(remove(id, {{"If-Match", tag}}).status, 412);
  const auto now = read(id);
  EXPECT_EQ(now.json().at("data").at("data").at("profile").at("name"), json::Value("First"));
  const auto known = world().ask(
      {.path = path(id), .token = token_, .headers = {{"If-None-Match", now.header("etag")}}});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(put(id, body_of("CV", "Third"), {{"If-Match", "*"}}).status, 200);
  EXPECT_EQ(put(world().new_user().to_string(), body_of("CV", "x"), {{"If-Match", "*"}}).status,
            412);
  EXPECT_EQ(remove(id, {{"If-Match", read(id).header("etag")}}).status, 200);
  EXPECT_EQ(read(id).status, 404);
}

TEST_F(ApiExportDocuments, ARepeatedRequestMakesOneDocument) {  // F02
  const std::vector<http::Header> key{{"Idempotency-Key", "\"cv-1\""}};
  const auto body = body_of("CV", "Ada");
  const auto first = world().post("/api/v1/export/documents", token_, body, key);
  const auto again = world().post("/api/v1/export/documents", token_, body, key);
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(again.header("location"), first.header("location"));
  EXPECT_EQ(again.json(), first.json());
  // What was refused is not kept: the key is free for the request that is right.
  const std::vector<http::Header> other{{"Idempotency-Key", "\"cv-2\""}};
  EXPECT_EQ(
      world().post("/api/v1/export/documents", token_, R"({"title":"CV","data":{}})", other).status,
      400);
  EXPECT_EQ(world().post("/api/v1/export/documents", token_, body, other).status, 201);
}

TEST_F(ApiExportDocuments, DataThatTheTemplateDoesNotTakeIsRefusedByPlaceAndRule) {  // H-23
  const auto refused = post("/api/v1/export/documents",
                            R"({"title":"CV","data":{"profile":{"name":7},"skills":"many"}})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json().at("message"), json::Value("Invalid request"));
  std::set<std::string> places;
  for (const auto& detail : refused.json().at("details").as_array()) {
    places.insert(std::string(detail.at("pointer").as_string()) + " " +
                  std::string(detail.at("rule").as_string()));
  }
  EXPECT_THAT(places, IsSupersetOf({"#/data/profile/name type", "#/data/skills type"}))
      << refused.body;
  const auto missing = post("/api/v1/export/documents", R"({"title":"CV","data":{}})");
  EXPECT_EQ(missing.json().at("details").at(0).at("rule"), json::Value("required"));
  const auto unknown = post("/api/v1/export/documents", body_of("CV", "Ada", "brochure"));
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(unknown.json().at("details").at(0).at("pointer"), json::Value("#/templateSlug"));
  EXPECT_THAT(unknown.body, HasSubstr("invoice, letter, minimal, modern, report"));
  const auto id = document();
  EXPECT_EQ(put(id, R"({"title":"CV","templateSlug":"invoice","data":{}})").status, 400);
  EXPECT_EQ(read(id).json().at("data").at("version"), json::Value(1)) << "nothing was written";
}

// An order may name another template than the document's, where its data fits.
TEST_F(ApiExportDocuments, AnOrderWithATemplateThatDoesNotFitIsRefused) {  // X-01, X-02
  const auto id = document();
  const auto bad = post("/api/v1/export/pdf",
                        fmt::format(R"({{"documentId":"{}","templateSlug":"invoice"}})", id));
  EXPECT_EQ(bad.status, 400) << bad.body;
  EXPECT_EQ(bad.json().at("details").at(0).at("pointer"), json::Value("#/documentId"));
  const auto batch =
      post("/api/v1/export/batch",
           fmt::format(R"({{"documentIds":["{}","{}"],"templateSlug":"letter"}})", id, document()));
  EXPECT_EQ(batch.status, 400);
  EXPECT_THAT(batch.body, HasSubstr("#/documentIds/1"));
  const auto none = post("/api/v1/export/pdf",
                         fmt::format(R"({{"documentId":"{}","templateSlug":"brochure"}})", id));
  EXPECT_EQ(none.json().at("details").at(0).at("pointer"), json::Value("#/templateSlug"));
  EXPECT_EQ(post("/api/v1/export/pdf",
                 fmt::format(R"({{"documentId":"{}","templateSlug":"modern"}})", id))
                .status,
            202);
}

TEST_F(ApiExportDocuments, AnOrderOfADocumentThatIsNotTheUsersIsRefused) {  // H-01, I05
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  const auto id = document();
  const auto body = fmt::format(R"({{"documentId":"{}"}})", id);
  const auto refused = world().post("/api/v1/export/pdf", stranger, body);
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.json().at("message"), json::Value("Document not found"));
  EXPECT_EQ(world().get(path(id), stranger).status, 404);
  EXPECT_EQ(
      world()
          .ask({.method = "PUT", .path = path(id), .token = stranger, .body = body_of("a", "b")})
          .status,
      404);
  EXPECT_EQ(world().ask({.method = "DELETE", .path = path(id), .token = stranger}).status, 404);
  EXPECT_EQ(read(id).status, 200);
}

TEST_F(ApiExportDocuments, DocumentsAreListedByPagesWithoutTheirData) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(document(fmt::format("CV {}", i)));
  std::vector<std::string> seen;
  std::string cursor;
  for (int page = 0; page < 3; ++page) {
    const auto got = world().get(
        "/api/v1/export/documents?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor), token_);
    ASSERT_EQ(got.status, 200) << got.body;
    const auto data = got.json().at("data").as_object();
    for (const auto& item : data.at("items").as_array()) {
      seen.emplace_back(item.at("id").as_string());
      EXPECT_FALSE(item.as_object().contains("data"));
    }
    EXPECT_EQ(data.at("next_cursor").is_null(), page == 2);
    if (page < 2) cursor = data.at("next_cursor").as_string();
  }
  std::ranges::sort(ids, std::greater{});  // Those of one millisecond have no order but this.
  EXPECT_EQ(seen, ids);
  const auto stranger = world().jwt(Role::authenticated, tenant_, world().new_user());
  EXPECT_TRUE(world()
                  .get("/api/v1/export/documents", stranger)
                  .json()
                  .at("data")
                  .at("items")
                  .as_array()
                  .empty());
}

TEST_F(ApiExportDocuments, ADeletedDocumentTakesItsUnfinishedExportsWithIt) {
  const auto id = document();
  const auto job = start(id);
  const auto gone = remove(id);
  EXPECT_EQ(gone.body, R"({"data":{"message":"Document deleted"}})");
  EXPECT_EQ(status(job).at("status"), json::Value("cancelled"));
  EXPECT_EQ(remove(id).status, 404);
  EXPECT_EQ(post("/api/v1/export/pdf", fmt::format(R"({{"documentId":"{}"}})", id)).status, 404);
}

TEST_F(ApiExportDocuments, EveryTemplateTellsItsSchemaAndASampleThatCanBeKept) {
  const auto list = world().get("/api/v1/export/templates", token_);
  ASSERT_EQ(list.status, 200) << list.body;
  std::set<std::string> slugs;
  for (const auto& item : list.json().at("data").at("items").as_array()) {
    const std::string slug(item.at("slug").as_string());
    slugs.insert(slug);
    EXPECT_EQ(item.at("hash").as_string().size(), 64U);
    EXPECT_TRUE(item.at("schema").as_object().contains("properties"));
    const auto kept = post(
        "/api/v1/export/documents",
        to_json(json::Object{
            {"title", item.at("title")}, {"templateSlug", slug}, {"data", item.at("sample")}}));
    EXPECT_EQ(kept.status, 201) << slug << " " << kept.body;
    const auto one = world().get("/api/v1/export/templates/" + slug, token_);
    EXPECT_EQ(one.json().at("data"), item);
  }
  EXPECT_THAT(slugs, IsSupersetOf({"minimal", "modern", "letter", "invoice", "report"}));
  const auto none = world().get("/api/v1/export/templates/brochure", token_);
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(none.json().at("message"), json::Value("Template not found"));
}

// L-18, X-01: 100 operations a day; the answer says when there will be more.
TEST_F(ApiExportDocuments, TheOrdersOfADayAreCounted) {
  must(
      sql_.query("update millrace.system_configuration set config_value = '2' where config_key = "
                 "'export.operations_per_day'"));
  start(document());
  start(document());
  const auto over = post("/api/v1/export/pdf", fmt::format(R"({{"documentId":"{}"}})", document()));
  must(
      sql_.query("update millrace.system_configuration set config_value = '100' where config_key "
                 "= 'export.operations_per_day'"));
  EXPECT_EQ(over.status, 429) << over.body;
  EXPECT_EQ(over.json().at("code"), json::Value("operations_exhausted"));
  const auto seconds = std::stoi(over.header("retry-after"));
  EXPECT_GE(seconds, 1);
  EXPECT_LE(seconds, 24 * 60 * 60);
}

}  // namespace
}  // namespace millrace::test
