// SharedProducer on a real PostgreSQL: what it answers is what the database holds, also when the
// connection is lost at the worst moment.
#include "support/database.h"
#include "support/gate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <millrace/producer.h>

#include <future>
#include <optional>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace millrace::client {
namespace {

using namespace std::chrono_literals;
using test::must;

SharedProducer must_connect(const std::string& url, const SharedProducerOptions& options = {}) {
  auto made = SharedProducer::connect(url, options);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

JobSpec job(int n) {
  return {.job_type = "plain", .payload = fmt::format(R"({{"n":{}}})", n), .queue = "q"};
}

class SharedProducerTest : public ::testing::Test {
 protected:
  SharedProducerTest() {
    must(db_.query("select millrace.set_queue('q', '{}')"));
    must(db_.query("select millrace.set_job_type('plain', '{\"queue\": \"q\"}')"));
  }

  std::int64_t count(const std::string& where = "true") {
    return must(db_.query("select count(*) from millrace.job_fact f where " + where))[0].i64(0);
  }
  std::string gate_url() const { return gate_.url(database_.name()); }
  // Everything that is sent from now on reaches the database, and its answer does not come back.
  template <class Act>
  void lose_answer_of(Act act) {
    gate_.hold_answers();
    act();
    gate_.wait_for_held_answer();
    gate_.cut();
  }

  test::TestDatabase database_;
  pg::SyncConnection db_ = database_.connect();
  test::Gate gate_{test::Server::get()};
};

TEST_F(SharedProducerTest, EveryAcknowledgedCallOfEightThreadsIsAJob) {
  constexpr int kThreads = 8;
  constexpr int kCalls = 500;
  std::vector<std::set<std::string>> ids(kThreads);
  {
    auto producer = must_connect(database_.url());
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&producer, &mine = ids[t], t] {
        for (int n = 0; n < kCalls; ++n) {
          const auto answer = producer.enqueue(job(t * kCalls + n));
          ASSERT_TRUE(answer) << answer.error().message;
          EXPECT_TRUE(answer->created);
          mine.insert(answer->job_id);
        }
      });
    }
  }
  std::set<std::string> all;
  for (const auto& mine : ids) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kThreads * kCalls));
  EXPECT_EQ(count(), kThreads * kCalls);
  EXPECT_EQ(must(db_.query("select count(distinct payload) from millrace.job_fact"))[0].i64(0),
            kThreads * kCalls);
  EXPECT_EQ(count(fmt::format("f.job_id = any ('{{{}}}')", fmt::join(all, ","))),
            kThreads * kCalls);
}

TEST_F(SharedProducerTest, CallsOfOneThreadAreInLineInTheirOrder) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  auto producer = must_connect(database_.url(), {.connections = 3, .batch_max = 50});
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&producer, t] {
        std::vector<std::future<Result<Enqueued>>> futures;
        for (int n = 0; n < kCalls; ++n)
          futures.push_back(producer.enqueue_async(job(t * kCalls + n)));
        for (auto& future : futures) EXPECT_TRUE(future.get());
      });
    }
  }
  const auto rows =
      must(db_.query("select (payload ->> 'n')::int as n from millrace.job_fact order by seq"));
  ASSERT_EQ(rows.rows(), static_cast<std::size_t>(kThreads * kCalls));
  std::vector<std::int64_t> last(kThreads, -1);
  for (const auto row : rows) {
    const auto n = row.i64("n");
    auto& before = last[static_cast<std::size_t>(n / kCalls)];
    ASSERT_LT(before, n);
    before = n;
  }
}

TEST_F(SharedProducerTest, TheDestructorWaitsForWhatWasAccepted) {
  {
    auto producer = must_connect(database_.url());
    auto moved = std::move(producer);
    for (int n = 0; n < 300; ++n) (void)moved.enqueue_async(job(n));
    // NOLINTNEXTLINE(bugprone-use-after-move): it says so instead of crashing.
    EXPECT_EQ(producer.enqueue(job(0)).error().kind, ErrorKind::invalid_argument);
  }
  EXPECT_EQ(count(), 300);
}

