#include "api/rest/rest_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::api {
namespace {

using store::RestFilter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Op = RestFilter::Op;

RestRequest parsed(std::string_view query) {
  const auto parameters = http::parse_query(query);
  EXPECT_TRUE(parameters) << query;
  auto request = parse_rest_request("shell_files", *parameters);
  EXPECT_TRUE(request) << query << ": " << request.error().message;
  return request ? *std::move(request) : RestRequest();
}

std::string code_of(std::string_view query) {
  const auto parameters = http::parse_query(query);
  if (!parameters) return "query";
  const auto request = parse_rest_request("shell_files", *parameters);
  return request ? "" : request.error().sqlstate;
}

TEST(RestRequest, TheSourcesQueriesAreRead) {  // item 8: eq, lt, gte, order, limit
  const auto status = parsed("select=*&id=eq.7&user_id=eq.8");
  EXPECT_THAT(status.query.columns, IsEmpty());
  ASSERT_EQ(status.query.filters.size(), 2U);
  EXPECT_EQ(status.query.filters[0].column, "id");
  EXPECT_EQ(status.query.filters[0].op, Op::eq);
  EXPECT_THAT(status.query.filters[0].values, ElementsAre("7"));

  const auto expired = parsed("select=id%2Cfile_path&expires_at=lt.2026-01-01T00%3A00%3A00.000Z");
  EXPECT_THAT(expired.query.columns, ElementsAre("id", "file_path"));
  EXPECT_EQ(expired.query.filters[0].op, Op::lt);
  EXPECT_THAT(expired.query.filters[0].values, ElementsAre("2026-01-01T00:00:00.000Z"));

  const auto upsert = parsed("on_conflict=idempotency_key&select=id&columns=%22a%22,%22b%22");
  EXPECT_EQ(upsert.conflict_columns, "idempotency_key");
  EXPECT_THAT(upsert.body_columns, ElementsAre("a", "b"));

  const auto page = parsed("order=created_at.desc.nullslast,id&limit=10&offset=20");
  ASSERT_EQ(page.query.orders.size(), 2U);
  EXPECT_EQ(page.query.orders[0].column, "created_at");
  EXPECT_TRUE(page.query.orders[0].descending);
  EXPECT_EQ(page.query.orders[0].nulls_first, false);
  EXPECT_EQ(page.query.orders[1].column, "id");
  EXPECT_FALSE(page.query.orders[1].descending);
  EXPECT_EQ(page.query.limit, 10);
  EXPECT_EQ(page.query.offset, 20);
}

TEST(RestRequest, EveryOperatorIsReadPlainAndBehindNot) {
  const std::vector<std::pair<std::string, Op>> operators = {
      {"eq", Op::eq},   {"neq", Op::neq}, {"lt", Op::lt},     {"lte", Op::lte},    {"gt", Op::gt},
      {"gte", Op::gte}, {"is", Op::is},   {"like", Op::like}, {"ilike", Op::ilike}};
  for (const auto& [word, op] : operators) {
    const auto plain = parse_rest_filter("a", word + ".x");
    ASSERT_TRUE(plain) << word;
    EXPECT_EQ(plain->op, op) << word;
    EXPECT_FALSE(plain->negated) << word;
    const auto negated = parse_rest_filter("a", "not." + word + ".x.y");
    ASSERT_TRUE(negated) << word;
    EXPECT_TRUE(negated->negated) << word;
    EXPECT_THAT(negated->values, ElementsAre("x.y")) << word;
  }
}

TEST(RestRequest, OnlyAStarOfAPatternBecomesAPercentSign) {
  EXPECT_THAT(parse_rest_filter("a", "like.*.pdf")->values, ElementsAre("%.pdf"));
  EXPECT_THAT(parse_rest_filter("a", "eq.*.pdf")->values, ElementsAre("*.pdf"));
}

TEST(RestRequest, NotNullIsTheOppositeOfNull) {
  const auto filter = parse_rest_filter("a", "is.not_null");
  EXPECT_TRUE(filter->negated);
  EXPECT_THAT(filter->values, ElementsAre("null"));
  EXPECT_FALSE(parse_rest_filter("a", "not.is.not_null")->negated);
}

TEST(RestRequest, ListsHoldCommasInQuotes) {
  EXPECT_THAT(*parse_rest_list("(a,b)"), ElementsAre("a", "b"));
  EXPECT_THAT(*parse_rest_list(R"(("a,b",c,"d\"e\\"))"), ElementsAre("a,b", "c", "d\"e\\"));
  EXPECT_THAT(*parse_rest_list("()"), IsEmpty());
  EXPECT_THAT(*parse_rest_list("(a,)"), ElementsAre("a", ""));
  for (const auto* const bad : {"", "(", ")", "a,b", R"(("a)", R"(("a"b))"}) {
    EXPECT_FALSE(parse_rest_list(bad)) << bad;
  }
}

