// Moving jobs over, source by source: what of a job is kept, and which jobs stay. The tables are
// those of tests/sql/import_world.h.
#include "sql/import_world.h"

namespace millrace::test {
namespace {

using ImportSource = EngineTest;

constexpr const char* kUser = "00000000-0000-4000-8000-0000000000aa";
constexpr const char* kDocument = "00000000-0000-4000-8000-0000000000dd";

// The only job that a batch moved.
std::string move_one(Session& sql, const std::string& source, const std::string& schema,
                     const std::string& map = "{}") {
  const auto moved = move_batch(sql, source, schema, {.map = map});
  if (moved.size() != 1) throw std::runtime_error(fmt::format("{} were moved", moved.size()));
  EXPECT_EQ(moved[0].reason, "");
  return moved[0].job_id;
}

std::string fact(Session& sql, const std::string& id, const std::string& field) {
  return sql.value("select to_jsonb(f) ->> $2 from millrace.job_fact f where f.job_id = $1",
                   pg::params(id, field));
}

// --- Guardian ---

TEST_F(ImportSource, GuardianKeepsIdNamePayloadPriorityDueTimeAndTheAttemptsLeft) {
  sql.script(kGuardianTables);
  const auto id = sql.value(R"(
    insert into public.job_queue (job_type, job_name, job_category, job_payload, priority,
      scheduled_at, retry_count, max_retries) values ('fast_queue_ocr', 'Process a.pdf', 'urgent',
      '{"shell_file_id": "f", "correlation_id": "c-1", "estimated_tokens": 7}', 42,
      now() + interval '1 hour', 2, 6) returning id)");
  const auto due = sql.value("select scheduled_at from public.job_queue");
  EXPECT_EQ(move_one(sql, "guardian", "public"), id);
  EXPECT_EQ(fact(sql, id, "job_name"), "Process a.pdf");
  EXPECT_EQ(fact(sql, id, "job_category"), "urgent");
  EXPECT_EQ(fact(sql, id, "priority"), "42");
  EXPECT_EQ(fact(sql, id, "max_attempts"), "5") << "of seven attempts two are used";
  EXPECT_EQ(fact(sql, id, "correlation_id"), "c-1");
  EXPECT_EQ(sql.value("select scheduled_at from millrace.job_fact"), due);
  EXPECT_EQ(sql.value("select payload -> 'estimated_tokens' from millrace.job_fact"), "7");
  EXPECT_EQ(job(sql, id, "queue"), "fast_queue");
  EXPECT_EQ(sql.value("select status || ' ' || (error_details ->> 'moved_to') || ' ' || "
                      "(error_details ->> 'job_id') from public.job_queue"),
            "cancelled millrace " + id);
  EXPECT_EQ(sql.value("select action from millrace.job_audit($1) where action = 'imported'",
                      pg::params(id)),
            "imported");
}

TEST_F(ImportSource, GuardianOfVersionTwoHasOtherColumns) {
  sql.script(kGuardianV2Tables);
  const auto id = sql.value(
      "insert into public.job_queue (job_type, payload) values ('ai_queue_pass1', '{\"n\": 1}') "
      "returning id");
  EXPECT_EQ(move_one(sql, "guardian", "public"), id);
  EXPECT_EQ(fact(sql, id, "payload"), "{\"n\": 1}");
  EXPECT_EQ(sql.value("select error ->> 'job_id' from public.job_queue"), id);
}

TEST_F(ImportSource, GuardianPrioritiesOutsideOurScaleAreItsEnds) {
  sql.script(kGuardianTables);
  sql.script(
      "insert into public.job_queue (job_type, job_payload, priority) values "
      "('audit_cleanup', '{\"n\": 1}', -3), ('audit_cleanup', '{\"n\": 2}', 5000), "
      "('audit_cleanup', '{\"n\": 3}', null)");
  move_batch(sql, "guardian", "public");
  EXPECT_EQ(sql.value("select string_agg(priority::text, ',' order by (payload ->> 'n')) from "
                      "millrace.job_fact"),
            "0,1000,5");
}

// L-16: the backlog of a provider bounds what producers add, not what was accepted elsewhere.
TEST_F(ImportSource, ABacklogBeyondTheLimitsOfAProviderIsLetIn) {
  sql.script(kGuardianTables);
  sql.script(
      "update millrace.api_rate_limits set queue_depth_limit = 3;"
      "insert into public.job_queue (job_type, job_payload) select 'ai_queue_pass1', "
      "jsonb_build_object('n', i) from generate_series(1, 20) i");
  EXPECT_EQ(move_batch(sql, "guardian", "public").size(), 20U);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 20);
}

TEST_F(ImportSource, JobsThatTheEngineWouldRefuseStayAndTheOthersAreMoved) {
  sql.script(kGuardianTables);
  sql.script(R"(
    insert into public.job_queue (job_type, job_payload, scheduled_at) values
      ('audit_cleanup', '{"n": 1}', now()), ('audit_cleanup', '{}', now()),
      ('audit_cleanup', '[1]', now()), ('fast_queue_ocr', '{"n": 1}', now()),
      ('audit_cleanup', jsonb_build_object('t', repeat('x', 262144)), now()),
      ('audit_cleanup', '{"n": 1}', 'infinity'), ('audit_cleanup', '{"n": 2}', null),
      ('ai_queue_pass1', '{"estimated_tokens": 300000}', now()))");
  EXPECT_EQ(report(sql, "guardian", "public"),
            "to move 2; cost over limit (MR014) 1; invalid payload (MR003) 3; invalid schedule "
            "(MR006) 1; payload too large (MR004) 1");
  std::string skip;
  std::size_t moved = 0;
  for (const auto& one : move_batch(sql, "guardian", "public")) {
    if (one.job_id.empty()) skip += (skip.empty() ? "" : ",") + one.source_id;
    moved += one.job_id.empty() ? 0 : 1;
  }
  EXPECT_EQ(moved, 2U);
  EXPECT_TRUE(move_batch(sql, "guardian", "public", {.skip = "{" + skip + "}"}).empty());
  EXPECT_EQ(sql.number("select count(*) from public.job_queue where status = 'pending'"), 6);
  EXPECT_EQ(imbalance(sql), "");
}

// --- Export ---

TEST_F(ImportSource, ExportsBelongToTheirUserAndAreFoundWhenTheUserAsksAgain) {
  sql.script(kExportTables);
  const auto id = sql.value(R"(
    insert into public.export_jobs (user_id, document_id, format, options, status, attempts,
      run_after) values ($1, $2, 'pdf', '{"quality": "high", "pageSize": "A4"}', 'pending', 2,
      now() + interval '4 minutes') returning id)",
                            pg::params(kUser, kDocument));
  EXPECT_EQ(move_one(sql, "export", "public"), id);
  EXPECT_EQ(fact(sql, id, "owner_id"), kUser);
  EXPECT_EQ(fact(sql, id, "tenant_id"), kUser) << "the tenant that a token without one gives";
  EXPECT_EQ(fact(sql, id, "concurrency_key"), kUser);
  EXPECT_EQ(fact(sql, id, "max_attempts"), "3");
  EXPECT_EQ(sql.value("select status || ' ' || document_id || ' ' || (options ->> 'pageSize') from "
                      "millrace.export_jobs"),
            fmt::format("pending {} A4", kDocument));
  Session service{database, "service_role"};
  EXPECT_EQ(service.value("select millrace.create_export_job($1, $2, $3::jsonb)",
                          pg::params(kUser, kDocument, R"({"pageSize": "A4", "quality": "high"})")),
            id);
  EXPECT_EQ(sql.value("select error_message from public.export_jobs"),
            "moved to Millrace as job " + id);
}

