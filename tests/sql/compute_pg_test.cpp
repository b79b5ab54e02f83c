// Compute jobs: one job for equal questions of one tenant and app, results and artifacts written by
// the settling transaction.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Compute : public EngineTest {
 protected:
  struct Answer {
    std::string job;
    std::string answer;
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  static Answer ask(Session& session, std::string_view key = "k", std::string_view app = "app",
                    const std::string& options = "{}") {
    const auto rows = session.rows(
        "select job_id, answer from millrace.submit_compute($1, 'solver', '1.0.0', '{\"x\": 1, "
        "\"n\": null}', "
        "encode(sha256('i'), 'hex'), sha256(convert_to($2, 'UTF8')), $3::jsonb)",
        pg::params(app, key, options));
    return {std::string(rows[0].text(0)), std::string(rows[0].text(1))};
  }
  std::string solve(const std::string& job, const std::string& output) {
    Worker worker(sql, fmt::format("w{}", ++workers));
    const auto delivery = worker.take({.queue = "compute"});
    EXPECT_EQ(delivery.id, job);
    return worker.settle(delivery, "ok", fmt::format(R"({{"effects": {{"output": {}}}}})", output));
  }
  std::string result(Session& session, const std::string& job, const std::string& field) {
    return session.value("select millrace.get_result($1) ->> $2", pg::params(job, field));
  }
  int workers = 0;
  ServerSession api{database};
};

// J-04, J-05, T-12, F03, F05.
TEST_F(Compute, j04_equal_questions_of_a_tenant_and_app_are_one_job) {
  const auto first = ask(api);
  EXPECT_EQ(first.answer, "created");
  EXPECT_EQ(ask(api), (Answer{first.job, "running"}));
  EXPECT_NE(ask(api, "other").job, first.job);
  EXPECT_NE(ask(api, "k", "app2").job, first.job);
  ServerSession elsewhere{database, kOther};
  EXPECT_NE(ask(elsewhere).job, first.job);
}

// T-02: a job that another user owns would be of no use, since its result is not shown.
TEST_F(Compute, t02_equal_questions_of_two_users_are_two_jobs) {
  const auto owner = [](std::string_view user) {
    return fmt::format(R"({{"owner_id": "{}"}})", user);
  };
  const auto adas = ask(api, "k", "app", owner(kAda));
  const auto bobs = ask(api, "k", "app", owner(kBob));
  EXPECT_EQ(bobs.answer, "created");
  EXPECT_EQ(ask(api, "k", "app", owner(kAda)), (Answer{adas.job, "running"}));
  User bob{database, kBob};
  EXPECT_EQ(result(bob, bobs.job, "status"), "pending");
  EXPECT_EQ(bob.refused("select millrace.get_result($1)", pg::params(adas.job)).sqlstate, "MR009");
}

TEST_F(Compute, q08_the_view_of_the_source_shows_it) {
  const auto first = ask(api, "k", "app", fmt::format(R"({{"owner_id": "{}"}})", kAda));
  EXPECT_EQ(
      sql.value(
          "select format('%s %s %s %s %s', app_id, definition, version, status, payload_json) "
          "from millrace.job where id = $1",
          pg::params(first.job)),
      R"(app solver 1.0.0 queued {"n": null, "x": 1})");
  User ada{database, kAda};
  EXPECT_EQ(ada.value("select id from millrace.job"), first.job);
}

// J-07, B12: the result is written by the transaction that settles, once.
TEST_F(Compute, j07_result_and_artifacts_come_with_the_settlement) {
  const auto first = ask(api);
  EXPECT_EQ(result(api, first.job, "status"), "pending");
  const auto blob = stored(api, "drawing");
  EXPECT_EQ(
      solve(first.job,
            sql.value("select jsonb_build_object('outputs', '{\"y\": 2}'::jsonb, 'score', 0.5, "
                      "'artifacts', jsonb_build_array($1::jsonb || '{\"kind\": \"model\", "
                      "\"file_name\": \"m.3dm\", \"expires_in_seconds\": 60}'))::text",
                      pg::params(blob))),
      "settled");
  EXPECT_EQ(result(api, first.job, "outputs_json"), R"({"y": 2})");
  EXPECT_EQ(result(api, first.job, "score"), "0.5");
  EXPECT_EQ(api.value("select millrace.get_result($1) #>> '{artifacts,0,file_name}'",
                      pg::params(first.job)),
            "m.3dm");
  EXPECT_EQ(sql.number("select count(*) from millrace.blob_object"), 1);
  // J-11, I11: for its time, and no URL anywhere.
  pass(sql, "61 seconds");
  EXPECT_EQ(result(api, first.job, "artifacts"), "[]");
  EXPECT_EQ(sql.number("select millrace.expire_keys(100)"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.artifact"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.orphan_note"), 1);
}

// J-13.
TEST_F(Compute, j13_a_young_result_answers_and_an_old_one_does_not) {
  const auto first = ask(api);
  solve(first.job, R"({"outputs": {}})");
  EXPECT_EQ(ask(api), (Answer{first.job, "cached"}));
  EXPECT_EQ(ask(api, "k", "app", R"({"max_age_seconds": 0})").answer, "created");
  const auto second = ask(api, "other");
  solve(ask(api).job, R"({"outputs": {}})");
  solve(second.job, R"({"outputs": {}})");
  pass(sql, "301 seconds");
  // The server's own setting counts for more than the database's, in both directions; who asks may
  // want less, never more.
  EXPECT_EQ(ask(api, "other", "app", R"({"ttl_seconds": 3600})").answer, "cached");
  EXPECT_EQ(ask(api, "other", "app", R"({"max_age_seconds": 3600})").answer, "created");
  solve(ask(api, "other").job, R"({"outputs": {}})");
  pass(sql, "61 seconds");
  EXPECT_EQ(ask(api, "other").answer, "cached");
  EXPECT_EQ(ask(api, "other", "app", R"({"ttl_seconds": 60})").answer, "created");
  EXPECT_EQ(ask(api, "third").answer, "created");
}

