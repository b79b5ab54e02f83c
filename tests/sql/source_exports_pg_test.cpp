// The Export dossier's functions: creating, fetching, progress, limits, cancelling.
#include "sql/engine.h"

#include <set>

namespace millrace::test {
namespace {

constexpr std::string_view kAda = "00000000-0000-4000-8000-0000000000aa";
constexpr std::string_view kBob = "00000000-0000-4000-8000-0000000000bb";

class SourceExports : public ::testing::Test {
 protected:
  std::string create(std::string_view user, int document, std::string_view options = "{}") {
    return client_.value("select millrace.create_export_job($1, $2, $3::jsonb)",
                         pg::params(user, document_id(document), options));
  }
  static std::string document_id(int n) { return fmt::format("00000000-0000-4000-8000-{:012}", n); }
  struct Fetched {
    std::string id, locked_by, user;
  };
  Fetched fetch(std::string_view user = {}) {
    const auto rows =
        user.empty()
            ? client_.rows("select * from millrace.fetch_next_export_job()")
            : client_.rows("select * from millrace.fetch_next_export_job($1)", pg::params(user));
    if (rows.empty()) return {};
    return {std::string(rows[0].text("id")), std::string(rows[0].text("locked_by")),
            std::string(rows[0].text("user_id"))};
  }
  std::string column(std::string_view name, std::string_view id) {
    return client_.value(fmt::format("select {} from millrace.export_jobs e where e.id = $1", name),
                         pg::params(id));
  }
  bool complete(const Fetched& job, std::string_view result = "{}") {
    return client_.yes("select millrace.complete_job($1, $2, $3::jsonb)",
                       pg::params(job.id, job.locked_by, result));
  }

