#include "app/demo/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JobId job(int number) {
  JobId id;
  id.value.bytes[15] = static_cast<std::uint8_t>(number);
  return id;
}

AccountInput good() {
  AccountInput input;
  input.enqueued = {{"a", 3}};
  input.states = {{job(1), "a", "completed"}, {job(2), "a", "failed"}, {job(3), "a", "cancelled"}};
  input.ledger = {{"a", job(1).to_string(), "done", ""}, {"a", job(2).to_string(), "retry", ""}};
  input.counters = {.enqueued = 3, .completed = 1, .failed = 1, .cancelled = 1};
  return input;
}

TEST(AccountTest, BalancesToTheJob) {
  const auto account = balance(good());
  EXPECT_THAT(account.problems, IsEmpty());
  EXPECT_EQ(account.total.enqueued, 3);
  EXPECT_EQ(account.rows.front().ledger_done, 1);
}

TEST(AccountTest, SeesALostJob) {
  auto input = good();
  input.states.pop_back();
  input.counters.cancelled = 0;
  input.counters.enqueued = 3;
  EXPECT_THAT(balance(input).problems,
              ::testing::Contains(HasSubstr("3 enqueued, but 1 completed + 1 failed")));
}

TEST(AccountTest, SeesAnEffectThatHappenedTwice) {
  auto input = good();
  input.ledger.push_back({"a", job(1).to_string(), "done", ""});
  EXPECT_THAT(balance(input).problems, ElementsAre(HasSubstr("was done 2 times")));
}

TEST(AccountTest, SeesAnEffectOfAJobThatFailed) {
  auto input = good();
  input.ledger.push_back({"a", job(2).to_string(), "done", ""});
  EXPECT_THAT(balance(input).problems,
              ElementsAre(HasSubstr("done by the ledger but failed in the engine")));
}

TEST(AccountTest, SeesACompletionThatNeverHappened) {
  auto input = good();
  input.ledger.clear();
  EXPECT_THAT(balance(input).problems, ElementsAre(HasSubstr("not in the ledger")));
  input.no_ledger = {"a"};
  EXPECT_THAT(balance(input).problems, IsEmpty());
}

TEST(AccountTest, SeesCountersThatDisagree) {
  auto input = good();
  input.counters.completed = 2;
  EXPECT_THAT(balance(input).problems, ElementsAre(HasSubstr("counters say 3 = 2 + 1 + 1")));
}

}  // namespace
}  // namespace millrace::app