// Two live jobs may share what makes them equal here; neither may be lost for it.
TEST_F(ImportSource, EqualExportsAreBothMovedAndTheFirstHasTheKey) {
  sql.script(kExportTables);
  sql.script(
      fmt::format("insert into public.export_jobs (user_id, document_id, format, options, "
                  "status) select '{}', '{}', 'pdf', '{{}}', 'pending' from "
                  "generate_series(1, 3)",
                  kUser, kDocument));
  EXPECT_EQ(move_batch(sql, "export", "public", {.limit = 2}).size(), 2U);
  EXPECT_EQ(move_batch(sql, "export", "public").size(), 1U);
  EXPECT_EQ(sql.value("select count(*) || ' ' || count(dedupe_key) from millrace.job_fact"), "3 1");
}

TEST_F(ImportSource, ACallThatIsConfinedToATenantMovesIntoIt) {
  sql.script(kExportTables);
  sql.run(
      "insert into public.export_jobs (user_id, document_id, format, options, status) "
      "values ($1, $2, 'pdf', '{}', 'pending')",
      pg::params(kUser, kDocument));
  as_tenant(sql, kDocument);
  const auto id = move_one(sql, "export", "public");
  EXPECT_EQ(fact(sql, id, "tenant_id"), kDocument);
  EXPECT_EQ(fact(sql, id, "owner_id"), kUser);
}

