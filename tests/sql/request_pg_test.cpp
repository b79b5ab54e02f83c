// Requests with an Idempotency-Key (IETF draft): done once, refused while running, told again
// afterwards.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class Requests : public EngineTest {
 protected:
  struct Begun {
    std::string answer;
    std::string token;
  };
  static Begun begin(Session& session, std::string_view fingerprint = "f",
                     std::string_view key = "k", std::string_view scope = "POST /jobs") {
    const auto rows = session.rows(
        "select answer, token from millrace.begin_request($1, $2, convert_to($3, 'UTF8'))",
        pg::params(scope, key, fingerprint));
    return {std::string(rows[0].text(0)), rows[0].opt_text(1).value_or("")};
  }
  static constexpr const char* kFinish =
      "select millrace.finish_request('POST /jobs', 'k', $1::uuid, 201, '{\"location\": \"/x\"}', "
      "'made')";
  static constexpr const char* kEnqueue =
      "select millrace.keep_effect('POST /jobs', 'k', $1::uuid, (select jsonb_agg(to_jsonb(e)) "
      "from "
      "millrace.enqueue_jobs('[{\"job_type\": \"noop\", \"payload\": {\"n\": 1}}]') e))";
  std::int64_t jobs() { return sql.number("select count(*) from millrace.job_fact"); }
  ServerSession service{database, kTenant, "service_role"};
};

TEST_F(Requests, one_that_is_done_is_told_again_as_it_was) {
  const auto first = begin(service);
  EXPECT_EQ(first.answer, "started");
  EXPECT_EQ(begin(service).answer, "running");
  service.run(kFinish, pg::params(first.token));
  EXPECT_EQ(service.value(
                "select format('%s %s %s %s', answer, status, headers, convert_from(body, 'UTF8')) "
                "from millrace.begin_request('POST /jobs', 'k', 'f')"),
            R"(done 201 {"location": "/x"} made)");
}

// 422, whatever became of the first.
TEST_F(Requests, the_same_key_with_another_request_is_a_mismatch) {
  const auto first = begin(service);
  EXPECT_EQ(begin(service, "other").answer, "mismatch");
  service.run(kFinish, pg::params(first.token));
  EXPECT_EQ(begin(service, "other").answer, "mismatch");
}

// Key, effect and answer in one transaction: all or nothing.
TEST_F(Requests, the_effect_and_its_kept_answer_commit_together) {
  const auto first = begin(service);
  service.script("begin");
  service.run(kEnqueue, pg::params(first.token));
  service.script("rollback");
  EXPECT_EQ(jobs(), 0);
  EXPECT_EQ(begin(service).answer, "running");
  const auto effect = service.value(kEnqueue, pg::params(first.token));
  EXPECT_EQ(jobs(), 1);
  EXPECT_EQ(
      service.value("select effect::text from millrace.begin_request('POST /jobs', 'k', 'f')"),
      effect);
  // A repeat of the effect itself, after its answer was lost, is refused as a whole.
  EXPECT_EQ(service.refused(kEnqueue, pg::params(first.token)).sqlstate, "MR033");
  EXPECT_EQ(jobs(), 1);
}

// Soon while it is young, since most end at once; never later than its lease, should its server be
// dead.
TEST_F(Requests, one_that_runs_says_when_to_ask_again) {
  stop_clock(sql);
  begin(service);
  const auto told = [&] {
    return service.value(
        "select headers ->> 'retry-after' from millrace.begin_request('POST /jobs', 'k', 'f')");
  };
  EXPECT_EQ(told(), "1");
  pass(sql, "8 seconds");
  EXPECT_EQ(told(), "8");
  pass(sql, "37 seconds");
  EXPECT_EQ(told(), "15") << "what is left of the lease";
  pass(sql, "14 seconds");
  EXPECT_EQ(told(), "1");
}