TEST_F(SharedProducerTest, ABadJobAmongManyFailsAloneAndAsItDoesInAProducer) {
  std::vector<JobSpec> bad(14, job(-1));
  bad[0].payload = "{}";
  bad[1].payload = "[1]";
  bad[2].payload = R"({"text":"\u0000"})";
  bad[3].payload = R"({"estimated_tokens":"many"})";
  bad[4].payload = fmt::format(R"({{"text":"{}"}})", std::string(300'000, 'x'));
  bad[5].job_type = "unheard_of";
  bad[6].queue = "unheard_of";
  bad[7].priority = 1001;
  bad[8].max_attempts = 0;
  bad[9].after_jobs = {"00000000-0000-7000-8000-000000000000"};
  bad[10].job_type = "";
  bad[11].job_type = "no \xff utf-8";
  bad[12].queue = std::string("nul\0", 4);
  bad[13].priority = -1;
  auto producer = must_connect(database_.url());
  auto single = Producer::connect(database_.url());
  ASSERT_TRUE(single);
  std::vector<std::future<Result<Enqueued>>> good;
  std::vector<std::future<Result<Enqueued>>> refused;
  for (int n = 0; n < 500; ++n) {
    good.push_back(producer.enqueue_async(job(n)));
    const auto next = refused.size();
    if (n % 30 == 25 && next < bad.size()) refused.push_back(producer.enqueue_async(bad[next]));
  }
  ASSERT_EQ(refused.size(), bad.size());
  for (auto& future : good) ASSERT_TRUE(future.get());
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const auto answer = refused[i].get();
    const auto alone = single->enqueue(bad[i]);
    ASSERT_FALSE(answer) << i;
    ASSERT_FALSE(alone) << i;
    EXPECT_EQ(answer.error().kind, alone.error().kind) << i;
    EXPECT_EQ(answer.error().sqlstate, alone.error().sqlstate) << i;
    EXPECT_EQ(answer.error().message, alone.error().message) << i;
  }
  EXPECT_EQ(count(), 500);
}

TEST_F(SharedProducerTest, AFullQueueTakesWhatFits) {
  must(db_.query("select millrace.set_queue('q', '{\"depth_max\": 70}')"));
  auto producer = must_connect(database_.url());
  std::vector<std::future<Result<Enqueued>>> futures;
  for (int n = 0; n < 200; ++n) futures.push_back(producer.enqueue_async(job(n)));
  int taken = 0;
  for (auto& future : futures) {
    const auto answer = future.get();
    taken += answer ? 1 : 0;
    if (answer) continue;
    EXPECT_EQ(answer.error().kind, ErrorKind::throttled);
    EXPECT_EQ(answer.error().sqlstate, "MR008");
  }
  EXPECT_EQ(taken, 70);
  EXPECT_EQ(count(), 70);
}

TEST_F(SharedProducerTest, EveryFieldOfAJobArrives) {
  auto producer = must_connect(database_.url());
  auto full = job(1);
  full.priority = 77;
  full.job_name = "name";
  full.serial_key = "s";
  full.correlation_id = "c";
  full.id = "01900000-0000-7000-8000-000000000001";
  full.max_attempts = 3;
  const auto made = producer.enqueue(full);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->job_id, full.id);
  auto plain = job(2);
  plain.priority = 78;
  ASSERT_TRUE(producer.enqueue(plain));
  EXPECT_EQ(count("f.priority = 77 and f.job_name = 'name' and f.serial_key = 's' and "
                  "f.correlation_id = 'c' and f.max_attempts = 3"),
            1);
  EXPECT_EQ(count("f.priority = 78 and f.payload = '{\"n\": 2}'"), 1);
}

TEST_F(SharedProducerTest, ConnectSaysWhatIsWrong) {
  const auto nobody = SharedProducer::connect("postgresql://nobody@/postgres?host=/nonexistent");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ErrorKind::unavailable);
  const auto none = SharedProducer::connect(database_.url(), {.connections = 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(none.error().message.contains("connections"));
}

TEST_F(SharedProducerTest, ALostAnswerIsInDoubtAndTheJobIsThereOnce) {
  auto producer = must_connect(gate_url(), {.connections = 1});
  ASSERT_TRUE(producer.enqueue(job(0)));
  std::future<Result<Enqueued>> lost;
  lose_answer_of([&] { lost = producer.enqueue_async(job(1)); });
  const auto answer = lost.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::in_doubt);
  ASSERT_TRUE(producer.enqueue(job(2)));  // On a new connection.
  EXPECT_EQ(count("f.payload = '{\"n\": 1}'"), 1);
  EXPECT_EQ(count(), 3);
}

