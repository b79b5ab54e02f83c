#include "store/api/joiner.h"

#include "base/run.h"
#include "base/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace millrace::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Numbers = Joiner<int, int>;

constexpr std::chrono::milliseconds kLong = 1h;

CallContext context(std::string actor) { return {.role = "service_role", .actor = actor}; }

class JoinerTest : public testing::Test {
 protected:
  // Answers the double of each number, and refuses 13, when the test lets it.
  Task<Numbers::Answers> twice(CallContext caller, std::vector<int> numbers) {
    calls_.push_back(numbers);
    callers_.push_back(caller.actor);
    (void)co_await landing_.wait();
    if (fails_) co_return fail(ErrorKind::unavailable, "away");
    Numbers::Answers answers;
    for (const int number : numbers) {
      if (number == 13) {
        answers.emplace_back(std::unexpected(Error{.kind = ErrorKind::not_found}));
      } else {
        answers.emplace_back(2 * number);
      }
    }
    co_return answers;
  }
  void ask(TaskGroup& tasks, int number, std::string actor = "a") {
    tasks.add("ask", answer(number, std::move(actor)));
  }
  awaitable<void> answer(int number, std::string actor) {
    const auto told = co_await joiner_.call(context(std::move(actor)), number);
    if (told) {
      answers_.push_back(*told);
    } else {
      errors_.push_back(told.error().kind);
    }
  }
  Numbers::Send sender() {
    return [this](CallContext caller, std::vector<int> numbers) {
      return twice(std::move(caller), std::move(numbers));
    };
  }
  // Lets everybody go as far as they come.
  void step() {
    io_.restart();
    io_.poll();
  }
  std::size_t lines(const Numbers& joiner) {
    step();  // A carrier looks once more whether somebody came.
    return joiner.lines();
  }
  void finish(TaskGroup& tasks) {
    step();
    landing_.set();
    run_blocking(io_, tasks.join());
  }

  boost::asio::io_context io_{1};
  Logger log_ = Logger::silent();
  Event landing_;
  bool fails_ = false;
  std::vector<std::vector<int>> calls_;
  std::vector<std::string> callers_;
  std::vector<int> answers_;
  std::vector<ErrorKind> errors_;
  Numbers joiner_{
      io_.get_executor(),
      log_,
      {.items_max = 4, .worth_another = 4, .patience = kLong, .lost = ErrorKind::in_doubt},
      sender()};
};

TEST_F(JoinerTest, ACallThatIsAloneGoesAtOnce) {
  landing_.set();
  const auto told = run_blocking(io_, joiner_.call(context("a"), 3));
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, 6);
  EXPECT_THAT(calls_, ElementsAre(std::vector{3}));
  EXPECT_EQ(lines(joiner_), 0U);
}

TEST_F(JoinerTest, CallsThatAreReadyTogetherGoTogetherAndEachGetsItsOwnAnswer) {
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 1; i <= 3; ++i) ask(tasks, i);
  finish(tasks);
  EXPECT_THAT(calls_, ElementsAre((std::vector{1, 2, 3})));
  EXPECT_THAT(answers_, UnorderedElementsAre(2, 4, 6));
  EXPECT_EQ(lines(joiner_), 0U);
}

TEST_F(JoinerTest, AFewThatComeMeanwhileWaitUntilTheFirstHasLanded) {
  TaskGroup tasks(io_.get_executor(), log_);
  ask(tasks, 1);
  step();
  ask(tasks, 2);
  step();
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}));
  EXPECT_THAT(answers_, IsEmpty());
  finish(tasks);
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}, std::vector{2}));
  EXPECT_THAT(answers_, UnorderedElementsAre(2, 4));
  EXPECT_EQ(lines(joiner_), 0U);
}

TEST_F(JoinerTest, HalfOfWhatIsWorthACallGoesBesideWhenNobodyElseComes) {
  TaskGroup tasks(io_.get_executor(), log_);
  ask(tasks, 1);
  step();
  for (int i = 2; i <= 4; ++i) ask(tasks, i);
  step();
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}, (std::vector{2, 3, 4})));
  finish(tasks);
  EXPECT_THAT(answers_, UnorderedElementsAre(2, 4, 6, 8));
  EXPECT_EQ(lines(joiner_), 0U);
}

