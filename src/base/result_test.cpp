#include "base/result.h"

#include "base/run.h"
#include "base/task.h"

#include <gtest/gtest.h>

#include <memory>

namespace millrace {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorKind::invalid_argument, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  MR_TRY(const auto once, half(number));
  MR_TRY(const auto twice, half(once));
  return twice;
}

Result<void> check_both(int a, int b) {
  MR_TRY_VOID(half(a));
  MR_TRY_VOID(half(b));
  return {};
}

Task<int> quarter_later(int number) {
  MR_CO_TRY(const auto once, half(number));
  MR_CO_TRY_VOID(half(once));
  co_return once / 2;
}

TEST(Result, PassesValuesOnAndErrorsUp) {
  EXPECT_EQ(quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(check_both(2, 4));
  EXPECT_EQ(check_both(2, 5).error().kind, ErrorKind::invalid_argument);
}

TEST(Result, PassesValuesOnAndErrorsUpInCoroutines) {
  EXPECT_EQ(run_blocking(quarter_later(8)), 2);
  EXPECT_EQ(run_blocking(quarter_later(6)).error().message, "odd");
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const auto unwrap = [&]() -> Result<int> {
    MR_TRY(auto pointer, make());
    return *pointer;
  };
  EXPECT_EQ(unwrap(), 5);
}

TEST(Error, DescribesItselfOnOneLine) {
  const Error error{
      .message = "duplicate\nkey", .sqlstate = "23505", .hint = "choose another", .detail = "id 1"};
  EXPECT_EQ(error.describe(), "duplicate key (SQLSTATE 23505); id 1; hint: choose another");
  const auto wrapped = fail_with_context("cannot enqueue", error);
  EXPECT_EQ(wrapped.error().message, "cannot enqueue: duplicate\nkey");
  EXPECT_EQ(wrapped.error().sqlstate, "23505");
}

TEST(ErrorKind, IsSpelledAsInTheCode) {
  EXPECT_EQ(to_string(ErrorKind::lease_lost), "lease_lost");
  EXPECT_EQ(to_string(ErrorKind::in_doubt), "in_doubt");
}

}  // namespace
}  // namespace millrace
