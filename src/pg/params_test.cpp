#include "pg/params.h"

#include <gtest/gtest.h>

#include <cmath>

namespace millrace::pg {
namespace {

TEST(Params, WritesValuesAsPostgresReadsThem) {
  const auto p =
      params("text", 42, true, 0.1, std::nan(""), -std::numeric_limits<double>::infinity(), Uuid{},
             std::chrono::seconds(2), JobId{}, std::optional<int>(3), std::optional<int>());
  ASSERT_EQ(p.size(), 11U);
  const char* expected[] = {"text",
                            "42",
                            "t",
                            "0.1",
                            "NaN",
                            "-Infinity",
                            "00000000-0000-0000-0000-000000000000",
                            "2000000 microseconds",
                            "00000000-0000-0000-0000-000000000000",
                            "3"};
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(p.text(i), expected[i]);
  EXPECT_TRUE(p.is_null(10));
  EXPECT_EQ(p.pointers()[10], nullptr);
  EXPECT_STREQ(p.pointers()[0], "text");
}

TEST(Params, QuotesArrayElements) {
  Params p;
  p.add_array(std::vector<std::string>{"a,b", "\"\\", "", "NULL"});
  p.add_array({});
  p.add_nullable_array(std::vector<std::optional<std::string>>{"x", std::nullopt});
  p.add_int_array(std::vector<std::int64_t>{1, -2});
  p.add_id_array(std::span<const JobId>(std::vector<JobId>{JobId{}}));
  EXPECT_EQ(p.text(0), R"({"a,b","\"\\","","NULL"})");
  EXPECT_EQ(p.text(1), "{}");
  EXPECT_EQ(p.text(2), R"({"x",NULL})");
  EXPECT_EQ(p.text(3), "{1,-2}");
  EXPECT_EQ(p.text(4), "{00000000-0000-0000-0000-000000000000}");
}

TEST(Params, RemembersTheFirstValueThatCannotBeSent) {
  using std::string_literals::operator""s;
  Params p;
  p.add("fine");
  EXPECT_FALSE(p.problem());
  p.add("a\0b"s).add_array(std::vector{"c\0"s});
  ASSERT_TRUE(p.problem());
  EXPECT_TRUE(p.problem()->message.contains("$2"));
}

}  // namespace
}  // namespace millrace::pg
