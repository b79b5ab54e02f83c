// Requests that come together: one statement for all of them, an answer of its own for each.
#include "base/fault.h"
#include "base/random.h"
#include "base/run.h"
#include "base/spawn.h"
#include "sql/server_world.h"
#include "store/api/api_store.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

class JoinedCallsPg : public EngineTest {
 protected:
  using Answers = std::vector<Result<std::string>>;

  void TearDown() override { fault::disarm(); }

  static store::CallContext service() {
    return {.role = "service_role",
            .tenant = TenantId::parse(kTenant).value(),
            .claims_json = R"({"role": "service_role"})",
            .actor = "key:k1"};
  }
  static awaitable<void> keep(Task<std::string> call, Result<std::string>* answer) {
    *answer = co_await std::move(call);
  }
  // All calls at once.
  Answers together(std::vector<Task<std::string>> calls) {
    Answers answers(calls.size());
    TaskGroup tasks(io.get_executor(), log);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      tasks.add("call", keep(std::move(calls[i]), &answers[i]));
    }
    run_blocking(io, tasks.join());
    return answers;
  }
  Answers enqueue_all(const std::vector<std::string>& jobs) {
    std::vector<Task<std::string>> calls;
    for (const auto& job : jobs) calls.push_back(api.jobs_write->enqueue_jobs(service(), job, {}));
    return together(std::move(calls));
  }
  static std::string job(int number, std::string_view more = "") {
    return fmt::format(R"({{"job_type": "noop", "payload": {{"n": {}}}{}}})", number, more);
  }
  static std::size_t created(const Answers& answers) {
    return static_cast<std::size_t>(std::ranges::count_if(
        answers, [](const auto& answer) { return answer && answer->contains(R"("created")"); }));
  }
  std::int64_t jobs() { return sql.number("select count(*) from millrace.job_fact"); }

  boost::asio::io_context io{1};
  SeededRandom random{7};
  Logger log = Logger::silent();
  pg::Pool pool{io.get_executor(),
                pg::connect_options(database.url("millrace_api")),
                {.connections_max = 4},
                random};
  store::ApiStore api = store::make_api_store(pool);
};

TEST_F(JoinedCallsPg, TenSingleEnqueuesAreOneTransaction) {
  std::vector<std::string> list;
  for (int i = 0; i < 10; ++i) list.push_back(job(i));
  const auto answers = enqueue_all(list);
  EXPECT_EQ(created(answers), 10U);
  EXPECT_EQ(sql.number("select count(distinct payload ->> 'n') from millrace.job_fact"), 10);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where action = 'enqueued'"), 1);
  // Each was told the id of its own job.
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(sql.value("select f.payload ->> 'n' from millrace.job_fact f where f.job_id = "
                        "($1::jsonb #>> '{0,job_id}')::uuid",
                        pg::params(*answers[static_cast<std::size_t>(i)])),
              std::to_string(i));
  }
}

TEST_F(JoinedCallsPg, AJobThatIsRefusedHarmsNoOtherAndIsToldWhatItWouldHearAlone) {
  std::vector<std::string> list;
  for (int i = 0; i < 10; ++i) list.push_back(job(i));
  list[7] = R"({"job_type": "no such type", "payload": {"n": 7}})";
  const auto answers = enqueue_all(list);
  EXPECT_EQ(created(answers), 9U);
  EXPECT_EQ(jobs(), 9);
  ASSERT_FALSE(answers[7]);
  const auto alone = run_blocking(io, api.jobs_write->enqueue_jobs(service(), list[7], {}));
  ASSERT_FALSE(alone);
  EXPECT_EQ(answers[7].error(), alone.error());
  EXPECT_EQ(alone.error().sqlstate, "MR002");
}

// However many are bad: the good ones are durable after one more transaction.
TEST_F(JoinedCallsPg, BadJobsOfOneProducerHoldUpTheOthersForOneMoreCall) {
  std::vector<std::string> list;
  for (int i = 0; i < 30; ++i) {
    list.push_back(i % 2 == 0 ? job(i) : R"({"job_type": "no such type", "payload": {"n": 1}})");
  }
  const auto answers = enqueue_all(list);
  EXPECT_EQ(created(answers), 15U);
  EXPECT_EQ(jobs(), 15);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].has_value(), i % 2 == 0) << i;
    if (!answers[i]) {
      EXPECT_EQ(answers[i].error().sqlstate, "MR002");
    }
  }
  EXPECT_EQ(sql.number("select count(distinct xid) from millrace.audit where action = 'enqueued'"),
            1);
}

// P3: who cannot know whether the job exists is told that.
TEST_F(JoinedCallsPg, AnAnswerThatIsLostIsInDoubtForAllWhoSharedTheCall) {
  must(fault::arm("api_enqueue.after_send=drop"));
  std::vector<std::string> list;
  for (int i = 0; i < 10; ++i) list.push_back(job(i));
  const auto answers = enqueue_all(list);
  for (const auto& answer : answers) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::in_doubt);
  }
}

// U-05: keys are decided by the database, one request after the other.
TEST_F(JoinedCallsPg, EqualKeysGiveOneJob) {
  const auto answers =
      enqueue_all(std::vector<std::string>(5, job(1, R"(, "dedupe_key": "same")")));
  for (const auto& answer : answers) EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(created(answers), 1U);
  EXPECT_EQ(jobs(), 1);
}

TEST_F(JoinedCallsPg, EveryReaderIsToldOfItsOwnJobAndTheUnknownOneAlone) {
  ServerSession own{database, kTenant, "service_role"};
  auto ids = enqueue_many(own, 6);
  ids[4] = std::string(kBob);
  ids.push_back(ids[2]);  // Asked for twice.
  std::vector<Task<std::string>> calls;
  for (const auto& id : ids) {
    calls.push_back(api.jobs_read->job_status(service(), JobId::parse(id).value()));
  }
  const auto answers = together(std::move(calls));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == 4) {
      ASSERT_FALSE(answers[i]);
      EXPECT_EQ(answers[i].error().sqlstate, "MR009");
      EXPECT_THAT(answers[i].error().message, HasSubstr(ids[i]));
    } else {
      ASSERT_TRUE(answers[i]) << answers[i].error().message;
      EXPECT_EQ(*answers[i], own.value("select millrace.job_status($1)::text", pg::params(ids[i])));
    }
  }
}

}  // namespace
}  // namespace millrace::test