TEST_F(SharedProducerTest, AJobWithAKeyOfItsOwnIsSentAgainAfterALostAnswerAndIsThereOnce) {
  auto producer = must_connect(gate_url(), {.connections = 1});
  ASSERT_TRUE(producer.enqueue(job(0)));
  std::vector<JobSpec> jobs(3, job(1));
  jobs[0].idempotency_key = "i";
  jobs[1].dedupe_key = "d";
  jobs[2].id = "01900000-0000-7000-8000-000000000002";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::future<Result<Enqueued>> lost;
    lose_answer_of([&] { lost = producer.enqueue_async(jobs[i]); });
    const auto answer = lost.get();
    ASSERT_TRUE(answer) << i << ": " << answer.error().message;
    EXPECT_EQ(count(fmt::format("f.job_id = '{}'", answer->job_id)), 1);
    EXPECT_EQ(count(), static_cast<std::int64_t>(i) + 2);
  }
}

TEST_F(SharedProducerTest, AConnectionThatWasLostBeforeItWasUsedIsReplacedUnnoticed) {
  auto producer = must_connect(gate_url(), {.connections = 1});
  ASSERT_TRUE(producer.enqueue(job(0)));
  must(
      db_.query("select pg_terminate_backend(pid, 10000) from pg_stat_activity"
                " where application_name = 'millrace producer' and datname = current_database()"));
  const auto answer = producer.enqueue(job(1));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(count(), 2);
}

TEST_F(SharedProducerTest, AnOutageIsWaitedForAndThenUnavailable) {
  auto producer = must_connect(gate_url(), {.connections = 1, .retry_for = 300ms});
  gate_.refuse(true);
  gate_.cut();
  const auto failed = producer.enqueue(job(0));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(count(), 0);
  gate_.refuse(false);
  EXPECT_TRUE(producer.enqueue(job(1)));
}

// Every answer holds against the database: done is there once, in doubt at most once, and what can
// be sent again is done.
TEST_F(SharedProducerTest, CutAgainAndAgainItSaysNothingThatIsNotSo) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 250;
  std::vector<std::optional<ErrorKind>> failures(kThreads * kCalls);
  {
    auto producer = must_connect(gate_url());
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kCalls; ++i) {
          const int n = t * kCalls + i;
          auto spec = job(n);
          if (n % 2 == 0) spec.idempotency_key = fmt::format("key-{}", n);
          const auto answer = producer.enqueue(spec);
          if (!answer) failures[static_cast<std::size_t>(n)] = answer.error().kind;
          if (t == 0 && i % 10 == 5) gate_.cut();
        }
      });
    }
  }
  const auto rows =
      must(db_.query("select g.n, (select count(*) from millrace.job_fact f where (f.payload ->> "
                     "'n')::int = g.n) as jobs"
                     " from generate_series(0, $1::int - 1) g(n) order by 1",
                     pg::params(kThreads * kCalls)));
  int in_doubt = 0;
  for (const auto row : rows) {
    const auto n = row.i64("n");
    const auto& failure = failures[static_cast<std::size_t>(n)];
    if (!failure) {
      EXPECT_EQ(row.i64("jobs"), 1) << n;
    } else {
      ++in_doubt;
      EXPECT_EQ(*failure, ErrorKind::in_doubt) << n;
      EXPECT_EQ(n % 2, 1) << n;
      EXPECT_LE(row.i64("jobs"), 1) << n;
    }
  }
  RecordProperty("in_doubt", in_doubt);
}

TEST_F(SharedProducerTest, AForkedChildIsRefusedAndHarmsNobody) {
  auto producer = must_connect(database_.url());
  ASSERT_TRUE(producer.enqueue(job(0)));
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 0;
    {
      auto inherited = std::move(producer);
      const auto answer = inherited.enqueue(job(1));
      inherited.flush();
      code = !answer && answer.error().kind == ErrorKind::invalid_argument ? 0 : 1;
    }
    ::_exit(code);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(producer.enqueue(job(2)));
  EXPECT_EQ(count(), 2);
}

}  // namespace
}  // namespace millrace::client