TEST_F(Compute, a_failed_question_can_be_asked_again) {
  const auto first = ask(api);
  Worker worker(sql);
  worker.settle(worker.take({.queue = "compute"}), "permanent",
                R"({"error": {"error_type": "validation", "message": "m"}})");
  EXPECT_EQ(result(api, first.job, "status"), "failed");
  EXPECT_EQ(
      api.value("select millrace.get_result($1) #>> '{last_error,message}'", pg::params(first.job)),
      "m");
  const auto second = ask(api);
  EXPECT_EQ(second.answer, "created");
  EXPECT_NE(second.job, first.job);
}

// Two ask at once: the second waits for the first one's row, and finds its job.
TEST_F(Compute, f03_concurrent_questions_are_one_job) {
  ServerSession other{database};
  api.script("begin");
  const auto first = ask(api);
  Answer second;
  std::jthread waiting([&] { second = ask(other); });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  api.script("commit");
  waiting.join();
  EXPECT_EQ(second, (Answer{first.job, "running"}));
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 1);
}

// A stale worker writes no result.
TEST_F(Compute, b12_a_fenced_settlement_writes_nothing) {
  const auto first = ask(api);
  Worker worker(sql, "slow", kShortLived);
  const auto delivery = worker.take({.queue = "compute"});
  pass(sql, "1 hour");
  keep(sql);
  EXPECT_EQ(worker.settle(delivery, "ok", R"({"effects": {"output": {"outputs": {}}}})"),
            "lease_lost");
  EXPECT_EQ(sql.number("select count(*) from millrace.result"), 0);
  solve(first.job, R"({"outputs": {"y": 1}})");
  EXPECT_EQ(sql.number("select count(*) from millrace.result"), 1);
}

TEST_F(Compute, a_result_that_cannot_be_kept_fails_its_job_with_the_reason) {
  const auto first = ask(api);
  EXPECT_EQ(solve(first.job,
                  sql.value("select jsonb_build_object('outputs', repeat('x', 262144))::text")),
            "replaced");
  EXPECT_EQ(status(sql, first.job), "failed");
  EXPECT_EQ(sql.number("select count(*) from millrace.result"), 0);
  const auto second = ask(api, "other");
  EXPECT_EQ(solve(second.job, R"({"score": 1})"), "replaced");
  EXPECT_EQ(status(sql, second.job), "failed");
}

// Its bytes may be gone: the work is done again.
TEST_F(Compute, an_artifact_that_was_stored_too_long_ago_makes_the_attempt_a_retry) {
  const auto first = ask(api);
  const auto old =
      stored(api, "x", sql.value("select (millrace.now() - interval '2 hours')::text"));
  EXPECT_EQ(
      solve(first.job, sql.value("select jsonb_build_object('outputs', '{}'::jsonb, 'artifacts', "
                                 "jsonb_build_array($1::jsonb || '{\"kind\": \"k\"}'))::text",
                                 pg::params(old))),
      "replaced");
  EXPECT_NE(status(sql, first.job), "failed");
  EXPECT_EQ(sql.number("select count(*) from millrace.blob_object"), 0);
}

TEST_F(Compute, output_of_anything_but_success_is_left_out) {
  ask(api);
  Worker worker(sql);
  worker.settle(worker.take({.queue = "compute"}), "retry",
                R"({"effects": {"output": {"outputs": {}}}})");
  EXPECT_EQ(sql.number("select count(*) from millrace.result"), 0);
}

// T-02: results belong to who asked.
TEST_F(Compute, t02_a_user_reads_the_own_results) {
  const auto first = ask(api, "k", "app", fmt::format(R"({{"owner_id": "{}"}})", kAda));
  solve(first.job, R"({"outputs": {"y": 1}})");
  User ada{database, kAda};
  User bob{database, kBob};
  EXPECT_EQ(result(ada, first.job, "outputs_json"), R"({"y": 1})");
  EXPECT_EQ(ada.number("select count(*) from millrace.result"), 1);
  EXPECT_EQ(bob.number("select count(*) from millrace.result"), 0);
  EXPECT_EQ(bob.refused("select millrace.get_result($1)", pg::params(first.job)).sqlstate, "MR009");
  EXPECT_EQ(ada.refused("select millrace.submit_compute('a', 'd', '1', '{}', '', '')").sqlstate,
            "42501");
}

// I13: names that become part of an internal URL.
TEST_F(Compute, i13_names_are_checked) {
  for (const auto* args : {"'app', '../x', '1.0.0'", "'app', 'd', '1/0'", "'a b', 'd', '1'",
                           "'', 'd', '1'", "'app', 'd:1', '1'"}) {
    EXPECT_EQ(
        api.refused(
               fmt::format("select millrace.submit_compute({}, '{{}}', encode(sha256('i'), 'hex'), "
                           "sha256('k'))",
                           args))
            .sqlstate,
        "MR024")
        << args;
  }
}

TEST_F(Compute, results_are_forgotten_with_their_jobs) {
  const auto first = ask(api);
  solve(first.job, R"({"outputs": {}})");
  pass(sql, "60 days");
  while (sql.yes("select (millrace.maintain_partitions() ->> 'more')::boolean")) {
  }
  ASSERT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  sql.run("select millrace.expire_keys(100)");
  EXPECT_EQ(sql.number("select count(*) from millrace.result"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.compute_job"), 0);
}

}  // namespace
}  // namespace millrace::test