  TestDatabase database_;
  Session owner_{database_};
  Session client_{database_, "service_role"};
};

TEST_F(SourceExports, RunFromCreationToResult) {
  const auto id = create(kAda, 1, R"({"pageSize": "A4"})");
  const auto rows = client_.rows("select * from millrace.fetch_next_export_job()");
  ASSERT_EQ(rows.rows(), 1U);
  EXPECT_EQ(rows.columns(), 18U);
  const auto job = rows[0];
  EXPECT_EQ(job.text("id"), id);
  EXPECT_EQ(job.text("user_id"), kAda);
  EXPECT_EQ(job.text("document_id"), document_id(1));
  EXPECT_EQ(job.text("format"), "pdf");
  EXPECT_EQ(job.text("options"), R"({"pageSize": "A4"})");
  EXPECT_EQ(job.text("status"), "processing");
  EXPECT_EQ(job.i32("attempts"), 1);
  EXPECT_EQ(job.i32("max_attempts"), 5);
  EXPECT_FALSE(job.is_null("started_at"));
  const std::string locked_by(job.text("locked_by"));
  EXPECT_TRUE(locked_by.starts_with("export-"));
  EXPECT_EQ(client_.value("select round(extract(epoch from q.lease_expires_at - q.heartbeat_at)) "
                          "from millrace.job_queue q where q.id = $1",
                          pg::params(id)),
            "900");

  EXPECT_TRUE(client_.yes("select millrace.update_job_progress($1, 75)", pg::params(id)));
  EXPECT_TRUE(client_.yes("select millrace.update_job_progress($1, 50)", pg::params(id)));
  EXPECT_EQ(column("progress", id), "75");
  EXPECT_EQ(
      client_.refused("select millrace.update_job_progress($1, 101)", pg::params(id)).sqlstate,
      "MR024");
  EXPECT_TRUE(client_.yes(
      "select millrace.complete_job($1, $2, '{\"result_url\": \"k\", \"file_size\": 10, "
      "\"page_count\": 3, \"file_path\": \"p\"}')",
      pg::params(id, locked_by)));
  EXPECT_EQ(column("status", id), "completed");
  EXPECT_EQ(column("progress", id), "100");
  EXPECT_EQ(column("result_url || '/' || file_size || '/' || page_count || '/' || file_path", id),
            "k/10/3/p");
  EXPECT_FALSE(client_.yes("select millrace.update_job_progress($1, 100)", pg::params(id)));
  EXPECT_EQ(
      client_.value("select s.status from millrace.get_job_status($1, $2) s", pg::params(id, kAda)),
      "completed");
  EXPECT_EQ(
      client_.value("select s.status from millrace.get_job_status($1, $2) s", pg::params(id, kBob)),
      "(none)");
}

// X-21, F04: the same submission finds the live job; anything that differs is another one.
TEST_F(SourceExports, AreCreatedOnceWhileAnEqualOneLives) {
  const auto first = create(kAda, 1, R"({"a": 1, "b": 2})");
  EXPECT_EQ(create(kAda, 1, R"({"b": 2, "a": 1})"), first);
  const std::set<std::string> others = {create(kAda, 1), create(kAda, 2, R"({"a": 1, "b": 2})"),
                                        create(kBob, 1, R"({"a": 1, "b": 2})"),
                                        create(kAda, 1, R"({"a": 12, "b": 2})")};
  EXPECT_EQ(others.size(), 4U);
  EXPECT_FALSE(others.contains(first));
  ASSERT_EQ(fetch(kAda).id, first);
  EXPECT_EQ(create(kAda, 1, R"({"a": 1, "b": 2})"), first);
  client_.run("select millrace.cancel_job($1)", pg::params(first));
  client_.run("select millrace.update_job_progress($1, 10)", pg::params(first));
  EXPECT_NE(create(kAda, 1, R"({"a": 1, "b": 2})"), first);
}

TEST_F(SourceExports, RefuseIncompleteOrders) {
  for (const auto* call : {"select millrace.create_export_job(null, gen_random_uuid())",
                           "select millrace.create_export_job(gen_random_uuid(), null)",
                           "select millrace.create_export_job(gen_random_uuid(), "
                           "gen_random_uuid(), '[1]')"}) {
    EXPECT_EQ(client_.refused(call).sqlstate, "MR024") << call;
  }
}

// C-18: three of the queue run at once, whatever the number of users, and freed places are used.
TEST_F(SourceExports, RunThreeAtATime) {
  for (int i = 0; i < 3; ++i) create(kAda, i), create(kBob, i);
  EXPECT_TRUE(client_.yes("select millrace.can_process_more_jobs()"));
  const auto first = fetch();
  fetch();
  fetch();
  EXPECT_FALSE(client_.yes("select millrace.can_process_more_jobs()"));
  EXPECT_EQ(fetch().id, "");
  EXPECT_TRUE(complete(first));
  EXPECT_NE(fetch().id, "");
  EXPECT_EQ(fetch().id, "");
  EXPECT_EQ(owner_.number("select count(*) from millrace.lease"), 3);
}

// C-18, C13: three of one user, enforced by the claim; the user's others wait and block nobody.
TEST_F(SourceExports, RunThreeOfOneUserAtATime) {
  owner_.run("select millrace.set_queue('export', '{\"concurrency_max\": 10}')");
  for (int i = 0; i < 5; ++i) create(kAda, i);
  create(kBob, 1);
  std::vector<Fetched> running;
  int of_ada = 0;
  for (int i = 0; i < 8; ++i) {
    const auto job = fetch();
    if (job.id.empty()) continue;
    running.push_back(job);
    of_ada += job.user == kAda ? 1 : 0;
  }
  EXPECT_EQ(running.size(), 4U);
  EXPECT_EQ(of_ada, 3);
  EXPECT_EQ(fetch(kAda).id, "");
  for (const auto& job : running) {
    if (job.user == kAda) {
      EXPECT_TRUE(complete(job));
      break;
    }
  }
  EXPECT_EQ(fetch().user, kAda);
  EXPECT_EQ(fetch().id, "");
}

TEST_F(SourceExports, ComeBackLaterWhenTheyFail) {
  const auto id = create(kAda, 1);
  const auto job = fetch();
  EXPECT_TRUE(client_.yes("select millrace.fail_job($1, $2, '{\"message\": \"renderer gone\"}')",
                          pg::params(job.id, job.locked_by)));
  EXPECT_EQ(column("status", id), "pending");
  EXPECT_EQ(column("attempts", id), "1");
  EXPECT_EQ(column("error_message", id), "renderer gone");
  EXPECT_EQ(owner_.value("select extract(epoch from due_at - delayed_at) between 48 and 72 from "
                         "millrace.delayed where job_id = $1",
                         pg::params(id)),
            "t");
  EXPECT_NE(column("run_after", id), "(null)");
  EXPECT_EQ(fetch().id, "");
  owner_.run("update millrace.delayed set due_at = millrace.now()");
  const auto again = fetch();
  EXPECT_EQ(again.id, id);
  EXPECT_NE(again.locked_by, job.locked_by);
  EXPECT_FALSE(complete(job));
  // C-15: a job that died with its worker says so.
  owner_.run("update millrace.lease set lease_until = millrace.now() - interval '1 s'");
  EXPECT_EQ(client_.number("select millrace.reset_stuck_jobs()"), 1);
  EXPECT_EQ(column("error_message", id), "Job timed out");
  EXPECT_FALSE(complete(again));
}

// X-20, B15: waiting jobs at once, running ones at their next sign of life, ended ones never.
TEST_F(SourceExports, AreCancelledByTheirUser) {
  const auto waiting = create(kAda, 1);
  const auto other = create(kBob, 1);
  EXPECT_EQ(client_.refused("select millrace.cancel_job($1, $2)", pg::params(other, kAda)).sqlstate,
            "MR009");
  EXPECT_EQ(client_.refused("select millrace.cancel_job(gen_random_uuid())").sqlstate, "MR009");
  EXPECT_TRUE(client_.yes("select millrace.cancel_job($1, $2, 'changed my mind')",
                          pg::params(waiting, kAda)));
  EXPECT_EQ(column("status", waiting), "cancelled");
  EXPECT_NE(column("completed_at", waiting), "(null)");
  EXPECT_EQ(
      client_.refused("select millrace.cancel_job($1, $2)", pg::params(waiting, kAda)).sqlstate,
      "MR010");

  const auto running = fetch(kBob);
  EXPECT_TRUE(client_.yes("select millrace.cancel_job($1)", pg::params(running.id)));
  EXPECT_EQ(column("status", running.id), "processing");
  EXPECT_FALSE(client_.yes("select millrace.update_job_progress($1, 50)", pg::params(running.id)));
  EXPECT_EQ(column("status", running.id), "cancelled");
  EXPECT_FALSE(complete(running));

  const auto beating = create(kBob, 2);
  const auto lease = fetch(kBob);
  ASSERT_EQ(lease.id, beating);
  client_.run("select millrace.cancel_job($1)", pg::params(beating));
  EXPECT_FALSE(client_.yes("select millrace.update_job_heartbeat($1, $2)",
                           pg::params(beating, lease.locked_by)));
  EXPECT_EQ(column("status", beating), "cancelled");
}

TEST_F(SourceExports, MayStillSucceedAfterACancelThatCameTooLate) {
  const auto id = create(kAda, 1);
  const auto job = fetch();
  client_.run("select millrace.cancel_job($1)", pg::params(id));
  EXPECT_TRUE(complete(job));
  EXPECT_EQ(column("status", id), "completed");
}

// R-02, R-06.
TEST_F(SourceExports, WaitOneMinuteDoublingToAnHour) {
  EXPECT_EQ(
      client_.value("select string_agg(millrace.calculate_retry_delay(i)::text, ' ' order by i) "
                    "from generate_series(1, 8) i"),
      "60 120 240 480 960 1920 3600 3600");
  EXPECT_EQ(
      owner_.value("select provolatile from pg_proc where proname = 'calculate_retry_delay' and "
                   "pronamespace = 'millrace'::regnamespace"),
      "i");
}

// I06, B08: what a service writes into a row happens to the delivery it saw, or not at all.
TEST_F(SourceExports, AnUpdateEndsTheDeliveryItSawAndNoLaterOne) {
  const auto update = "select count(*) from millrace.update_export_jobs(array[$1], $2::jsonb)";
  const auto id = create(kAda, 1);
  const auto first = fetch();
  const auto seen = fmt::format("{} {}", id, first.locked_by);
  EXPECT_EQ(client_.value(update, pg::params(seen, R"({"status": "pending"})")), "1");
  owner_.run("select millrace.run_now(array[$1::uuid])", pg::params(id));
  const auto second = fetch();
  ASSERT_EQ(second.id, id);
  const std::string done = R"({"status": "completed", "result_url": "k"})";
  EXPECT_EQ(client_.refused(update, pg::params(seen, done)).sqlstate, "MR001");
  EXPECT_EQ(column("status", id), "processing");
  EXPECT_EQ(client_.value(update, pg::params(fmt::format("{} {}", id, second.locked_by), done)),
            "1");
  EXPECT_EQ(column("status || '/' || result_url", id), "completed/k");
  Session user(database_, "authenticated");
  EXPECT_EQ(user.refused(update, pg::params(seen, done)).sqlstate, "42501");
}

TEST_F(SourceExports, AnUpdateTakesNothingFromAWorkerProcess) {
  const auto id = create(kAda, 1);
  Worker worker(owner_, "process-1");
  const auto held = worker.take({.queue = "export"});
  ASSERT_EQ(held.id, id);
  const auto update = "select count(*) from millrace.update_export_jobs(array[$1], $2::jsonb)";
  const auto seen = fmt::format("{} {}", id, worker.id());
  for (const auto* const patch :
       {R"({"status": "completed"})", R"({"status": "failed"})", R"({"progress": 50})"}) {
    EXPECT_EQ(client_.refused(update, pg::params(seen, patch)).sqlstate, "MR001") << patch;
  }
  EXPECT_EQ(column("status || '/' || progress", id), "processing/0");
  EXPECT_EQ(worker.settle(held, "ok"), "settled");
}

TEST_F(SourceExports, AnUpdateOfAnythingElseIsRefusedByItsName) {
  const auto id = create(kAda, 1);
  const auto update = "select millrace.update_export_jobs(array[$1], $2::jsonb)";
  const auto seen = fmt::format("{} {}", id, fetch().locked_by);
  for (const auto* const patch :
       {R"({"status": "cancelled"})", R"({"status": null})", R"({"status": "processing"})",
        R"({"user_id": "x"})", R"({"status": "pending", "result_url": "x"})",
        R"({"status": "completed", "attempts": 0})"}) {
    EXPECT_EQ(client_.refused(update, pg::params(seen, patch)).sqlstate, "42501") << patch;
  }
  EXPECT_EQ(client_.refused(update, pg::params(seen, "[]")).sqlstate, "MR024");
  EXPECT_EQ(client_.refused(update, pg::params(seen, "{}")).sqlstate, "MR024");
  EXPECT_EQ(
      client_.refused(update, pg::params(seen, R"({"status": "pending", "run_after": "soon"})"))
          .sqlstate,
      "22007");
  EXPECT_EQ(column("status", id), "processing");
}

}  // namespace
}  // namespace millrace::test
