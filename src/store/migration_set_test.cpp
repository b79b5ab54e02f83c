#include "store/migration_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::store {
namespace {

using ::testing::HasSubstr;
using Files = std::vector<sql::SqlFile>;

std::string set_error(const Files& files) {
  const auto set = parse_migration_set(files);
  return set ? "" : set.error().message;
}

TEST(MigrationSet, SortsFilesIntoTheirKinds) {
  const auto set = parse_migration_set(Files{{"views/b.sql", "select 1"},
                                             {"migrations/0002_two.sql", "select 2"},
                                             {"functions/x/b.sql", "select 3"},
                                             {"functions/a.sql", "select 4"},
                                             {"roles.sql", "select 5"},
                                             {"schema.golden.sql", "not ' a script"},
                                             {"migrations/0001_one.sql", "select 6"},
                                             {"testing/now.sql", "select 7"},
                                             {"policies/p.sql", "select 8"}});
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->version(), 2);
  EXPECT_EQ(set->migrations[0].name, "0001_one");
  EXPECT_EQ(set->migrations[1].version, 2);
  EXPECT_EQ(set->functions[0].path, "functions/a.sql");
  EXPECT_EQ(set->functions[1].path, "functions/x/b.sql");
  EXPECT_EQ(set->views.size(), 1U);
  EXPECT_EQ(set->testing.size(), 1U);
  EXPECT_EQ(set->policies.size(), 1U);
  EXPECT_EQ(set->roles.size(), 1U);
}

TEST(MigrationSet, RefusesAGap) {
  EXPECT_THAT(set_error({{"migrations/0001_a.sql", ""}, {"migrations/0003_c.sql", ""}}),
              HasSubstr("migration 0002 is missing before 0003_c"));
  EXPECT_THAT(set_error({{"migrations/0002_b.sql", ""}}), HasSubstr("migration 0001 is missing"));
}

TEST(MigrationSet, RefusesANumberTwice) {
  EXPECT_THAT(set_error({{"migrations/0001_a.sql", ""}, {"migrations/0001_b.sql", ""}}),
              HasSubstr("two migrations have the number 0001"));
}

TEST(MigrationSet, RefusesAMisnamedMigration) {
  for (const auto* path : {"migrations/1_a.sql", "migrations/0001.sql", "migrations/0001_.sql",
                           "migrations/first.sql", "migrations/0001_a.txt"}) {
    EXPECT_THAT(set_error({{path, ""}}), HasSubstr("is not named like")) << path;
  }
}

TEST(MigrationSet, NamesTheFileThatIsNoScript) {
  EXPECT_THAT(set_error({{"functions/a.sql", "select 1;\nselect 'x"}}),
              HasSubstr("sql/functions/a.sql:2: a quote does not end"));
}

TEST(MigrationSet, ReadsTheHeadersPromiseToOldWorkers) {
  const auto set = parse_migration_set(
      Files{{"migrations/0001_a.sql", "-- Why.\n-- Lock cost: none. compat: rolling\nselect 1"},
            {"migrations/0002_b.sql", "-- compat: drain (old workers stop)\nselect 1"},
            {"migrations/0003_c.sql", "select 1; -- compat: rolling"}});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->migrations[0].compat, "rolling");
  EXPECT_EQ(set->migrations[1].compat, "drain");
  EXPECT_EQ(set->migrations[2].compat, "");
}

TEST(Sha256, MatchesThePublishedVector) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace millrace::store
