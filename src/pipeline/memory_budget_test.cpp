// Shares of memory: in order, never more than there is, and nobody waits for one that has gone.
#include "pipeline/memory_budget.h"

#include "base/log.h"
#include "base/spawn.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace millrace::pipeline {
namespace {

class Budget : public testing::Test {
 protected:
  // One that has asked.
  struct Asked {
    CancelSource cancel;
    std::optional<Result<MemoryBudget::Share>> answer;

    bool has_share() const { return answer && answer->has_value(); }
  };

  std::unique_ptr<Asked> ask(std::uint64_t bytes) {
    auto asked = std::make_unique<Asked>();
    spawn(io_.get_executor(), take(*asked, bytes), log_, "take");
    run();
    return asked;
  }
  awaitable<void> take(Asked& asked, std::uint64_t bytes) {
    asked.answer.emplace(co_await budget_.take(bytes, asked.cancel.token()));
  }
  void run() {
    io_.restart();
    io_.poll();
  }

  Logger log_ = Logger::silent();
  boost::asio::io_context io_;
  MemoryBudget budget_{100};
};

TEST_F(Budget, SharesAreThereAtOnceWhileThereIsRoom) {
  const auto first = ask(60);
  const auto second = ask(40);
  EXPECT_TRUE(first->has_share());
  EXPECT_TRUE(second->has_share());
  EXPECT_EQ(budget_.state().taken_bytes, 100U);
  EXPECT_EQ((*first->answer)->bytes(), 60U);
}

TEST_F(Budget, WhoeverFindsNoRoomWaitsForIt) {
  auto first = ask(60);
  const auto second = ask(50);
  EXPECT_FALSE(second->answer);
  EXPECT_EQ(budget_.state().waiting, 1U);
  first.reset();
  run();
  EXPECT_TRUE(second->has_share());
  EXPECT_EQ(budget_.state().taken_bytes, 50U);
}

TEST_F(Budget, ASmallOneDoesNotPassALargeOneThatWaits) {
  auto first = ask(60);
  auto large = ask(90);
  const auto small = ask(10);
  EXPECT_FALSE(small->answer);
  first.reset();
  run();
  EXPECT_TRUE(large->has_share());
  EXPECT_TRUE(small->has_share());
}

TEST_F(Budget, OneThatIsLargerThanAllOfItRunsAlone) {
  auto first = ask(1);
  auto huge = ask(1'000'000);
  EXPECT_FALSE(huge->answer);
  first.reset();
  run();
  ASSERT_TRUE(huge->has_share());
  const auto next = ask(1);
  EXPECT_FALSE(next->answer);
  huge.reset();
  run();
  EXPECT_TRUE(next->has_share());
}

TEST_F(Budget, WhoeverGivesUpIsNoLongerInTheWay) {
  auto first = ask(60);
  auto large = ask(90);
  const auto small = ask(10);
  large->cancel.cancel("no longer wanted");
  run();
  ASSERT_TRUE(large->answer);
  ASSERT_FALSE(large->answer->has_value());
  EXPECT_EQ(large->answer->error().kind, ErrorKind::cancelled);
  EXPECT_TRUE(small->has_share());
  EXPECT_EQ(budget_.state().waiting, 0U);
}

// Granted and cancelled in the same moment: whichever it hears, nothing is lost.
TEST_F(Budget, AShareThatComesWithTheCancelIsNotLost) {
  auto first = ask(100);
  auto second = ask(100);
  first.reset();
  second->cancel.cancel("no longer wanted");
  run();
  ASSERT_TRUE(second->answer);
  second.reset();
  EXPECT_EQ(budget_.state().taken_bytes, 0U);
  EXPECT_TRUE(ask(100)->has_share());
}

TEST_F(Budget, ASharePassesFromHandToHandAndIsGivenBackOnce) {
  auto asked = ask(70);
  {
    auto share = *std::move(*asked->answer);
    asked.reset();
    MemoryBudget::Share other;
    other = std::move(share);
    EXPECT_EQ(share.bytes(), 0U);
    EXPECT_EQ(other.bytes(), 70U);
    EXPECT_EQ(budget_.state().taken_bytes, 70U);
  }
  EXPECT_EQ(budget_.state().taken_bytes, 0U);
}

TEST_F(Budget, OneThatIsBrokenOffLeavesItsPlace) {
  auto first = ask(60);
  auto second = std::make_unique<Asked>();
  {
    boost::asio::io_context other;
    spawn(other.get_executor(), take(*second, 50), log_, "take");
    other.poll();
    EXPECT_EQ(budget_.state().waiting, 1U);
  }
  EXPECT_EQ(budget_.state().waiting, 0U);
}

}  // namespace
}  // namespace millrace::pipeline