TEST(RestRequest, AliasesRenameWhatTheDatabaseGave) {
  const auto request = parsed("select=name:file_name,again:file_name,id");
  EXPECT_THAT(request.query.columns, ElementsAre("file_name", "id"));
  EXPECT_TRUE(request.has_aliases());
  EXPECT_EQ(*rename_columns(request, R"([{"file_name":"a.pdf","id":1.50}])"),
            R"([{"name":"a.pdf","again":"a.pdf","id":1.5}])");
  EXPECT_FALSE(parsed("select=id,file_name").has_aliases());
  const auto beside = parsed("select=*,name:file_name");
  EXPECT_THAT(beside.query.columns, IsEmpty());
  EXPECT_EQ(*rename_columns(beside, R"([{"file_name":"a"}])"), R"([{"file_name":"a","name":"a"}])");
}

// Nothing that is not understood is passed over: it would show rows that nobody asked for.
TEST(RestRequest, WhatIsNotOfferedIsRefusedByItsOwnCode) {
  EXPECT_EQ(code_of("or=(a.eq.1,b.eq.2)"), "PGRST100");
  EXPECT_EQ(code_of("not.and=(a.eq.1)"), "PGRST100");
  EXPECT_EQ(code_of("a=fts.words"), "PGRST100");
  EXPECT_EQ(code_of("a=eq(any).{1,2}"), "PGRST100");
  EXPECT_EQ(code_of("select=*,documents(title)"), "PGRST200");
  EXPECT_EQ(code_of("select=count()"), "PGRST123");
  EXPECT_EQ(code_of("select=id::text"), "PGRST100");
  EXPECT_EQ(code_of("select=metadata->>batchId"), "PGRST100");
  EXPECT_EQ(code_of("documents.title=eq.x"), "PGRST108");
  EXPECT_EQ(code_of("limit=-1"), "PGRST103");
}

TEST(RestRequest, HostileQueriesAreErrorsAndNothingElse) {
  const std::string many(2000, ',');
  const std::string deep(10'000, '(');
  const std::vector<std::string> queries = {"a=",
                                            "a=eq",
                                            "a=.x",
                                            "a=not.",
                                            "a=not.not.eq.1",
                                            "=eq.1",
                                            "select=a,,b",
                                            "select=" + many,
                                            "select=" + deep,
                                            "select=%22a",
                                            "select=a)",
                                            "order=",
                                            "order=a.up",
                                            "order=" + many,
                                            "limit=ten",
                                            "limit=1&limit=2",
                                            "limit=99999999999999999999",
                                            "offset=1.5",
                                            "a=eq.%00",
                                            "a%00=eq.1",
                                            "columns=,",
                                            "a=in.x",
                                            "a=in.(" + std::string(5000, ',') + ")",
                                            "select=a,a",
                                            "select=x:a,x:b",
                                            "select=x:*",
                                            std::string(64, 'n') + "=eq.1"};
  for (const auto& query : queries) EXPECT_NE(code_of(query), "") << query.substr(0, 60);
  std::string filters;
  for (int i = 0; i < 101; ++i) filters += (i == 0 ? "" : "&") + std::string("a=eq.1");
  EXPECT_EQ(code_of(filters), "PGRST100");
}

TEST(RestRequest, ErrorsDoNotEchoMoreThanALine) {
  const auto refused = parse_rest_filter("a", std::string(5000, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().message.size(), 200U);
  EXPECT_THAT(refused.error().detail, HasSubstr("gte"));
}

}  // namespace
}  // namespace millrace::api
