// How calls become batches: order, kinds, bounds, room, flush and end.
#include "client/coalescer_world.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace millrace::client {
namespace {

using namespace std::chrono_literals;
using WhenFull = CallQueue::WhenFull;

bool is_ready(const std::future<CallAnswer>& future) {
  return future.wait_for(0s) == std::future_status::ready;
}

TEST_F(CoalescerTest, SendsAFirstCallAtOnceAndAlone) {
  start();
  const auto answer = submit(plain(1)).get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->created);
  EXPECT_EQ(answer->job_id, "00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(database.sizes(), (std::vector<std::size_t>{1}));
}

TEST_F(CoalescerTest, CallsThatArriveMeanwhileShareTheNextTransaction) {
  start();
  auto first = occupy(plain(1));
  auto others = submit_plain(2, 11);
  database.release();
  EXPECT_TRUE(first.get());
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(others[i].get()->job_id, fmt::format("00000000-0000-0000-0000-{:012x}", i + 2));
  }
  EXPECT_EQ(database.sizes(), (std::vector<std::size_t>{1, 10}));
  EXPECT_EQ(database.stored(), payloads(1, 11));
}

TEST_F(CoalescerTest, ATransactionHasAtMostBatchMaxJobs) {
  start({.queue = {.batch_max = 4}});
  auto first = occupy(plain(1));
  (void)submit_plain(2, 11);
  database.release();
  coalescer->flush();
  EXPECT_TRUE(first.get());
  EXPECT_EQ(database.sizes(), (std::vector<std::size_t>{1, 4, 4, 2}));
  EXPECT_EQ(database.stored(), payloads(1, 11));
}

TEST_F(CoalescerTest, ATransactionIsBoundedInBytesAndALargeJobTravelsAlone) {
  start({.queue = {.batch_bytes_max = 20}});
  auto first = occupy(plain(1));
  auto large = plain(2);
  large.payload = R"({"text":"longer than the bound of a batch"})";
  const std::string large_payload = large.payload;
  (void)submit(std::move(large));
  (void)submit_plain(3, 6);  // Seven bytes each.
  database.release();
  coalescer->flush();
  EXPECT_TRUE(first.get());
  EXPECT_EQ(database.sizes(), (std::vector<std::size_t>{1, 1, 2, 2}));
  EXPECT_EQ(database.stored()[1], large_payload);
}

TEST_F(CoalescerTest, KindsTravelApart) {
  start();
  auto first = occupy(plain(0));
  auto other_queue = plain(1);
  other_queue.queue = "q";
  auto other_priority = plain(2);
  other_priority.priority = 7;
  std::vector<JobSpec> jobs{plain(3), plain(4, "u"), other_queue,   other_priority,
                            keyed(5), plain(6),      plain(7, "u"), keyed(8)};
  std::vector<std::future<CallAnswer>> futures;
  for (auto& job : jobs) futures.push_back(submit(std::move(job)));
  database.release();
  coalescer->flush();
  EXPECT_TRUE(first.get());

  const auto sent = database.sent();
  ASSERT_EQ(sent.size(), 6U);  // The lines that were free, as they came; the busy one at last.
  EXPECT_EQ(sent[1].kind, (JobKind{.plain = true, .job_type = "u"}));
  EXPECT_EQ(sent[1].jobs, (std::vector{payload(4), payload(7)}));
  EXPECT_EQ(sent[2].kind, (JobKind{.plain = true, .job_type = "t", .queue = "q"}));
  EXPECT_EQ(sent[3].kind, (JobKind{.plain = true, .job_type = "t", .priority = 7}));
  EXPECT_EQ(sent[4].kind, JobKind{});
  EXPECT_EQ(sent[4].jobs.size(), 2U);
  EXPECT_EQ(sent[5].jobs, (std::vector{payload(3), payload(6)}));
}

TEST_F(CoalescerTest, WhateverIsNotQuitePlainGoesAsJson) {
  using Set = std::function<void(JobSpec&)>;
  const std::vector<Set> fields{[](JobSpec& job) { job.job_name = "x"; },
                                [](JobSpec& job) { job.delay = 1s; },
                                [](JobSpec& job) { job.dedupe_key = "x"; },
                                [](JobSpec& job) { job.serial_key = "x"; },
                                [](JobSpec& job) { job.concurrency_key = "x"; },
                                [](JobSpec& job) { job.idempotency_key = "x"; },
                                [](JobSpec& job) { job.id = random_id(); },
                                [](JobSpec& job) { job.correlation_id = "x"; },
                                [](JobSpec& job) { job.batch_id = random_id(); },
                                [](JobSpec& job) { job.after_jobs = {random_id()}; },
                                [](JobSpec& job) { job.max_attempts = 1; },
                                [](JobSpec& job) { job.run_timeout = 1s; },
                                [](JobSpec& job) { job.job_type = "no \xff utf-8"; },
                                [](JobSpec& job) { job.queue = std::string("nul\0", 4); }};
  for (const auto& set : fields) {
    auto job = plain(1);
    set(job);
    const auto call = make_call(job, database.clock, random);
    ASSERT_TRUE(call);
    EXPECT_FALSE(call->key.kind.plain);
    EXPECT_GE(call->call.spec.size(), 2U);
  }
}

TEST_F(CoalescerTest, APayloadThatIsNoJsonIsRefusedBeforeItIsAccepted) {
  const auto call = make_call({.job_type = "t", .payload = "{"}, database.clock, random);
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(call.error().sqlstate, "MR003");
}

