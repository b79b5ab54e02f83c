#include "store/api/rest_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::store {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RestSurface surface() {
  return RestSurface::parse(R"({
    "functions": {
      "add": {"set": false, "void": false, "read_only": true, "args": [
        {"name": "a", "type": "integer", "optional": false},
        {"name": "b", "type": "text[]", "optional": true}]},
      "list": {"set": true, "void": false, "read_only": false, "args": []},
      "forget": {"set": false, "void": true, "read_only": false, "args": []}},
    "tables": {
      "shell_files": {"id": "uuid", "status": "text", "created_at": "timestamp with time zone"},
      "export_jobs": {"id": "uuid", "status": "text"}}})")
      .value();
}

std::string sqlstate_of(const Result<std::string>& result) {
  return result ? "" : result.error().sqlstate;
}

// Everything that a client can name is looked up; what is not there has PostgREST's code.
TEST(RestQuery, NamesThatAreNotOfferedAreRefused) {
  const auto known = surface();
  EXPECT_EQ(RestSql::make(known, "job_fact").error().sqlstate, "42P01");
  EXPECT_EQ(RestSql::make(known, "shell_files; drop table x").error().sqlstate, "42P01");
  auto sql = RestSql::make(known, "shell_files").value();
  const std::string evil = R"(id" or true --)";
  EXPECT_EQ(sqlstate_of(sql.columns({evil}, "r")), "42703");
  EXPECT_EQ(sqlstate_of(sql.order({{.column = evil}})), "42703");
  EXPECT_EQ(sqlstate_of(sql.rows(
                {.table = "shell_files", .filters = {{.column = evil, .values = {"x"}}}}, "1")),
            "42703");
  EXPECT_EQ(sqlstate_of(rest_call_sql(known, "pg_sleep", "{}")), "42883");
}

TEST(RestQuery, ValuesAreParametersWhateverTheyHold) {
  const auto known = surface();
  auto sql = RestSql::make(known, "shell_files").value();
  const std::string evil = "'; drop table millrace.job_fact; --";
  const auto text =
      sql.rows({.table = "shell_files",
                .filters = {{.column = "status", .values = {evil}},
                            {.column = "id", .op = RestFilter::Op::in, .values = {"a\"b", "c,d"}},
                            {.column = "status",
                             .op = RestFilter::Op::ilike,
                             .values = {evil},
                             .negated = true}}},
               "r.id")
          .value();
  EXPECT_THAT(text, Not(HasSubstr("drop")));
  EXPECT_THAT(text, HasSubstr(R"((r."status" = $1))"));
  EXPECT_THAT(text, HasSubstr(R"((r."id" = any ($2)))"));
  EXPECT_THAT(text, HasSubstr(R"(not (r."status"::text ilike $3))"));
  const auto params = sql.take_params();
  EXPECT_EQ(params.text(0), evil);
  EXPECT_EQ(params.text(1), R"({"a\"b","c,d"})");
}

TEST(RestQuery, OnlyNullTrueAndFalseCanStandBehindIs) {
  const auto known = surface();
  auto sql = RestSql::make(known, "shell_files").value();
  const auto with = [&](const std::string& value) {
    return sql.rows(
        {.table = "shell_files",
         .filters = {{.column = "status", .op = RestFilter::Op::is, .values = {value}}}},
        "1");
  };
  EXPECT_THAT(with("null").value(), HasSubstr(R"((r."status" is null))"));
  EXPECT_EQ(sqlstate_of(with("null or true")), "22023");
}

// service_role passes by row security: the tenant of the call confines every read all the same.
TEST(RestQuery, EveryReadIsConfinedToTheTenantOfTheCall) {
  const auto known = surface();
  for (const auto* table : {"shell_files", "export_jobs"}) {
    auto sql = RestSql::make(known, table).value();
    EXPECT_THAT(sql.rows({.table = table}, "1").value(), HasSubstr("millrace.tenant_scope()"))
        << table;
  }
}

TEST(RestQuery, TooManyFiltersAreRefused) {
  const auto known = surface();
  auto sql = RestSql::make(known, "shell_files").value();
  RestQuery query{.table = "shell_files"};
  for (int i = 0; i < 101; ++i) query.filters.push_back({.column = "id", .values = {"x"}});
  EXPECT_EQ(sqlstate_of(sql.rows(query, "1")), "54000");
}

// One signature per name: the arguments given must be those it has.
TEST(RestQuery, ArgumentsAreMatchedByName) {
  const auto known = surface();
  EXPECT_EQ(rest_call_sql(known, "add", R"({"a": 1})").value(),
            R"(select pg_catalog.to_json(millrace."add"("a" => a."a"))::text from )"
            R"(pg_catalog.json_to_record($1::json) a("a" integer))");
  EXPECT_THAT(rest_call_sql(known, "add", R"({"b": ["x"], "a": 1})").value(),
              HasSubstr(R"(a("a" integer, "b" text[]))"));
  EXPECT_EQ(sqlstate_of(rest_call_sql(known, "add", "{}")), "42883");
  EXPECT_EQ(sqlstate_of(rest_call_sql(known, "add", R"({"a": 1, "c": 2})")), "42883");
  EXPECT_EQ(sqlstate_of(rest_call_sql(known, "list", R"({"x": 1})")), "42883");
  EXPECT_THAT(rest_call_sql(known, "list", "{}").value(), HasSubstr("json_agg(f)"));
  EXPECT_THAT(rest_call_sql(known, "forget", "{}").value(),
              HasSubstr(R"(millrace."forget"()::text)"));
  EXPECT_FALSE(rest_call_sql(known, "list", "[1]").has_value());
}

}  // namespace
}  // namespace millrace::store