// The database is not kept waiting by those who are served, nor by those at the door.
TEST_F(JoinerTest, ManyLeaveBeforeTheAnswersOfTheLastCallAreRead) {
  TaskGroup tasks(io_.get_executor(), log_);
  ask(tasks, 1);
  step();
  for (int i = 2; i <= 4; ++i) ask(tasks, i);
  landing_.set();  // Takes effect behind them, and before another has boarded them.
  io_.restart();
  while (answers_.empty()) io_.run_one();
  EXPECT_THAT(answers_, ElementsAre(2));
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}, (std::vector{2, 3, 4})));
  finish(tasks);
  EXPECT_EQ(lines(joiner_), 0U);
}

TEST_F(JoinerTest, AFewWaitForThoseAtTheDoor) {
  TaskGroup tasks(io_.get_executor(), log_);
  ask(tasks, 1);
  step();
  ask(tasks, 2);
  step();
  landing_.set();
  ask(tasks, 3);  // Ready to run when the first lands.
  finish(tasks);
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}, (std::vector{2, 3})));
}

TEST_F(JoinerTest, AGroupThatIsFullWaitsForNobody) {
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 1; i <= 10; ++i) ask(tasks, i);
  step();
  EXPECT_THAT(calls_, UnorderedElementsAre((std::vector{1, 2, 3, 4}), (std::vector{5, 6, 7, 8})));
  finish(tasks);
  EXPECT_EQ(calls_.back(), (std::vector{9, 10}));
  EXPECT_EQ(answers_.size(), 10U);
  EXPECT_EQ(lines(joiner_), 0U);
}

TEST_F(JoinerTest, TheMoreCallsAreUnderWayTheLargerIsTheNext) {
  Numbers eager(io_.get_executor(), log_, {.items_max = 100, .worth_another = 4, .patience = kLong},
                sender());
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 1; i <= 12; ++i) {
    tasks.add("ask", [](Numbers& joiner, int number) -> awaitable<void> {
      (void)co_await joiner.call(context("a"), number);
    }(eager, i));
    step();
  }
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}, (std::vector{2, 3}), (std::vector{4, 5, 6, 7})));
  finish(tasks);
  EXPECT_EQ(calls_.back(), (std::vector{8, 9, 10, 11, 12}));
}

TEST_F(JoinerTest, ACallThatHangsHoldsUpNobodyForGood) {
  Numbers hasty(io_.get_executor(), log_, {.items_max = 100, .worth_another = 100, .patience = 1ms},
                sender());
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 1; i <= 3; ++i) {
    tasks.add("ask", [](Numbers& joiner, int number) -> awaitable<void> {
      (void)co_await joiner.call(context("a"), number);
    }(hasty, i));
    if (i == 1) step();
  }
  io_.restart();
  while (calls_.size() < 2) io_.run_one();
  EXPECT_EQ(calls_.back(), (std::vector{2, 3}));
  finish(tasks);
  EXPECT_EQ(lines(hasty), 0U);
}

// I03: rows of one caller never travel with the rights of another.
TEST_F(JoinerTest, CallersNeverShareACall) {
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 1; i <= 3; ++i) ask(tasks, i, "a");
  for (int i = 4; i <= 6; ++i) ask(tasks, i, "b");
  finish(tasks);
  ASSERT_EQ(calls_.size(), 2U);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    for (const int number : calls_[i]) EXPECT_EQ(callers_[i], number <= 3 ? "a" : "b");
  }
  auto tenant = context("a");
  tenant.tenant = TenantId{};
  landing_.reset();
  ask(tasks, 7);
  step();
  ask(tasks, 8);  // Gathers, for nobody but its own.
  tasks.add("tenant", [](Numbers& joiner, CallContext caller) -> awaitable<void> {
    (void)co_await joiner.call(std::move(caller), 10);
  }(joiner_, tenant));
  step();
  EXPECT_EQ(calls_.back(), std::vector{10});
  finish(tasks);
}

