#include "api/operation.h"

#include "api/api_fixture.h"
#include "api/docs_page.h"
#include "api/openapi.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Capability;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Operation some(std::string id = "things.get") {
  auto operation =
      plain_operation(std::move(id), "GET", "/things/{id}", Access::people(Capability::read));
  operation.parameters = {{.in = In::path,
                           .name = "id",
                           .description = "Which <one>.",
                           .schema = R"({"type":"string","format":"uuid"})"}};
  operation.conditional = true;
  return operation;
}

std::string refusal(std::vector<Operation> operations,
                    std::map<std::string, std::string> components = kTestComponents) {
  const auto table = OperationTable::make(std::move(operations), std::move(components));
  return table ? "" : table.error().message;
}

TEST(OperationTable, RefusesEntriesThatSayTooLittle) {
  auto nameless = some();
  nameless.summary.clear();
  EXPECT_THAT(refusal({nameless}), HasSubstr("things.get: needs summary"));
  auto idle = some();
  idle.handler = nullptr;
  EXPECT_THAT(refusal({idle}), HasSubstr("needs a handler"));
  auto undescribed = some();
  undescribed.parameters.clear();
  EXPECT_THAT(refusal({undescribed}), HasSubstr("path parameter id is not described"));
  auto elsewhere = some();
  elsewhere.parameters[0].name = "other";
  EXPECT_THAT(refusal({elsewhere}), HasSubstr("parameter other is not in the path"));
  EXPECT_THAT(refusal({some(), some()}), HasSubstr("is there twice"));
  auto silent = some();
  silent.answers.clear();
  EXPECT_THAT(refusal({silent}), HasSubstr("needs an answer"));
}

TEST(OperationTable, RefusesSchemasThatDoNotCompile) {
  auto unknown = some();
  unknown.answers[0].schema = "Nothing";
  EXPECT_THAT(refusal({unknown}), HasSubstr("there is no schema Nothing"));
  auto bad = some();
  bad.parameters[0].schema = R"({"type":"uuid"})";
  EXPECT_THAT(refusal({bad}), HasSubstr("parameter id"));
  auto components = kTestComponents;
  components["A"] = R"({"$ref":"#/components/schemas/B"})";
  EXPECT_THAT(refusal({some()}, components), HasSubstr("schema A"));
  components["B"] = R"({"type":"string"})";
  EXPECT_EQ(refusal({some()}, components), "");
}

TEST(OperationTable, ComponentsMayReferToEachOtherAndFormatsCount) {
  auto components = kTestComponents;
  components["Id"] = R"({"type":"string","format":"uuid"})";
  components["Pair"] =
      R"({"type":"array","items":{"$ref":"#/components/schemas/Id"},"minItems":2})";
  const auto table = OperationTable::make({some()}, components);
  ASSERT_TRUE(table) << table.error().message;
  const auto pair = table->compile("Pair");
  ASSERT_TRUE(pair) << pair.error().message;
  const auto id = std::string("11111111-1111-4111-8111-111111111111");
  EXPECT_TRUE(pair->validate(json::Value{id, id}).empty());
  EXPECT_EQ(pair->validate(json::Value{id, "no"}).size(), 1U);
  const auto inlined =
      table->compile(R"({"properties":{"p":{"$ref":"#/components/schemas/Pair"}}})");
  ASSERT_TRUE(inlined) << inlined.error().message;
  EXPECT_EQ(inlined->validate(*parse_json(R"({"p":[]})")).size(), 1U);
}

TEST(OpenApi, DescribesEveryOperationAsItIsServed) {
  auto create =
      plain_operation("things.create", "POST", "/things", Access::service(Capability::write));
  create.body = RequestBody{.schema = "Ok"};
  create.idempotency_key = true;
  create.errors = {410};
  auto files = plain_operation("files.get", "GET", "/files/{path...}", Access::open());
  files.parameters = {{.in = In::path, .name = "path", .description = "Where."}};
  files.answers.push_back({.status = 200, .description = "As it is.", .content_type = "text/csv"});
  const auto table = OperationTable::make({some(), create, files}, kTestComponents);
  ASSERT_TRUE(table) << table.error().message;
  const auto document = make_openapi(*table, {.version = "1.2.3"});
  EXPECT_EQ(document.at("openapi"), json::Value("3.1.0"));

  const auto& get = document.at("paths").at("/things/{id}").at("get").as_object();
  EXPECT_EQ(get.at("operationId"), json::Value("things.get"));
  EXPECT_EQ(get.at("x-millrace-roles"),
            (json::Value{"authenticated", "service_role", "reader", "operator", "admin"}));
  EXPECT_EQ(get.at("security").as_array().size(), 2U);
  EXPECT_TRUE(get.at("responses").as_object().contains("304"));
  EXPECT_TRUE(get.at("responses").as_object().contains("404"));

  const auto& post = document.at("paths").at("/things").at("post").as_object();
  const auto& responses = post.at("responses").as_object();
  for (const auto* status :
       {"200", "400", "401", "403", "409", "410", "413", "415", "422", "429"}) {
    EXPECT_TRUE(responses.contains(status)) << status;
  }
  EXPECT_EQ(post.at("requestBody").at("content").at("application/json").at("schema"),
            (json::Value{{"$ref", "#/components/schemas/Ok"}}));

  const auto& open = document.at("paths").at("/files/{path}").at("get").as_object();
  EXPECT_TRUE(open.at("security").as_array().empty());
  EXPECT_FALSE(open.at("responses").as_object().contains("401"));
  // A status may come with bodies of several kinds.
  const auto& kinds = open.at("responses").at("200").at("content").as_object();
  EXPECT_TRUE(kinds.contains("application/json"));
  EXPECT_TRUE(kinds.contains("text/csv"));
}

TEST(DocsPage, IsWholeAndEscapesWhatItShows) {
  const auto table = OperationTable::make({some()}, kTestComponents);
  ASSERT_TRUE(table);
  const auto page = make_docs_page(*table, {.title = "A & B", .version = "1"});
  EXPECT_THAT(page, HasSubstr("A &amp; B"));
  EXPECT_THAT(page, HasSubstr("Which &lt;one&gt;."));
  EXPECT_THAT(page, HasSubstr("/things/{id}"));
  // Nothing is loaded from anywhere, and nothing runs.
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

}  // namespace
}  // namespace millrace::api
