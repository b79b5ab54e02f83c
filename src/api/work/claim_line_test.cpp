#include "api/work/claim_line.h"

#include "base/run.h"
#include "base/spawn.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace millrace::api {
namespace {

using namespace std::chrono_literals;

ClaimedJob job_of(std::uint8_t number) {
  ClaimedJob job;
  job.id = JobId{Uuid{{number}}};
  return job;
}

// Answers one hint per permit, and nothing in between.
class ScriptedWake final : public store::WakeSource {
 public:
  explicit ScriptedWake(Clock& clock) : clock_(clock) {}
  Task<bool> wait(std::chrono::milliseconds timeout) override {
    ++waits;
    if (broken) co_return fail(ErrorKind::unavailable, "no notifications");
    co_await clock_.sleep_for(timeout);
    co_return false;
  }

  int waits = 0;
  bool broken = false;

 private:
  Clock& clock_;
};

class ClaimLines : public testing::Test {
 protected:
  struct Poll {
    int asked = 0;
    int beats = 0;
    bool done = false;
    Result<ClaimLine::Jobs> answer = ClaimLine::Jobs();
  };

  Task<ClaimLine::Jobs> ask(Poll* poll) {
    ++poll->asked;
    ++asked_;
    if (refuse_) co_return fail(ErrorKind::unavailable, "the database is away");
    ClaimLine::Jobs jobs;
    if (!ready_.empty()) {
      jobs.push_back(job_of(ready_.front()));
      ready_.pop_front();
    }
    co_return jobs;
  }
  Task<void> beat(Poll* poll) {
    ++poll->beats;
    if (dead_) co_return fail(ErrorKind::lease_lost, "declared dead");
    co_return ok();
  }
  awaitable<void> run(ClaimLine* line, Poll* poll, std::string group,
                      std::chrono::milliseconds wait) {
    poll->answer = co_await line->claim(
        {.group = std::move(group),
         .until = clock_.now() + wait,
         .cancel = cancel_.token(),
         .beat_every = 10s},
        {.ask = [this, poll] { return ask(poll); }, .beat = [this, poll] { return beat(poll); }});
    poll->done = true;
  }
  Poll& start(const std::string& group = "a", std::chrono::milliseconds wait = 30s,
              ClaimLine* line = nullptr) {
    auto& poll = polls_.emplace_back();
    spawn(io_.get_executor(), run(line == nullptr ? &line_ : line, &poll, group, wait), log_,
          "poll");
    return poll;
  }
  void TearDown() override {
    cancel_.cancel("the test is over");
    settle();
  }
  // Until nothing moves without time going on.
  void settle() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }
  void pass(std::chrono::milliseconds time) {
    clock_.advance(time);
    settle();
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  Logger log_ = Logger::silent();
  CancelSource cancel_;
  ClaimLine line_{nullptr, clock_, log_, 1s};
  std::deque<std::uint8_t> ready_;
  std::deque<Poll> polls_;  // They stay where they are.
  int asked_ = 0;
  bool refuse_ = false;
  bool dead_ = false;
};

TEST_F(ClaimLines, APollThatFindsJobsIsAnsweredAtOnce) {
  ready_ = {1};
  const auto& poll = start();
  settle();
  ASSERT_TRUE(poll.done);
  EXPECT_EQ(poll.answer->size(), 1U);
  EXPECT_EQ(poll.asked, 1);
}

TEST_F(ClaimLines, AnEmptyAnswerComesWhenTheTimeIsOver) {
  const auto& poll = start("a", 5s);
  settle();
  EXPECT_FALSE(poll.done);
  EXPECT_EQ(poll.asked, 2);  // The second time for what came before the notification was asked for.
  pass(5s);
  ASSERT_TRUE(poll.done);
  EXPECT_TRUE(poll.answer->empty());
}

TEST_F(ClaimLines, WithoutWaitingTheAnswerComesAtOnce) {
  const auto& poll = start("a", 0s);
  settle();
  EXPECT_TRUE(poll.done);
}

TEST_F(ClaimLines, AThousandPollsOfOneGroupAskLikeOne) {
  for (int i = 0; i < 1000; ++i) start();
  settle();
  EXPECT_EQ(asked_, 2);
  line_.ring();
  settle();
  EXPECT_EQ(asked_, 4);
  // Three jobs: three asked and got one, one more found that there are none left.
  ready_ = {1, 2, 3};
  line_.ring();
  settle();
  EXPECT_EQ(asked_, 4 + 3 + 2);
  EXPECT_EQ(std::ranges::count_if(polls_, &Poll::done), 3);
}

TEST_F(ClaimLines, GroupsDoNotWaitForEachOther) {
  const auto& first = start("a");
  settle();
  ready_ = {1};
  const auto& second = start("b");
  settle();
  EXPECT_FALSE(first.done);
  EXPECT_TRUE(second.done);
}

TEST_F(ClaimLines, ARoundEndsWithTheGroupsDrySpell) {
  const auto& poll = start();
  settle();
  ready_ = {1};
  settle();
  EXPECT_FALSE(poll.done);
  line_.ring();
  settle();
  EXPECT_TRUE(poll.done);
}

TEST_F(ClaimLines, APollThatIsCancelledEndsEmpty) {
  const auto& poll = start();
  settle();
  cancel_.cancel("the client has gone");
  settle();
  ASSERT_TRUE(poll.done);
  EXPECT_TRUE(poll.answer->empty());
}

TEST_F(ClaimLines, AWaitingWorkerIsKeptAlive) {
  const auto& poll = start("a", 25s);
  settle();
  pass(10s);
  EXPECT_EQ(poll.beats, 1);
  pass(10s);
  EXPECT_EQ(poll.beats, 2);
  EXPECT_FALSE(poll.done);
}

TEST_F(ClaimLines, OneThatWasDeclaredDeadIsTold) {
  const auto& poll = start();
  settle();
  dead_ = true;
  pass(10s);
  ASSERT_TRUE(poll.done);
  EXPECT_EQ(poll.answer.error().kind, ErrorKind::lease_lost);
}

TEST_F(ClaimLines, AnErrorPassesTheTurnOn) {
  refuse_ = true;
  const auto& first = start();
  settle();
  ASSERT_TRUE(first.done);
  EXPECT_FALSE(first.answer.has_value());
  refuse_ = false;
  ready_ = {1};
  const auto& second = start();
  settle();
  EXPECT_TRUE(second.done);
}

TEST_F(ClaimLines, PollingIsTheGuaranteeWhereNotificationsFail) {
  ScriptedWake wake(clock_);
  wake.broken = true;
  ClaimLine line(&wake, clock_, log_, 1s);
  spawn(io_.get_executor(), line.run(), log_, "line");
  settle();
  EXPECT_EQ(wake.waits, 0);  // Nobody has waited yet.
  const auto& poll = start("a", 30s, &line);
  settle();
  EXPECT_EQ(wake.waits, 1);
  EXPECT_FALSE(poll.done);
  ready_ = {1};
  pass(1s);
  EXPECT_TRUE(poll.done);
  line.stop();
  line.stop();
  settle();
}

}  // namespace
}  // namespace millrace::api