TEST_F(JoinerTest, AnErrorOfOneIsItsOwnAndAnErrorOfTheCallIsEverybodys) {
  TaskGroup tasks(io_.get_executor(), log_);
  for (const int number : {1, 2, 3, 13}) ask(tasks, number);
  finish(tasks);
  EXPECT_THAT(answers_, UnorderedElementsAre(2, 4, 6));
  EXPECT_THAT(errors_, ElementsAre(ErrorKind::not_found));
  EXPECT_EQ(calls_.size(), 1U);
  errors_.clear();
  landing_.reset();
  fails_ = true;
  for (const int number : {1, 2, 3, 13}) ask(tasks, number);
  finish(tasks);
  EXPECT_EQ(errors_, std::vector<ErrorKind>(4, ErrorKind::unavailable));
  EXPECT_EQ(lines(joiner_), 0U);
}

TEST_F(JoinerTest, WhoCountsOnACarrierThatWasThrownOutIsTold) {
  auto doomed = std::make_unique<boost::asio::io_context>(1);
  Numbers joiner(doomed->get_executor(), log_,
                 {.items_max = 4, .worth_another = 4, .patience = kLong}, sender());
  TaskGroup tasks(io_.get_executor(), log_);
  const auto ask_it = [&](int number) {
    tasks.add("ask",
              [](Numbers& numbers, int n, std::vector<ErrorKind>& errors) -> awaitable<void> {
                const auto told = co_await numbers.call(context("a"), n);
                if (!told) errors.push_back(told.error().kind);
              }(joiner, number, errors_));
    step();
  };
  ask_it(1);
  doomed->poll();
  EXPECT_THAT(calls_, ElementsAre(std::vector{1}));
  ask_it(2);  // Gathers.
  ask_it(3);
  doomed.reset();
  run_blocking(io_, tasks.join());
  EXPECT_EQ(errors_, std::vector<ErrorKind>(3, ErrorKind::unavailable));
  EXPECT_EQ(lines(joiner), 0U);
}

TEST_F(JoinerTest, WhoCountsOnACarrierThatNeverLeftIsTold) {
  auto doomed = std::make_unique<boost::asio::io_context>(1);
  Numbers joiner(doomed->get_executor(), log_, {.lost = ErrorKind::in_doubt}, sender());
  TaskGroup tasks(io_.get_executor(), log_);
  tasks.add("ask", [](Numbers& numbers, std::vector<ErrorKind>& errors) -> awaitable<void> {
    const auto told = co_await numbers.call(context("a"), 1);
    if (!told) errors.push_back(told.error().kind);
  }(joiner, errors_));
  step();
  doomed.reset();
  run_blocking(io_, tasks.join());
  EXPECT_THAT(errors_, ElementsAre(ErrorKind::in_doubt));
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_EQ(lines(joiner), 0U);
}

TEST_F(JoinerTest, WhatACallThrowsIsThrownAtOneAndTheOthersAreTold) {
  Numbers joiner(io_.get_executor(), log_, {.lost = ErrorKind::in_doubt},
                 [](CallContext, std::vector<int>) -> Task<Numbers::Answers> {
                   throw std::runtime_error("no such column");
                   co_return fail(ErrorKind::internal, "never");
                 });
  int thrown = 0;
  TaskGroup tasks(io_.get_executor(), log_);
  for (int i = 0; i < 3; ++i) {
    tasks.add("ask",
              [](Numbers& numbers, std::vector<ErrorKind>& errors, int& throws) -> awaitable<void> {
                try {
                  const auto told = co_await numbers.call(context("a"), 1);
                  if (!told) errors.push_back(told.error().kind);
                } catch (const std::runtime_error&) {
                  ++throws;
                }
              }(joiner, errors_, thrown));
  }
  run_blocking(io_, tasks.join());
  EXPECT_EQ(thrown, 1);
  EXPECT_EQ(errors_, std::vector<ErrorKind>(2, ErrorKind::in_doubt));
  EXPECT_EQ(lines(joiner), 0U);
}

}  // namespace
}  // namespace millrace::store
