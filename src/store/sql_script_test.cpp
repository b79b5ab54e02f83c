#include "store/sql_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> texts(std::string_view script) {
  std::vector<std::string> result;
  const auto statements = split_statements(script);
  EXPECT_TRUE(statements) << statements.error().message;
  if (!statements) return result;
  for (const auto& statement : *statements) result.push_back(statement.text);
  return result;
}

std::string split_error(std::string_view script) {
  const auto statements = split_statements(script);
  return statements ? "" : statements.error().message;
}

TEST(SplitStatements, EndsAtSemicolonsAndDropsEmptyOnes) {
  EXPECT_THAT(texts("select 1; select 2;;\n ; select 3"),
              ElementsAre("select 1", "select 2", "select 3"));
  EXPECT_THAT(texts(""), IsEmpty());
  EXPECT_THAT(texts("-- nothing\n/* at all */ ;"), IsEmpty());
}

TEST(SplitStatements, DoesNotLookIntoQuotes) {
  EXPECT_THAT(texts("select 'a;b', 'it''s;', \"c;\"\"d\"; select 2"),
              ElementsAre("select 'a;b', 'it''s;', \"c;\"\"d\"", "select 2"));
  EXPECT_THAT(texts(R"(select E'a\';b', e'\\'; select 'c\'; select 3)"),
              ElementsAre(R"(select E'a\';b', e'\\')", R"(select 'c\')", "select 3"));
}

TEST(SplitStatements, DoesNotLookIntoDollarQuotes) {
  EXPECT_THAT(texts("do $$ begin; end $$; do $x$ $$; $y$; $x$; select $1;"),
              ElementsAre("do $$ begin; end $$", "do $x$ $$; $y$; $x$", "select $1"));
  EXPECT_THAT(texts("select a$b$c; select 2"), ElementsAre("select a$b$c", "select 2"));
}

TEST(SplitStatements, DoesNotLookIntoComments) {
  EXPECT_THAT(texts("select 1 -- one; two\n; /* a; /* b; */ c; */ select 2"),
              ElementsAre("select 1", "select 2"));
}

TEST(SplitStatements, KeepsStandardSqlBodiesWhole) {
  const std::string function =
      "create or replace function f(a int) returns int language sql begin atomic "
      "select case when a > 0 then 1 else 2 end; select 3; end";
  EXPECT_THAT(texts(function + "; select 2"), ElementsAre(function, "select 2"));
  EXPECT_THAT(
      texts("create rule r as on insert to t do also (select 1; select 2); select 3"),
      ElementsAre("create rule r as on insert to t do also (select 1; select 2)", "select 3"));
}

TEST(SplitStatements, KnowsTheLineOfEachStatement) {
  const auto statements = split_statements("-- head\n\nselect 1;\nselect\n  '\n';  select 3;\n");
  ASSERT_TRUE(statements);
  ASSERT_EQ(statements->size(), 3U);
  EXPECT_EQ((*statements)[0].line, 3);
  EXPECT_EQ((*statements)[1].line, 4);
  EXPECT_EQ((*statements)[2].line, 6);
}

TEST(SplitStatements, RefusesWhatDoesNotEnd) {
  EXPECT_THAT(split_error("select 1;\nselect 'a"), HasSubstr("2: a quote does not end"));
  EXPECT_THAT(split_error("select \"a"), HasSubstr("does not end"));
  EXPECT_THAT(split_error("do $x$ abc $y$"), HasSubstr("$x$ ... does not end"));
  EXPECT_THAT(split_error("/* /* */"), HasSubstr("a comment does not end"));
}

TEST(SplitStatements, RefusesToLeaveItsTransaction) {
  for (const std::string word :
       {"begin", "COMMIT", "rollback", "savepoint x", "start transaction"}) {
    EXPECT_THAT(split_error("select 1; " + word + ";"), HasSubstr("one transaction")) << word;
  }
  EXPECT_THAT(split_error("\\i other.sql"), HasSubstr("does not belong"));
}

class MissingRoles : public ::testing::Test {
 protected:
  std::string reduce(const std::string& statement) {
    missing_.clear();
    return without_missing_roles(
               statement, [](std::string_view role) { return role == "here" || role == "Here"; },
               missing_)
        .value_or("(nothing)");
  }
  std::vector<std::string> missing_;
};

TEST_F(MissingRoles, LeaveAGrantToTheOthers) {
  EXPECT_EQ(reduce("grant select on table t to gone, here, lost with grant option"),
            "grant select on table t to here with grant option");
  EXPECT_THAT(missing_, ElementsAre("gone", "lost"));
  EXPECT_EQ(reduce("revoke all on function f(a text) from public, gone cascade"),
            "revoke all on function f(a text) from public cascade");
  EXPECT_EQ(reduce("GRANT usage ON SCHEMA s TO \"Here\", \"Gone\""),
            "GRANT usage ON SCHEMA s TO \"Here\"");
}

TEST_F(MissingRoles, LeaveNothingOfAGrantToNobodyElse) {
  EXPECT_EQ(reduce("grant select on t to gone"), "(nothing)");
  EXPECT_EQ(reduce("create policy p on t for select to gone using (true)"), "(nothing)");
}

TEST_F(MissingRoles, LeaveAPolicyToTheOthers) {
  EXPECT_EQ(reduce("create policy p on t for select to gone, here using (a in (select b to c))"),
            "create policy p on t for select to here using (a in (select b to c))");
}

TEST_F(MissingRoles, DoNotMatterElsewhere) {
  for (const std::string statement :
       {"select 'grant x to gone'", "alter table t owner to gone",
        "create policy p on t using (true)", "grant select on t to here, public, current_user",
        "alter table t rename to gone"}) {
    EXPECT_EQ(reduce(statement), statement);
    EXPECT_THAT(missing_, IsEmpty());
  }
}

TEST_F(MissingRoles, LeaveDefaultPrivilegesToTheOthers) {
  EXPECT_EQ(
      reduce("alter default privileges in schema s revoke execute on functions from gone, here"),
      "alter default privileges in schema s revoke execute on functions from here");
}

TEST(CreatedView, IsTheNameAsWritten) {
  EXPECT_EQ(created_view("create or replace view millrace.job_queue with (x) as select 1"),
            "millrace.job_queue");
  EXPECT_EQ(created_view("CREATE VIEW \"a b\".\"c\" AS select 1"), "\"a b\".\"c\"");
  EXPECT_FALSE(created_view("create table t (a int)"));
  EXPECT_FALSE(created_view("create or replace function f() returns int"));
  EXPECT_FALSE(created_view("select 'create view v'"));
}

TEST(QuoteIdentifier, DoublesQuotes) { EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace millrace::store
