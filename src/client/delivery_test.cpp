// What becomes of a batch that does not simply succeed: refusals, outages, lost answers.
#include "client/coalescer_world.h"

#include <algorithm>
#include <stdexcept>

namespace millrace::client {
namespace {

using namespace std::chrono_literals;
using MaybeError = std::optional<millrace::Error>;

class DeliveryTest : public CoalescerTest {
 protected:
  // All of these in one batch.
  std::vector<CallAnswer> deliver(const std::vector<JobSpec>& jobs) {
    auto first = occupy(plain(1'000'000, "first"));
    std::vector<std::future<CallAnswer>> futures;
    for (const auto& job : jobs) futures.push_back(submit(job));
    database.release();
    if (!first.get()) throw std::runtime_error("the first call was to succeed");
    std::vector<CallAnswer> answers;
    for (auto& future : futures) answers.push_back(future.get());
    return answers;
  }
  std::vector<JobSpec> plain_jobs(int first, int last) {
    std::vector<JobSpec> jobs;
    for (int n = first; n <= last; ++n) jobs.push_back(plain(n));
    return jobs;
  }
  void refuse_jobs_with(std::string text, std::string sqlstate) {
    database.refuse([text, sqlstate](const SentBatch& batch) -> MaybeError {
      if (!holds(batch, text)) return std::nullopt;
      return refusal(sqlstate, batch.jobs.size() == 1 ? "bad" : "job 1: bad");
    });
  }
  std::vector<std::string> stored_but_first() {
    auto stored = database.stored();
    stored.erase(stored.begin());
    return stored;
  }
};

TEST_F(DeliveryTest, ARefusedJobFailsItsOwnCallOnlyAsIfItWereAlone) {
  start();
  refuse_jobs_with(payload(37), "MR003");
  const auto answers = deliver(plain_jobs(0, 99));
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].has_value(), i != 37) << i;
  EXPECT_EQ(answers[37].error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(answers[37].error().sqlstate, "MR003");
  EXPECT_EQ(answers[37].error().message, "bad");
  auto expected = payloads(0, 99);
  expected.erase(expected.begin() + 37);
  EXPECT_EQ(stored_but_first(), expected);        // In order, too.
  EXPECT_LE(database.sent().size(), 2U + 2 * 7);  // Halves only where it is.
}

TEST_F(DeliveryTest, SeveralRefusedJobsAreEachFound) {
  start();
  refuse_jobs_with("7}", "MR003");  // 7, 17, 27, 37
  const auto answers = deliver(plain_jobs(0, 39));
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].has_value(), i % 10 != 7);
  EXPECT_EQ(stored_but_first().size(), 36U);
}

TEST_F(DeliveryTest, AmongKeyedJobsToo) {
  start();
  refuse_jobs_with("key-3\"", "MR011");
  const auto answers = deliver({keyed(1), keyed(2), keyed(3), keyed(4)});
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].has_value(), i != 2);
  EXPECT_EQ(answers[2].error().sqlstate, "MR011");
}

TEST_F(DeliveryTest, WhatIsWrongWithTheKindIsNotAskedForEveryJob) {
  for (const auto* sqlstate : {"MR002", "MR005", "MR007"}) {
    FakeDatabase& db = database;
    const auto before = db.sent().size();
    start();
    refuse_jobs_with("{\"n\":", sqlstate);
    database.refuse([sqlstate](const SentBatch& batch) -> MaybeError {
      if (batch.kind.job_type == "first") return std::nullopt;
      return refusal(sqlstate, batch.jobs.size() == 1 ? "bad" : "job 1: bad");
    });
    for (const auto& answer : deliver(plain_jobs(0, 511))) {
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().message, "bad");
    }
    EXPECT_EQ(db.sent().size() - before, 1U + 10) << sqlstate;
    coalescer.reset();
  }
}

