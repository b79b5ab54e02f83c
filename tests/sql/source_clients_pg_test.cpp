// The sources' SQL clients: the functions of the Guardian plan with their exact signatures, as
// service_role and through a pooled connection, and what happens to callers that are too late.
#include "session.h"

#include <map>
#include <set>
#include <vector>

namespace millrace::test {
namespace {

class SourceClients : public ::testing::Test {
 protected:
  std::string enqueue(std::string_view type = "fast_queue_ocr",
                      std::string_view payload = R"({"shell_file_id": "s1"})") {
    return client_.value("select millrace.enqueue_job_v3($1, 'a job', $2::jsonb)",
                         pg::params(type, payload));
  }
  std::string claim(std::string_view worker) {
    return client_.value("select c.job_id from millrace.claim_next_job_v3($1) c",
                         pg::params(worker));
  }
  std::string column(std::string_view name, std::string_view id) {
    return client_.value(fmt::format("select {} from millrace.job_queue q where q.id = $1", name),
                         pg::params(id));
  }
  std::string detail(std::string_view key, std::string_view id) {
    return client_.value("select q.error_details ->> $2 from millrace.job_queue q where q.id = $1",
                         pg::params(id, key));
  }
  void expire_lease(std::string_view id) {
    owner_.run(
        "update millrace.lease set lease_until = millrace.now() - interval '1 s' "
        "where job_id = $1",
        pg::params(id));
  }
  void make_due() { owner_.run("update millrace.delayed set due_at = millrace.now()"); }
  std::int64_t audit_rows(std::string_view id) {
    return owner_.number("select count(*) from millrace.audit where job_ids @> array[$1::uuid]",
                         pg::params(id));
  }