// --- BaseWorker ---

TEST_F(ImportSource, BaseWorkerStagesGoOnWhereTheyStood) {
  sql.script(kBaseWorkerTables);
  const auto id = sql.value(R"(
    insert into public.upload_jobs (user_id, document_id, status, raw_path, parsed_path,
      parsed_sha256, progress, retry_count, last_error, webhook_secret)
    values ($1, $2, 'chunks_stored', 'raw/a', 'parsed/a', 'abc', '{"chunks_total": 9}', 2,
      jsonb_build_object('error', 'x', 'retry_at', to_char(now() at time zone 'UTC'
        + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.US')), 'whsec') returning job_id)",
                            pg::params(kUser, kDocument));
  const auto due = sql.value("select last_error ->> 'retry_at' from public.upload_jobs");
  sql.run("set timezone = 'Australia/Sydney'");
  EXPECT_EQ(move_one(sql, "baseworker", "public"), id);
  EXPECT_EQ(fact(sql, id, "stage"), "chunks_stored");
  EXPECT_EQ(fact(sql, id, "max_attempts"), "4") << "of the queue's six two are used";
  EXPECT_EQ(sql.value("select to_char(scheduled_at at time zone 'UTC', "
                      "'YYYY-MM-DD\"T\"HH24:MI:SS.US') from millrace.job_fact"),
            due)
      << "C08: a time without a zone is UTC";
  EXPECT_EQ(sql.value("select status || ' ' || parsed_path || ' ' || raw_path from "
                      "millrace.upload_jobs"),
            "chunks_stored parsed/a raw/a");
  EXPECT_EQ(sql.value("select payload #>> '{progress,chunks_total}' from millrace.job_fact"), "9");
  // H03: a secret does not travel.
  EXPECT_FALSE(
      sql.yes("select exists (select from millrace.job_fact f, millrace.imported_job i "
              "where f.payload::text like '%whsec%' or i.source_row::text like "
              "'%whsec%')"));
  EXPECT_EQ(sql.value("select status || ' ' || (last_error ->> 'moved_to') from "
                      "public.upload_jobs"),
            "failed_chunking millrace");
}

// C07: one malformed time does not stop the others.
TEST_F(ImportSource, BaseWorkerTimesThatAreNoneAreDueNow) {
  sql.script(kBaseWorkerTables);
  sql.script(
      fmt::format("insert into public.upload_jobs (user_id, document_id, status, raw_path, "
                  "last_error) select '{0}', '{0}', 'parsed', 'r', e from unnest(array["
                  "'{{\"retry_at\": \"soon\"}}', '{{\"retry_at\": 7}}', '7', 'null', null"
                  "]::jsonb[]) e",
                  kUser));
  EXPECT_EQ(move_batch(sql, "baseworker", "public").size(), 5U);
  EXPECT_EQ(places(sql), "ready 5, delayed 0, leased 0");
}

TEST_F(ImportSource, BaseWorkerJobsThatWaitForTheParserStayUnlessTheyAreToBeParsedAgain) {
  sql.script(kBaseWorkerTables);
  sql.script(
      fmt::format("insert into public.upload_jobs (user_id, document_id, status, raw_path) "
                  "values ('{0}', '{0}', 'parse_queued', 'r')",
                  kUser));
  EXPECT_TRUE(move_batch(sql, "baseworker", "public").empty());
  const auto id = move_one(sql, "baseworker", "public", R"({"parse_queued": "uploaded"})");
  EXPECT_EQ(fact(sql, id, "stage"), "uploaded");
}

// --- pg-boss ---

TEST_F(ImportSource, PgBossKeepsIdPriorityDueTimeTimeLimitAndTheAttemptsLeft) {
  sql.script(kPgBossTables);
  const auto id = sql.value(R"(
    insert into pgboss.job (name, data, priority, state, retry_limit, retry_count, started_on,
      start_after, expire_seconds, policy) values ('mail', '{"to": "a"}', 7, 'retry', 5, 1, now(),
      now() + interval '1 hour', 120, 'standard') returning id)");
  EXPECT_EQ(move_one(sql, "pg-boss", "pgboss"), id);
  EXPECT_EQ(fact(sql, id, "priority"), "107");
  EXPECT_EQ(fact(sql, id, "max_attempts"), "4") << "of six attempts two are used";
  EXPECT_EQ(fact(sql, id, "run_timeout"), "00:02:00");
  EXPECT_EQ(sql.value("select f.scheduled_at = j.start_after from millrace.job_fact f, "
                      "pgboss.job j"),
            "t");
  EXPECT_EQ(sql.value("select q.queue || ' ' || t.priority_default from millrace.job_type t join "
                      "millrace.queue q using (queue_id) where t.job_type = 'mail'"),
            "default 100");
  EXPECT_EQ(sql.value("select state || ' ' || (output ->> 'job_id') from pgboss.job"),
            "cancelled " + id);
}

TEST_F(ImportSource, PgBossNineHasOtherColumns) {
  sql.script(kPgBoss9Tables);
  const auto id = sql.value(R"(
    insert into pgboss.job (name, data, priority, retrylimit, expirein, startafter)
    values ('mail', '{"to": "a"}', -1, 3, '1 minute', now() + interval '1 hour') returning id)");
  sql.script(
      "insert into pgboss.job (name, state) values ('mail', 'active'), ('mail', 'expired'), "
      "('__pgboss__maintenance', 'created')");
  EXPECT_EQ(report(sql, "pg-boss", "pgboss"), "to move 1; of pg-boss itself 1; running 1");
  EXPECT_EQ(move_one(sql, "pg-boss", "pgboss"), id);
  EXPECT_EQ(fact(sql, id, "priority"), "99");
  EXPECT_EQ(fact(sql, id, "max_attempts"), "4");
  EXPECT_EQ(fact(sql, id, "run_timeout"), "00:01:00");
  EXPECT_EQ(sql.value("select state || ' ' || (completedon is not null) from pgboss.job where "
                      "id = $1",
                      pg::params(id)),
            "cancelled true");
}

TEST_F(ImportSource, DataThatIsNoObjectBecomesTheFieldData) {
  sql.script(kPgBossTables);
  sql.script(
      "insert into pgboss.job (name, data, priority) values ('mail', null, 4), "
      "('mail', '{}', 3), ('mail', '[1, null]', 2), ('mail', '\"x\"', 1), "
      "('mail', '{\"a\": null}', 0)");
  move_batch(sql, "pg-boss", "pgboss");
  EXPECT_EQ(sql.value("select string_agg(payload::text, ' ' order by priority desc) from "
                      "millrace.job_fact"),
            R"({"data": null} {"data": {}} {"data": [1, null]} {"data": "x"} {"a": null})");
}

TEST_F(ImportSource, WhatPoliciesOfPgBossPromiseOfAKeyIsKept) {
  sql.script(kPgBossTables);
  sql.script(R"(
    insert into pgboss.job (name, data, policy, singleton_key, state, group_id) values
      ('a', '{"n": 1}', 'short', 'k', 'created', null),
      ('b', '{"n": 2}', 'singleton', 'k', 'created', null),
      ('b', '{"n": 3}', 'singleton', 'k', 'created', null),
      ('b', '{"n": 4}', 'singleton', 'held', 'active', null),
      ('b', '{"n": 5}', 'singleton', 'held', 'created', null),
      ('c', '{"n": 6}', 'exclusive', null, 'created', null),
      ('d', '{"n": 7}', 'key_strict_fifo', 'k', 'failed', null),
      ('d', '{"n": 8}', 'key_strict_fifo', 'k', 'created', null),
      ('e', '{"n": 9}', 'standard', 'k', 'created', 'g'),
      ('f', '{"n": 10}', 'stately', 'k', 'created', null),
      ('f', '{"n": 11}', 'stately', 'k', 'retry', null);
    update pgboss.job set created_on = now() - interval '1 minute'
      + make_interval(secs => (data ->> 'n')::int))");
  EXPECT_EQ(report(sql, "pg-boss", "pgboss"), "to move 7; its key is busy 2; running 1");
  move_batch(sql, "pg-boss", "pgboss");
  EXPECT_EQ(sql.value("select string_agg(format('%s: %s %s %s', payload ->> 'n', dedupe_key, "
                      "serial_key, concurrency_key), '; ' order by (payload ->> 'n')::int) from "
                      "millrace.job_fact"),
            "1: k  ; 2:  b:k ; 3:  b:k ; 6: c  ; 9:   g; 10: k f:k ; 11:  f:k ");
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(ImportSource, PgBossJobsThatBelongToAFlowOrAreToBeDroppedStay) {
  sql.script(kPgBossTables);
  sql.script(R"(
    insert into pgboss.job (name, data, blocked, blocking, keep_until) values
      ('a', '{"n": 1}', true, false, now() + interval '1 day'),
      ('a', '{"n": 2}', false, true, now() + interval '1 day'),
      ('a', '{"n": 3}', false, false, now() - interval '1 second'))");
  EXPECT_EQ(report(sql, "pg-boss", "pgboss"),
            "other jobs wait for it 1; past its retention 1; waits for other jobs 1");
  EXPECT_TRUE(move_batch(sql, "pg-boss", "pgboss").empty());
}

TEST_F(ImportSource, AnIdThatIsTakenOrReadsAsATimeToComeIsReplaced) {
  sql.script(kPgBossTables);
  const auto taken = enqueue(sql);
  const auto soon = sql.value("select millrace.id_at(millrace.now() + interval '10 days')");
  sql.run(
      "insert into pgboss.job (name, id, data) values ('a', $1, '{\"n\": 1}'), "
      "('a', $2, '{\"n\": 2}'), ('b', $3, '{\"n\": 3}'), ('c', $3, '{\"n\": 4}')",
      pg::params(taken, soon, kUser));
  const auto moved = move_batch(sql, "pg-boss", "pgboss");
  ASSERT_EQ(moved.size(), 4U);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 5);
  int kept = 0;
  for (const auto& one : moved) kept += one.job_id == one.source_id ? 1 : 0;
  EXPECT_EQ(kept, 1) << "one of the two that share an id in two queues";
  EXPECT_EQ(sql.number("select count(*) from pgboss.job where state = 'cancelled'"), 4);
}

// --- graphile-worker ---

TEST_F(ImportSource, GraphileKeepsQueueKeyDueTimeAndTheAttemptsLeft) {
  sql.script(graphile_tables());
  sql.script(R"(
    insert into graphile_worker._private_tasks (identifier) values ('mail');
    insert into graphile_worker._private_job_queues (queue_name) values ('customer-7');
    insert into graphile_worker._private_jobs (task_id, job_queue_id, payload, priority, attempts,
      max_attempts, run_at, key) values (1, 1, '{"to": "a"}', 10, 3, 25, now() + interval '1 hour',
      'welcome-7'))");
  const auto due = sql.value("select run_at from graphile_worker._private_jobs");
  const auto id = move_one(sql, "graphile-worker", "graphile_worker");
  EXPECT_EQ(fact(sql, id, "priority"), "90") << "its lower numbers come first";
  EXPECT_EQ(fact(sql, id, "serial_key"), "customer-7");
  EXPECT_EQ(fact(sql, id, "dedupe_key"), "welcome-7");
  EXPECT_EQ(fact(sql, id, "max_attempts"), "22");
  EXPECT_EQ(fact(sql, id, "correlation_id"), "graphile-worker:1");
  EXPECT_EQ(sql.value("select scheduled_at from millrace.job_fact"), due);
  EXPECT_EQ(sql.number("select count(*) from graphile_worker._private_jobs"), 0);
  EXPECT_EQ(sql.value("select source_row ->> 'key' from millrace.imported_job"), "welcome-7");
}

TEST_F(ImportSource, GraphileBeforeSixteenHasOtherTables) {
  sql.script(graphile_tables(""));
  sql.script(R"(
    insert into graphile_worker.tasks (identifier) values ('mail');
    insert into graphile_worker.jobs (task_id, payload) values (1, '{"n": 1}'))");
  move_one(sql, "graphile-worker", "graphile_worker");
  EXPECT_EQ(sql.number("select count(*) from millrace.import_undo('graphile-worker', "
                       "'graphile_worker')"),
            1);
  EXPECT_EQ(sql.value("select payload from graphile_worker.jobs"), "{\"n\": 1}");
}

TEST_F(ImportSource, JobsOfANamedQueueRunOneAfterTheOther) {
  sql.script(graphile_tables());
  sql.script(R"(
    insert into graphile_worker._private_tasks (identifier) values ('mail');
    insert into graphile_worker._private_job_queues (queue_name) values ('q');
    insert into graphile_worker._private_jobs (task_id, job_queue_id, payload, priority)
    select 1, 1, json_build_object('n', i), i from generate_series(1, 3) i)");
  move_batch(sql, "graphile-worker", "graphile_worker");
  Worker worker(sql);
  for (int n = 1; n <= 3; ++n) {
    keep(sql);
    const auto claimed = worker.claim(5);
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(sql.value("select payload ->> 'n' from millrace.job_fact where job_id = $1",
                        pg::params(claimed[0].id)),
              std::to_string(n));
    worker.complete(claimed[0]);
  }
}

TEST_F(ImportSource, APayloadThatJsonbCannotHoldStaysAndTheOthersAreMoved) {
  sql.script(graphile_tables());
  sql.script(R"(
    insert into graphile_worker._private_tasks (identifier) values ('mail');
    insert into graphile_worker._private_jobs (task_id, payload) values
      (1, '{"a": "\u0000"}'), (1, '{"a": 1e999999}'), (1, '[{"n": 1}]'), (1, '{"n": 2}'))");
  EXPECT_EQ(report(sql, "graphile-worker", "graphile_worker"),
            "to move 2; payload that jsonb cannot hold 2");
  EXPECT_EQ(move_batch(sql, "graphile-worker", "graphile_worker").size(), 4U);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 2);
  EXPECT_EQ(sql.number("select count(*) from graphile_worker._private_jobs"), 2);
}

// Numbers begin again where a table was emptied: another job under the same number is another job.
TEST_F(ImportSource, ANumberThatComesAgainIsAnotherJob) {
  sql.script(graphile_tables());
  for (int round = 1; round <= 2; ++round) {
    sql.script(
        "truncate graphile_worker._private_jobs, graphile_worker._private_tasks restart "
        "identity; insert into graphile_worker._private_tasks (identifier) values ('mail'); "
        "insert into graphile_worker._private_jobs (task_id, payload) values (1, "
        "'{\"n\": 1}')");
    move_one(sql, "graphile-worker", "graphile_worker");
  }
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 2);
}

}  // namespace
}  // namespace millrace::test