TEST_F(DeliveryTest, AQueueWithLittleRoomIsFilledInOrder) {
  start();
  std::size_t room = 300;
  database.refuse([&room](const SentBatch& batch) -> MaybeError {
    if (batch.kind.job_type == "first") return std::nullopt;
    if (batch.jobs.size() <= room) {
      room -= batch.jobs.size();
      return std::nullopt;
    }
    auto error = refusal("MR008", "full");
    error.kind = millrace::ErrorKind::throttled;
    return error;
  });
  const auto answers = deliver(plain_jobs(0, 999));
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].has_value(), i < 300) << i;
  EXPECT_EQ(answers[999].error().kind, ErrorKind::throttled);
  EXPECT_EQ(stored_but_first(), payloads(0, 299));
  EXPECT_LT(database.sent().size(), 25U);
}

TEST_F(DeliveryTest, AnOperatorsSwitchIsToldToAllAtOnceAndNotTriedAgain) {
  start();
  database.refuse([](const SentBatch& batch) -> MaybeError {
    if (batch.kind.job_type == "first") return std::nullopt;
    return millrace::Error{.kind = millrace::ErrorKind::unavailable,
                           .message = "enqueue is switched off by an operator",
                           .sqlstate = "MR021"};
  });
  for (const auto& answer : deliver(plain_jobs(0, 99))) {
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(answer.error().sqlstate, "MR021");
  }
  EXPECT_EQ(database.sent().size(), 2U);
}

TEST_F(DeliveryTest, WhatIsTooMuchForTheServerIsHalved) {
  start();
  database.refuse([](const SentBatch& batch) -> MaybeError {
    if (batch.jobs.size() <= 10) return std::nullopt;
    return millrace::Error{.kind = millrace::ErrorKind::unavailable,
                           .message = "canceling statement due to statement timeout",
                           .sqlstate = "57014"};
  });
  for (const auto& answer : deliver(plain_jobs(0, 99))) EXPECT_TRUE(answer);
  EXPECT_EQ(stored_but_first(), payloads(0, 99));
}

TEST_F(DeliveryTest, ACertainFailureIsRepeatedUntilItSucceeds) {
  start();
  int failures = 6;
  database.refuse([&failures](const SentBatch& batch) -> MaybeError {
    if (batch.kind.job_type == "first" || failures-- <= 0) return std::nullopt;
    return away();
  });
  const auto began = database.clock.now();
  for (const auto& answer : deliver(plain_jobs(0, 9))) EXPECT_TRUE(answer);
  EXPECT_EQ(stored_but_first(), payloads(0, 9));
  EXPECT_EQ(database.sent().size(), 8U);
  // At once, then after 50 ms, and twice as long every time.
  EXPECT_EQ(database.clock.now() - began, (50 + 100 + 200 + 400 + 800) * 1ms);
}

TEST_F(DeliveryTest, ACertainFailureThatLastsIsUnavailableAfterTheDocumentedTime) {
  start({.retry_for = 30s});
  database.refuse([](const SentBatch& batch) -> MaybeError {
    if (batch.kind.job_type == "first") return std::nullopt;
    return away();
  });
  const auto began = database.clock.now();
  for (const auto& answer : deliver(plain_jobs(0, 9))) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(answer.error().message, "no connection");
  }
  EXPECT_GE(database.clock.now() - began, 30s);
  EXPECT_LT(database.clock.now() - began, 33s);
  EXPECT_TRUE(stored_but_first().empty());
}

TEST_F(DeliveryTest, CallsThatWaitedThroughAnOutageEndWithIt) {
  start({.queue = {.batch_max = 2}, .retry_for = 30s});
  database.refuse([](const SentBatch& batch) -> MaybeError {
    if (batch.kind.job_type == "first") return std::nullopt;
    return away();
  });
  const auto began = database.clock.now();
  for (const auto& answer : deliver(plain_jobs(0, 99))) {
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
  }
  EXPECT_LT(database.clock.now() - began, 33s);  // Not 30 s for each of the fifty batches.
  database.refuse({});
  EXPECT_TRUE(submit(plain(100)).get());
}

TEST_F(DeliveryTest, ACallThatWaitedLongIsTriedAgainNevertheless) {
  start({.retry_for = 30s});
  auto first = occupy(plain(1));
  auto second = submit(plain(2));
  database.clock.advance(60s);  // A slow server, no outage.
  bool failed = false;
  database.refuse([&failed](const SentBatch& batch) -> MaybeError {
    if (!holds(batch, payload(2)) || std::exchange(failed, true)) return std::nullopt;
    return away();
  });
  database.release();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST_F(DeliveryTest, ALostAnswerIsInDoubtAndNotSentAgain) {
  start();
  database.lose([](const SentBatch& batch) -> MaybeError {
    if (batch.kind.job_type == "first") return std::nullopt;
    return doubt();
  });
  for (const auto& answer : deliver(plain_jobs(0, 9))) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::in_doubt);
    EXPECT_EQ(answer.error().message, "the answer is lost");
  }
  EXPECT_EQ(database.sent().size(), 2U);
  EXPECT_EQ(stored_but_first(), payloads(0, 9));
}