  TestDatabase database_;
  Session owner_{database_};
  Session client_{database_, "service_role"};
};

TEST_F(SourceClients, HaveTheSignaturesOfTheSources) {
  const std::map<std::string, std::string> wanted = {
      {"enqueue_job_v3",
       "(job_type text, job_name text, job_payload jsonb, job_category text DEFAULT "
       "'standard'::text, priority integer DEFAULT 5, scheduled_at timestamp with "
       "time zone DEFAULT now()) uuid"},
      {"claim_next_job_v3",
       "(worker_id text, job_types text[] DEFAULT NULL::text[]) TABLE(job_id uuid, "
       "job_type text, job_payload jsonb, retry_count integer)"},
      {"claim_next_job",
       "(worker_id text, job_types text[] DEFAULT NULL::text[]) TABLE(job_id uuid, "
       "job_type text, payload jsonb, retry_count integer)"},
      {"update_job_heartbeat", "(p_job_id uuid, p_worker_id text) boolean"},
      {"reschedule_job",
       "(p_job_id uuid, p_delay_seconds integer, p_reason text, p_add_jitter boolean "
       "DEFAULT true, p_worker_id text DEFAULT NULL::text) boolean"},
      {"complete_job",
       "(p_job_id uuid, p_worker_id text, p_job_result jsonb DEFAULT NULL::jsonb) boolean"},
      {"fail_job",
       "(p_job_id uuid, p_worker_id text, p_error jsonb, p_retryable boolean DEFAULT true, "
       "p_retry_after integer DEFAULT NULL::integer) boolean"},
      {"cancel_job",
       "(p_job_id uuid, p_user_id uuid DEFAULT NULL::uuid, p_reason text DEFAULT "
       "NULL::text) boolean"},
      {"create_export_job",
       "(p_user_id uuid, p_document_id uuid, p_options jsonb DEFAULT "
       "'{}'::jsonb) uuid"},
      {"fetch_next_export_job",
       "(p_user_id uuid DEFAULT NULL::uuid) TABLE(id uuid, user_id uuid, document_id uuid, format "
       "text, "
       "options jsonb, status text, progress integer, attempts integer, max_attempts integer, "
       "run_after "
       "timestamp with time zone, result_url text, file_size integer, page_count integer, "
       "error_message "
       "text, locked_by text, started_at timestamp with time zone, completed_at timestamp with "
       "time "
       "zone, created_at timestamp with time zone)"},
      {"acquire_api_capacity",
       "(p_provider_name text, p_api_endpoint text, p_estimated_tokens integer "
       "DEFAULT 1000) boolean"},
      {"release_api_capacity",
       "(p_provider_name text, p_api_endpoint text, p_estimated_tokens integer "
       "DEFAULT 1000, p_actual_tokens integer DEFAULT NULL::integer) void"},
      {"calculate_retry_delay", "(p_attempt integer) integer"},
      {"update_job_progress", "(p_job_id uuid, p_pct integer) boolean"},
      {"reset_stuck_jobs", "() integer"},
      {"can_process_more_jobs", "() boolean"},
      {"log_audit_event",
       "(p_table_name text, p_record_id text, p_operation text, p_old_values jsonb, "
       "p_new_values jsonb, p_reason text, p_category text DEFAULT 'system'::text, "
       "p_patient_id uuid DEFAULT NULL::uuid) bigint"},
  };
  for (const auto& [name, signature] : wanted) {
    EXPECT_EQ(owner_.value("select '(' || pg_get_function_arguments(p.oid) || ') ' || "
                           "pg_get_function_result(p.oid) from pg_proc p where p.proname = $1 and "
                           "p.pronamespace = 'millrace'::regnamespace",
                           pg::params(name)),
              signature)
        << name;
  }
}

// The bar: the whole life of a job through the sources' functions, by one client role.
TEST_F(SourceClients, DriveAJobFromEnqueueToCompletion) {
  const auto id = client_.value(
      "select millrace.enqueue_job_v3(job_type => 'ai_queue_pass1', job_name => 'Pass 1', "
      "job_payload => '{\"text\": \"x\"}', priority => 7)");
  EXPECT_EQ(column("status", id), "pending");
  EXPECT_EQ(column("priority", id), "7");

  const auto claimed = client_.rows(
      "select * from millrace.claim_next_job_v3(worker_id => 'w1', job_types => "
      "array['ai_queue_pass1'])");
  ASSERT_EQ(claimed.rows(), 1U);
  EXPECT_EQ(claimed[0].text("job_id"), id);
  EXPECT_EQ(claimed[0].text("job_type"), "ai_queue_pass1");
  EXPECT_EQ(claimed[0].text("job_payload"), R"({"text": "x", "estimated_tokens": 1000})");
  EXPECT_EQ(claimed[0].i32("retry_count"), 0);
  EXPECT_EQ(column("status", id), "processing");
  EXPECT_EQ(claim("w2"), "(none)");

  EXPECT_TRUE(client_.yes("select millrace.update_job_heartbeat($1, 'w1')", pg::params(id)));
  EXPECT_TRUE(client_.yes("select millrace.acquire_api_capacity('openai', 'gpt-4o-mini', 500)"));
  client_.run("select millrace.release_api_capacity('openai', 'gpt-4o-mini', 500, 450)");

  EXPECT_TRUE(
      client_.yes("select millrace.reschedule_job($1, 30, 'api_rate_limit_backpressure', true)",
                  pg::params(id)));
  EXPECT_EQ(column("status", id), "pending");
  EXPECT_EQ(column("retry_count", id), "0");
  make_due();
  EXPECT_EQ(client_.value("select c.payload ->> 'text' from millrace.claim_next_job('w2') c"), "x");
  EXPECT_TRUE(
      client_.yes("select millrace.complete_job($1, 'w2', '{\"pages\": 3}')", pg::params(id)));
  EXPECT_EQ(column("status", id), "completed");
  EXPECT_EQ(column("job_result", id), R"({"pages": 3})");
}

TEST_F(SourceClients, WorkOnAPooledConnectionWhoseSettingsEndedWithTheirTransactions) {
  const auto id = enqueue();
  Session pooled{database_};
  for (int round = 0; round < 3; ++round) {
    pooled.script(
        "begin; set local role service_role; "
        "set local request.jwt.claims = '{\"role\": \"service_role\"}'; "
        "set local millrace.tenant_id = '00000000-0000-0000-0000-000000000000'");
    pooled.run("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}')");
    pooled.script("commit");
    // What the settings read as now; casting it raised in the source.
    EXPECT_EQ(pooled.value("select current_setting('request.jwt.claims', true)"), "");
    pooled.script("begin; set local role service_role");
    EXPECT_EQ(pooled.number("select count(*) from millrace.job_queue"), 2 + round);
    pooled.run("select millrace.update_job_heartbeat($1, 'nobody')", pg::params(id));
    pooled.script("rollback");
  }
}

TEST_F(SourceClients, AreRefusedAsAnonAndAuthenticated) {
  for (const auto* role : {"anon", "authenticated"}) {
    Session stranger{database_, role};
    for (const auto* call :
         {"select millrace.enqueue_job_v3('backup_operation', 'n', '{\"a\": 1}')",
          "select * from millrace.claim_next_job_v3('w')",
          "select * from millrace.claim_next_job('w')",
          "select millrace.update_job_heartbeat(gen_random_uuid(), 'w')",
          "select millrace.reschedule_job(gen_random_uuid(), 1, 'r')",
          "select millrace.complete_job(gen_random_uuid(), 'w')",
          "select millrace.fail_job(gen_random_uuid(), 'w', '{}')",
          "select millrace.acquire_api_capacity('openai', 'gpt-4o-mini')",
          "select millrace.release_api_capacity('openai', 'gpt-4o-mini')",
          "select * from millrace.fetch_next_export_job()"}) {
      EXPECT_EQ(stranger.refused(call).sqlstate, "42501") << role << ": " << call;
    }
  }
}

TEST_F(SourceClients, RefuseBadJobsWithTheSourcesMessages) {
  const auto unknown =
      client_.refused("select millrace.enqueue_job_v3('nonsense', 'n', '{\"a\": 1}')");
  EXPECT_EQ(unknown.sqlstate, "MR002");
  EXPECT_TRUE(unknown.message.starts_with("Invalid job_type. Allowed: {fast_queue_security,"))
      << unknown.message;
  for (const auto* empty : {"null", "'{}'"}) {
    const auto refused = client_.refused(
        fmt::format("select millrace.enqueue_job_v3('audit_cleanup', 'n', {})", empty));
    EXPECT_EQ(refused.sqlstate, "MR003");
    EXPECT_EQ(refused.message, "job_payload cannot be empty");
  }
  const auto missing =
      client_.refused("select millrace.enqueue_job_v3('fast_queue_security', 'n', '{\"a\": 1}')");
  EXPECT_EQ(missing.message, "fast_queue jobs require shell_file_id in payload");
  EXPECT_EQ(client_
                .refused("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}', "
                         "'standard', 1001)")
                .sqlstate,
            "MR005");
  EXPECT_EQ(client_
                .refused("select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}', "
                         "scheduled_at => 'infinity')")
                .sqlstate,
            "MR006");
  EXPECT_EQ(client_.refused("select * from millrace.claim_next_job_v3('')").sqlstate, "MR024");
  EXPECT_EQ(owner_.number("select count(*) from millrace.job_fact"), 0);
}

TEST_F(SourceClients, FillInWhatTheCallerLeftOut) {
  const auto id = client_.value(
      "select millrace.enqueue_job_v3('audit_cleanup', null, '{\"a\": 1}', "
      "null, null, null)");
  EXPECT_EQ(column("priority", id), "5");
  EXPECT_EQ(column("job_category", id), "standard");
  EXPECT_EQ(column("job_payload ->> 'estimated_tokens'", id), "1000");
  EXPECT_EQ(column("max_retries", id), "11");
  const auto own = enqueue("ai_queue_pass1", R"({"estimated_tokens": 77})");
  EXPECT_EQ(column("job_payload ->> 'estimated_tokens'", own), "77");
  EXPECT_EQ(column("max_retries", own), "6");
}

TEST_F(SourceClients, PostponeAJobOfABusyProvider) {
  owner_.run(
      "update millrace.api_rate_limits set requests_per_minute = 10, tokens_per_minute = null "
      "where api_endpoint = 'gpt-4o-mini'");
  const auto before = enqueue("ai_queue_pass1", R"({"a": 1})");
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(client_.yes("select millrace.acquire_api_capacity('openai', 'gpt-4o-mini')"));
    client_.run("select millrace.release_api_capacity('openai', 'gpt-4o-mini')");
  }
  const auto after = enqueue("ai_queue_pass1", R"({"a": 1})");
  EXPECT_EQ(column("scheduled_at <= millrace.now()", before), "t");
  EXPECT_EQ(
      column("scheduled_at between created_at + interval '4 s' and created_at + interval '6 s'",
             after),
      "t");
  const auto unbound = enqueue("audit_cleanup", R"({"a": 1})");
  const std::set<std::string> due = {claim("w1"), claim("w1")};
  EXPECT_EQ(due, (std::set<std::string>{before, unbound}));
  EXPECT_EQ(claim("w1"), "(none)");
}

TEST_F(SourceClients, GiveOutTheHighestPriorityFirstThenTheOldest) {
  const auto low = client_.value(
      "select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}', "
      "priority => 1)");
  const auto old = enqueue("audit_cleanup", R"({"a": 1})");
  const auto young = enqueue("audit_cleanup", R"({"a": 2})");
  const auto high = client_.value(
      "select millrace.enqueue_job_v3('audit_cleanup', 'n', '{\"a\": 1}', "
      "priority => 9)");
  EXPECT_EQ(client_.value("select c.job_id from millrace.claim_next_job_v3('w', array['noop']) c"),
            "(none)");
  EXPECT_EQ(claim("w"), high);
  EXPECT_EQ(claim("w"), old);
  EXPECT_EQ(claim("w"), young);
  EXPECT_EQ(claim("w"), low);
  EXPECT_EQ(claim("w"), "(none)");
}

TEST_F(SourceClients, BeatOnlyForTheJobTheyHold) {
  const auto id = enqueue();
  EXPECT_FALSE(client_.yes("select millrace.update_job_heartbeat($1, 'w1')", pg::params(id)));
  ASSERT_EQ(claim("w1"), id);
  EXPECT_EQ(column("lease_expires_at - heartbeat_at", id), "00:05:00");
  EXPECT_FALSE(client_.yes("select millrace.update_job_heartbeat($1, 'w2')", pg::params(id)));
  const auto first = column("heartbeat_at", id);
  EXPECT_TRUE(client_.yes("select millrace.update_job_heartbeat($1, 'w1')", pg::params(id)));
  EXPECT_NE(column("heartbeat_at", id), first);
  // Configuration counts from the next call on.
  owner_.run("select millrace.set_config_value('worker.timeout_seconds', '60')");
  EXPECT_TRUE(client_.yes("select millrace.update_job_heartbeat($1, 'w1')", pg::params(id)));
  EXPECT_EQ(column("round(extract(epoch from lease_expires_at - heartbeat_at))", id), "60");
}

// C-10, C-11, C02: without a keeper the next claim takes over what was lost, each row with its own
// delay.
TEST_F(SourceClients, TakeOverLostJobsWhereNoKeeperRuns) {
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(enqueue());
  for (int i = 0; i < 20; ++i) claim("w1");
  for (const auto& id : ids) expire_lease(id);
  EXPECT_EQ(claim("w2"), "(none)");
  std::set<std::string> delays;
  for (const auto& id : ids) {
    EXPECT_EQ(column("status", id), "pending");
    EXPECT_EQ(column("retry_count", id), "1");
    EXPECT_EQ(column("coalesce(worker_id, '-') || coalesce(started_at::text, '-') || "
                     "coalesce(heartbeat_at::text, '-')",
                     id),
              "---");
    EXPECT_EQ(detail("error_type", id), "worker_timeout");
    EXPECT_EQ(detail("original_worker", id), "w1");
    EXPECT_NE(detail("timeout_at", id), "(null)");
    EXPECT_EQ(column("scheduled_at between updated_at and updated_at + interval '60 s'", id), "t");
    delays.insert(detail("reclaim_jitter_seconds", id));
  }
  EXPECT_GT(delays.size(), 15U);
  EXPECT_FALSE(client_.yes("select millrace.complete_job($1, 'w1')", pg::params(ids[0])));
}

// C01: claiming only claims while a keeper does its duty.
TEST_F(SourceClients, LeaveLostJobsToTheKeeperWhereOneRuns) {
  const auto id = enqueue();
  claim("w1");
  expire_lease(id);
  owner_.run("select millrace.elect('keeper', 'k1', interval '1 hour')");
  EXPECT_EQ(claim("w2"), "(none)");
  EXPECT_EQ(column("status", id), "processing");
  owner_.run("select millrace.resign('keeper', 'k1')");
  EXPECT_EQ(claim("w2"), "(none)");
  EXPECT_EQ(column("status", id), "pending");
}

// C-12: the last lost delivery is a dead letter that says who lost it and why.
TEST_F(SourceClients, DeadLetterAJobThatWasLostTooOften) {
  const auto id = enqueue();
  for (int i = 1; i <= 7; ++i) {
    ASSERT_EQ(claim(fmt::format("w{}", i)), id);
    expire_lease(id);
    EXPECT_EQ(client_.number("select millrace.reset_stuck_jobs()"), 1);
    make_due();
  }
  EXPECT_EQ(column("status", id), "failed");
  EXPECT_EQ(column("retry_count", id), "6");
  EXPECT_EQ(column("dead_letter_at = completed_at", id), "t");
  EXPECT_EQ(detail("dead_letter_reason", id), "exceeded_max_retries_after_timeout");
  EXPECT_EQ(detail("final_worker", id), "w7");
  EXPECT_NE(detail("dead_lettered_at", id), "(null)");
  EXPECT_EQ(claim("w8"), "(none)");
  EXPECT_FALSE(client_.yes("select millrace.complete_job($1, 'w7')", pg::params(id)));
  EXPECT_EQ(column("status", id), "failed");
}

// R-16, R-17, R-18.
TEST_F(SourceClients, RescheduleWhatRunsWithoutChargingAnAttempt) {
  const auto id = enqueue();
  EXPECT_FALSE(client_.yes("select millrace.reschedule_job($1, 10, 'r')", pg::params(id)));
  claim("w1");
  EXPECT_FALSE(
      client_.yes("select millrace.reschedule_job($1, 10, 'r', true, 'w2')", pg::params(id)));
  EXPECT_EQ(client_.refused("select millrace.reschedule_job($1, -1, 'r')", pg::params(id)).sqlstate,
            "MR006");
  EXPECT_TRUE(client_.yes("select millrace.reschedule_job($1, 100, 'backpressure', true, 'w1')",
                          pg::params(id)));
  EXPECT_EQ(column("retry_count", id), "0");
  EXPECT_EQ(detail("reschedule_reason", id), "backpressure");
  EXPECT_EQ(detail("reschedule_delay_seconds", id), "100");
  const auto jitter = std::stoi(detail("jitter_seconds", id));
  EXPECT_GE(jitter, 0);
  EXPECT_LE(jitter, 30);
  EXPECT_EQ(detail("total_delay_seconds", id), std::to_string(100 + jitter));
  EXPECT_EQ(
      column(fmt::format("round(extract(epoch from scheduled_at - updated_at)) - {}", 100 + jitter),
             id),
      "0");
  EXPECT_EQ(
      owner_.number("select count(*) from millrace.api_rate_limits where throttled_until is not "
                    "null"),
      0);
  make_due();
  claim("w1");
  client_.run("select millrace.reschedule_job($1, 4, 'r', false)", pg::params(id));
  EXPECT_EQ(detail("jitter_seconds", id), "0");
  make_due();
  claim("w1");
  client_.run("select millrace.complete_job($1, 'w1')", pg::params(id));
  // A finished job never runs again.
  EXPECT_FALSE(client_.yes("select millrace.reschedule_job($1, 0, 'r')", pg::params(id)));
  EXPECT_EQ(column("status", id), "completed");
}

// B01, B02: a caller that is too late changes nothing, leaves no audit row, and is told so.
TEST_F(SourceClients, CompleteOnlyWhatTheyHold) {
  const auto id = enqueue();
  claim("w1");
  expire_lease(id);
  client_.run("select millrace.reset_stuck_jobs()");
  make_due();
  ASSERT_EQ(claim("w2"), id);
  const auto audited = audit_rows(id);
  EXPECT_FALSE(
      client_.yes("select millrace.complete_job($1, 'w1', '{\"stale\": true}')", pg::params(id)));
  EXPECT_FALSE(client_.yes("select millrace.complete_job($1, null)", pg::params(id)));
  EXPECT_EQ(audit_rows(id), audited);
  EXPECT_EQ(column("status", id), "processing");

  EXPECT_TRUE(client_.yes("select millrace.complete_job($1, 'w2', '{\"n\": 1}')", pg::params(id)));
  EXPECT_EQ(audit_rows(id), audited + 1);
  // The answer was lost and the worker asks again.
  EXPECT_TRUE(client_.yes("select millrace.complete_job($1, 'w2', '{\"n\": 2}')", pg::params(id)));
  EXPECT_FALSE(client_.yes("select millrace.complete_job($1, 'w1', '{\"n\": 3}')", pg::params(id)));
  EXPECT_EQ(audit_rows(id), audited + 1);
  EXPECT_EQ(column("job_result", id), R"({"n": 1})");

  const auto nobody = client_.value("select gen_random_uuid()");
  EXPECT_FALSE(client_.yes("select millrace.complete_job($1, 'w2')", pg::params(nobody)));
  EXPECT_EQ(audit_rows(nobody), 0);
  claim("w3");
  const auto big = client_.refused(
      "select millrace.complete_job($1, 'w2', to_jsonb(repeat("
      "md5(random()::text), 9000)))",
      pg::params(id));
  EXPECT_EQ(big.sqlstate, "MR004");
}

TEST_F(SourceClients, SettleWithoutWaitingForOneAnother) {
  const auto first = enqueue("audit_cleanup", R"({"a": 1})");
  const auto second = enqueue("audit_cleanup", R"({"a": 1})");
  claim("w1");
  claim("w1");
  expire_lease(first);
  Session slow{database_, "service_role"};
  slow.script("begin");
  EXPECT_TRUE(slow.yes("select millrace.complete_job($1, 'w1')", pg::params(first)));
  // The lease is gone for everybody else as soon as that commits, and not looked at before.
  must(client_.connection().query("set lock_timeout = '2s'"));
  EXPECT_EQ(client_.number("select millrace.reset_stuck_jobs()"), 0);
  EXPECT_EQ(claim("w2"), "(none)");
  EXPECT_TRUE(client_.yes("select millrace.complete_job($1, 'w1')", pg::params(second)));
  slow.script("rollback");
  EXPECT_EQ(client_.number("select millrace.reset_stuck_jobs()"), 1);
}

// R-07, R-08, R-11, D01.
TEST_F(SourceClients, FailAJobUntilItsAttemptsAreUsedUp) {
  const auto id = enqueue();
  for (int attempt = 1; attempt <= 7; ++attempt) {
    ASSERT_EQ(claim("w1"), id);
    EXPECT_TRUE(client_.yes("select millrace.fail_job($1, 'w1', $2::jsonb)",
                            pg::params(id, fmt::format(R"({{"message": "no {}"}})", attempt))));
    if (attempt == 7) break;
    EXPECT_EQ(column("status", id), "pending");
    EXPECT_EQ(column("retry_count", id), std::to_string(attempt));
    const auto base = 1 << attempt;  // 2, 4 … 64 s and up to a tenth more.
    EXPECT_EQ(
        column(fmt::format("extract(epoch from scheduled_at - updated_at) between {0} and {0} * "
                           "1.1 + 0.001",
                           base),
               id),
        "t");
    EXPECT_TRUE(client_.yes("select millrace.fail_job($1, 'w1', '{}')", pg::params(id)));
    EXPECT_EQ(column("retry_count", id), std::to_string(attempt));
    make_due();
  }
  EXPECT_EQ(column("status", id), "failed");
  EXPECT_EQ(detail("message", id), "no 7");
  EXPECT_EQ(detail("dead_letter_reason", id), "exceeded_max_retries");
  EXPECT_EQ(
      owner_.number("select count(*) from millrace.attempt where job_id = $1", pg::params(id)), 7);
}

TEST_F(SourceClients, FailAsToldAndOnlyWhatTheyHold) {
  const auto id = enqueue();
  EXPECT_FALSE(client_.yes("select millrace.fail_job($1, 'w1', '{}')", pg::params(id)));
  claim("w1");
  EXPECT_FALSE(client_.yes("select millrace.fail_job($1, 'w2', '{}')", pg::params(id)));
  EXPECT_EQ(client_.refused("select millrace.fail_job($1, 'w1', '[1]')", pg::params(id)).sqlstate,
            "MR024");
  EXPECT_EQ(client_.refused("select millrace.fail_job($1, 'w1', '{}', true, -5)", pg::params(id))
                .sqlstate,
            "MR006");
  EXPECT_TRUE(client_.yes("select millrace.fail_job($1, 'w1', '\"plain words\"', true, 300)",
                          pg::params(id)));
  EXPECT_EQ(detail("message", id), "plain words");
  EXPECT_EQ(column("round(extract(epoch from scheduled_at - updated_at))", id), "300");
  make_due();
  claim("w1");
  EXPECT_TRUE(client_.yes("select millrace.fail_job($1, 'w1', '{\"error\": \"bad file\"}', false)",
                          pg::params(id)));
  EXPECT_EQ(column("status", id), "failed");
  EXPECT_EQ(column("retry_count", id), "1");
  // Lost, not failed: the worker that lost the job has nothing to say about it any more.
  const auto lost = enqueue();
  claim("w9");
  expire_lease(lost);
  client_.run("select millrace.reset_stuck_jobs()");
  EXPECT_FALSE(client_.yes("select millrace.fail_job($1, 'w9', '{}')", pg::params(lost)));
}

}  // namespace
}  // namespace millrace::test