// The server that died, or stood still, is replaced; what it would still do is undone.
TEST_F(Requests, a_stalled_server_does_nothing_once_it_was_replaced) {
  stop_clock(sql);
  const auto first = begin(service);
  pass(sql, "61 seconds");
  const auto second = begin(service);
  EXPECT_EQ(second.answer, "started");
  EXPECT_NE(second.token, first.token);
  EXPECT_EQ(service.refused(kEnqueue, pg::params(first.token)).sqlstate, "MR033");
  EXPECT_EQ(service.refused(kFinish, pg::params(first.token)).sqlstate, "MR033");
  EXPECT_EQ(jobs(), 0);
  service.run(kEnqueue, pg::params(second.token));
  EXPECT_EQ(jobs(), 1);
}

TEST_F(Requests, of_two_at_once_one_does_it) {
  ServerSession other{database, kTenant, "service_role"};
  service.script("begin");
  EXPECT_EQ(begin(service).answer, "started");
  Begun second;
  std::jthread waiting([&] { second = begin(other); });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  service.script("commit");
  waiting.join();
  EXPECT_EQ(second.answer, "running");
}

TEST_F(Requests, one_that_came_to_nothing_can_be_tried_again) {
  const auto first = begin(service);
  service.run("select millrace.release_request('POST /jobs', 'k', $1::uuid)",
              pg::params(first.token));
  EXPECT_EQ(begin(service, "other").answer, "started");
  // Only by who holds it, and not once it is done.
  service.run("select millrace.release_request('POST /jobs', 'k', $1::uuid)",
              pg::params(first.token));
  EXPECT_EQ(begin(service, "other").answer, "running");
}

TEST_F(Requests, answers_are_kept_for_a_day) {
  stop_clock(sql);
  service.run(kFinish, pg::params(begin(service).token));
  pass(sql, "23 hours");
  EXPECT_EQ(begin(service).answer, "done");
  EXPECT_EQ(sql.number("select millrace.expire_keys(10)"), 0);
  pass(sql, "2 hours");
  EXPECT_EQ(begin(service, "other").answer, "started");
  pass(sql, "25 hours");
  EXPECT_EQ(sql.number("select millrace.expire_keys(10)"), 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.http_request"), 0);
}

// One user never reads what was answered to another, nor a tenant.
TEST_F(Requests, keys_of_tenants_users_and_routes_do_not_meet) {
  User ada{database, kAda};
  User bob{database, kBob};
  User elsewhere{database, kAda, kOther};
  ServerSession other{database, kOther, "service_role"};
  for (auto* session :
       {static_cast<Session*>(&service), static_cast<Session*>(&ada), static_cast<Session*>(&bob),
        static_cast<Session*>(&elsewhere), static_cast<Session*>(&other)}) {
    EXPECT_EQ(begin(*session).answer, "started");
  }
  EXPECT_EQ(begin(ada, "f", "k", "POST /files").answer, "started");
  EXPECT_EQ(begin(ada).answer, "running");
  for (const auto* role : {"millrace_api", "millrace_reader", "service_role", "authenticated"}) {
    Session session{database, role};
    EXPECT_EQ(session.refused("select * from millrace.http_request").sqlstate, "42501") << role;
  }
}

TEST_F(Requests, bounds_are_kept) {
  for (const auto* call : {"select millrace.begin_request(null, 'k', 'f')",
                           "select millrace.begin_request('s', '', 'f')",
                           "select millrace.begin_request('s', repeat('x', 1025), 'f')",
                           "select millrace.begin_request('s', 'k', null)",
                           "select millrace.begin_request('s', 'k', 'f', '0 s')",
                           "select millrace.begin_request('s', 'k', 'f', '1 s', '31 days')"}) {
    EXPECT_EQ(service.refused(call).sqlstate, "MR024") << call;
  }
  const auto token = begin(service).token;
  EXPECT_EQ(service
                .refused("select millrace.finish_request('POST /jobs', 'k', $1::uuid, 200, '{}', "
                         "convert_to(repeat('x', 262145), 'UTF8'))",
                         pg::params(token))
                .sqlstate,
            "MR024");
}

}  // namespace
}  // namespace millrace::test