TEST_F(CoalescerTest, OneKindIsInOneTransactionAtATimeAndInTheOrderOfItsCallers) {
  start({.queue = {.batch_max = 7}}, 4);
  constexpr int kThreads = 8;
  constexpr int kCalls = 300;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t, &good] {
        std::vector<std::future<CallAnswer>> futures;
        for (int n = 0; n < kCalls; ++n) {
          futures.push_back(submit(plain(t * kCalls + n, t % 2 == 0 ? "even" : "odd")));
        }
        for (auto& future : futures) good += future.get() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(good, kThreads * kCalls);
  EXPECT_FALSE(database.kinds_overlapped());
  std::vector<int> last(kThreads, -1);
  for (const auto& job : database.stored()) {
    const int n = std::stoi(job.substr(5));
    EXPECT_LT(last[n / kCalls], n);
    last[n / kCalls] = n;
  }
  EXPECT_EQ(database.stored().size(), static_cast<std::size_t>(kThreads * kCalls));
}

TEST_F(CoalescerTest, AnotherKindDoesNotWaitForABusyOne) {
  start({}, 2);
  database.hold();
  auto first = submit(plain(1));
  auto second = submit(plain(2, "u"));
  database.wait_for_held(2);
  database.release();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST_F(CoalescerTest, SharesOfOneKindDoNotWaitForEachOther) {
  start({}, 2);
  database.hold();
  auto first = submit(plain(1));
  auto call = make_call(plain(2), database.clock, random);
  ASSERT_TRUE(call);
  call->key.share = 1;
  auto second = coalescer->submit(std::move(*call), WhenFull::wait);
  database.wait_for_held(2);
  database.release();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST_F(CoalescerTest, AFullQueueRefusesThoseWhoDoNotWait) {
  start({.queue = {.pending_max = 3}});
  (void)occupy(plain(1));
  (void)submit_plain(2, 3);
  const auto refused = submit(plain(4), WhenFull::refuse).get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::throttled);
  database.release();
  coalescer->flush();
  EXPECT_EQ(database.stored(), payloads(1, 3));
  EXPECT_TRUE(submit(plain(5), WhenFull::refuse).get());
}

TEST_F(CoalescerTest, AFullQueueMakesOthersWaitUntilThereIsRoom) {
  start({.queue = {.pending_max = 2}});
  (void)occupy(plain(1));
  (void)submit(plain(2));
  std::promise<void> began;
  auto third = std::async(std::launch::async, [&] {
    began.set_value();
    return submit(plain(3)).get();
  });
  began.get_future().wait();
  EXPECT_EQ(third.wait_for(20ms), std::future_status::timeout);
  EXPECT_EQ(database.sizes(), (std::vector<std::size_t>{1}));
  database.release();
  EXPECT_TRUE(third.get());
  EXPECT_EQ(database.stored(), payloads(1, 3));
}

TEST_F(CoalescerTest, WhoHasItsAnswerFindsRoom) {
  start({.queue = {.pending_max = 1}}, 2);
  for (int n = 0; n < 2000; ++n) ASSERT_TRUE(submit(plain(n), WhenFull::refuse).get()) << n;
}

TEST_F(CoalescerTest, PendingJobsAreBoundedInBytesButALargeOneGetsThrough) {
  start({.queue = {.pending_bytes_max = 15}});
  (void)occupy(plain(1));
  (void)submit(plain(2));
  EXPECT_EQ(submit(plain(3), WhenFull::refuse).get().error().kind, ErrorKind::throttled);
  database.release();
  coalescer->flush();
  auto large = plain(4);
  large.payload = R"({"text":"longer than the bound"})";
  EXPECT_TRUE(submit(large, WhenFull::refuse).get());
}

TEST_F(CoalescerTest, FlushWaitsForWhatCameBeforeAndNotForWhatCameAfter) {
  start({}, 2);
  (void)occupy(plain(1));
  auto before = submit_plain(2, 5);
  std::promise<void> began;
  auto flushed = std::async(std::launch::async, [&] {
    began.set_value();
    coalescer->flush();
  });
  began.get_future().wait();
  EXPECT_EQ(flushed.wait_for(20ms), std::future_status::timeout);
  auto after = submit(plain(6, "late"));
  database.hold([](const SentBatch& batch) { return batch.kind.job_type == "late"; });
  flushed.get();
  for (const auto& future : before) EXPECT_TRUE(is_ready(future));
  EXPECT_FALSE(is_ready(after));
  database.release();
  EXPECT_TRUE(after.get());
}

TEST_F(CoalescerTest, TheDestructorSendsWhatWasAccepted) {
  start({.queue = {.batch_max = 3}}, 2);
  auto first = occupy(plain(1));
  auto others = submit_plain(2, 20);
  auto ended = std::async(std::launch::async, [&] { coalescer.reset(); });
  EXPECT_EQ(ended.wait_for(20ms), std::future_status::timeout);
  database.release();
  ended.get();
  EXPECT_TRUE(is_ready(first));
  for (auto& future : others) {
    ASSERT_TRUE(is_ready(future));
    EXPECT_TRUE(future.get());
  }
  EXPECT_EQ(database.stored(), payloads(1, 20));
}

TEST_F(CoalescerTest, AFutureMayBeDropped) {
  start();
  (void)submit(plain(1));
  coalescer->flush();
  EXPECT_EQ(database.stored(), payloads(1, 1));
}

}  // namespace
}  // namespace millrace::client