TEST_F(DeliveryTest, AJobThatFindsItselfAgainIsSentAgainAndOthersOfItsBatchAreNot) {
  start();
  bool lost = false;
  database.lose([&lost](const SentBatch& batch) -> MaybeError {
    if (batch.kind.plain || std::exchange(lost, true)) return std::nullopt;
    return doubt();
  });
  auto deduped = plain(2);
  deduped.dedupe_key = "d";
  auto with_id = plain(3);
  with_id.id = random_id();
  auto named = plain(4);
  named.job_name = "nothing makes it repeatable";
  const auto answers = deliver({keyed(1), deduped, named, with_id});
  EXPECT_TRUE(answers[0]);
  ASSERT_TRUE(answers[1]);
  EXPECT_TRUE(answers[1]->created);  // The id is the library's own, so the job is this call's.
  ASSERT_FALSE(answers[2]);
  EXPECT_EQ(answers[2].error().kind, ErrorKind::in_doubt);
  ASSERT_TRUE(answers[3]);
  EXPECT_EQ(answers[3]->job_id, with_id.id);
  EXPECT_EQ(database.sizes(), (std::vector<std::size_t>{1, 4, 3}));
  EXPECT_EQ(stored_but_first().size(), 4U);
}

TEST_F(DeliveryTest, WhatMayHaveBeenDoneIsNeverCalledNotDone) {
  start({.retry_for = 10s});
  database.lose([](const SentBatch& batch) -> MaybeError {
    return batch.kind.plain ? std::nullopt : MaybeError(doubt());
  });
  bool sent = false;
  database.refuse([&sent](const SentBatch& batch) -> MaybeError {
    if (batch.kind.plain || !std::exchange(sent, true)) return std::nullopt;
    return away();
  });
  const auto late = deliver({keyed(1)});
  EXPECT_EQ(late[0].error().kind, ErrorKind::in_doubt);  // The time was up.
  sent = false;
  database.refuse([&sent](const SentBatch& batch) -> MaybeError {
    if (batch.kind.plain || !std::exchange(sent, true)) return std::nullopt;
    return refusal("MR002");
  });
  const auto refused = deliver({keyed(2)});
  EXPECT_EQ(refused[0].error().kind, ErrorKind::in_doubt);  // The type was switched off meanwhile.
  EXPECT_EQ(refused[0].error().sqlstate, "MR002");
}

TEST_F(DeliveryTest, AnAnswerForTheWrongNumberOfJobsIsInDoubt) {
  class Silent final : public EnqueueSink {
   public:
    Answers enqueue_array(const JobKind&, const std::vector<std::string>&) override {
      return Answers{std::in_place};
    }
    Answers enqueue_jobs(const json::Array&) override { return Answers{std::in_place}; }
    void pause(std::chrono::milliseconds) override {}
  };
  std::vector<std::unique_ptr<EnqueueSink>> sinks;
  sinks.push_back(std::make_unique<Silent>());
  coalescer = std::make_unique<Coalescer>(CoalescerOptions{}, database.clock, std::move(sinks));
  coalescer->start();
  EXPECT_EQ(submit(plain(1)).get().error().kind, ErrorKind::in_doubt);
}

TEST_F(DeliveryTest, AnExceptionLeavesItsBatchInDoubtAndNothingElse) {
  start();
  database.refuse([](const SentBatch& batch) -> MaybeError {
    if (holds(batch, payload(5))) throw std::bad_alloc();
    return std::nullopt;
  });
  for (const auto& answer : deliver(plain_jobs(0, 9))) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::in_doubt);
  }
  EXPECT_TRUE(submit(plain(11)).get());
  coalescer->flush();
}

}  // namespace
}  // namespace millrace::client
