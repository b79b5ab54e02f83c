#include "store/sqlstate.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::store {
namespace {

TEST(SqlState, EveryCodeIsListedOnceInOrder) {
  std::set<std::string_view> names;
  int number = 0;
  for (const auto& entry : sqlstates()) {
    EXPECT_EQ(static_cast<int>(entry.state), number);
    ++number;
    const auto digits = std::to_string(number);
    EXPECT_EQ(entry.code, "MR" + std::string(3 - digits.size(), '0') + digits);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(find_sqlstate(entry.code), entry.state);
    EXPECT_NE(kind_of(entry.state), ErrorKind::internal) << entry.name;
  }
  EXPECT_EQ(find_sqlstate("MR999"), std::nullopt);
  EXPECT_EQ(find_sqlstate("23505"), std::nullopt);
}

TEST(SqlState, TranslatesOurCodesAndLeavesOthersAlone) {
  const auto lost =
      translate(Error{.kind = ErrorKind::internal, .message = "x", .sqlstate = "MR001"});
  EXPECT_EQ(lost.kind, ErrorKind::lease_lost);
  EXPECT_EQ(lost.message, "x");
  EXPECT_EQ(translate(Error{.message = "x", .sqlstate = "MR008"}).kind, ErrorKind::throttled);
  EXPECT_EQ(translate(Error{.message = "x", .sqlstate = "MR023"}).kind, ErrorKind::lease_lost);
  const auto other =
      translate(Error{.kind = ErrorKind::unavailable, .message = "x", .sqlstate = "40001"});
  EXPECT_EQ(other.kind, ErrorKind::unavailable);
}

TEST(SqlState, TranslatesTheErrorOfAResult) {
  const auto result =
      translate(Result<int>(std::unexpected(Error{.message = "x", .sqlstate = "MR007"})));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::not_found);
  EXPECT_EQ(translate(Result<int>(3)).value(), 3);
}

}  // namespace
}  // namespace millrace::store
