// The views with the sources' table names: their columns, what they render, and how they are read.
#include "session.h"

#include <map>

namespace millrace::test {
namespace {

class SourceViews : public ::testing::Test {
 protected:
  std::string enqueue(std::string_view type, std::string_view payload,
                      std::string_view options = "{}") {
    return owner_.value("select millrace.enqueue_job($1, $2::jsonb, $3::jsonb)",
                        pg::params(type, payload, options));
  }
  std::string claim(std::string_view worker = "w1") {
    return owner_.value("select c.job_id from millrace.claim_next_job_v3($1) c",
                        pg::params(worker));
  }

  TestDatabase database_;
  Session owner_{database_};
};

TEST_F(SourceViews, HaveTheColumnsOfTheSources) {
  const std::map<std::string, std::string> wanted = {
      {"job_queue",
       "id uuid, job_type text, job_name text, job_category text, job_payload jsonb, status text, "
       "priority integer, scheduled_at timestamptz, started_at timestamptz, completed_at "
       "timestamptz, "
       "retry_count integer, max_retries integer, worker_id text, heartbeat_at timestamptz, "
       "dead_letter_at timestamptz, error_details jsonb, job_result jsonb, created_at timestamptz, "
       "updated_at timestamptz, lease_expires_at timestamptz"},
      {"export_jobs",
       "id uuid, user_id uuid, document_id uuid, format text, options jsonb, status text, progress "
       "integer, attempts integer, max_attempts integer, run_after timestamptz, result_url text, "
       "file_size integer, page_count integer, error_message text, locked_by text, started_at "
       "timestamptz, completed_at timestamptz, created_at timestamptz, file_path text, batch_id "
       "uuid, "
       "priority integer"},
      {"upload_jobs",
       "job_id uuid, user_id uuid, document_id uuid, status text, raw_path text, parsed_path text, "
       "parsed_sha256 text, chunks_version text, embed_model text, embed_version text, progress "
       "jsonb, "
       "retry_count integer, last_error jsonb, webhook_secret text, created_at timestamptz, "
       "updated_at "
       "timestamptz"},
      {"job",
       "id uuid, tenant_id uuid, app_id text, definition text, version text, status text, "
       "inputs_hash "
       "text, payload_json jsonb, attempts integer, priority integer, last_error jsonb, created_at "
       "timestamptz, started_at timestamptz, ended_at timestamptz"},
      {"jobs",
       "job_id uuid, tenant_id uuid, queue text, job_type text, status text, stage text, priority "
       "integer, scheduled_at timestamptz, created_at timestamptz, started_at timestamptz, "
       "finished_at "
       "timestamptz, attempt integer, max_attempts integer, delivery_count integer, worker_id "
       "text, "
       "progress integer, progress_message text, error jsonb, result jsonb, reason text, "
       "correlation_id text, batch_id uuid, generation integer, owner_id uuid"},
  };
  for (const auto& [view, columns] : wanted) {
    EXPECT_EQ(
        owner_.value("select string_agg(a.attname || ' ' || replace(format_type(a.atttypid, "
                     "a.atttypmod), 'timestamp with time zone', 'timestamptz'), ', ' order by "
                     "a.attnum) from pg_attribute a where a.attrelid = ('millrace.' || "
                     "$1)::regclass and a.attnum > 0",
                     pg::params(view)),
        columns)
        << view;
    EXPECT_EQ(
        owner_.value("select 'security_invoker=true' = any (c.reloptions) from pg_class c where "
                     "c.oid = ('millrace.' || $1)::regclass",
                     pg::params(view)),
        "t")
        << view;
  }
}

TEST_F(SourceViews, ShowEachJobOnceWhereverItLies) {
  std::map<std::string, std::string> wanted;  // Job to engine status.
  const auto job = [&](std::string_view status) {
    const auto id = enqueue("noop", R"({"a": 1})");
    wanted[id] = status;
    return id;
  };
  auto id = job("completed");
  claim();
  owner_.run("select millrace.complete_job($1, 'w1')", pg::params(id));
  id = job("retrying");
  claim();
  owner_.run("select millrace.fail_job($1, 'w1', '{\"message\": \"m\"}')", pg::params(id));
  id = job("failed");
  claim();
  owner_.run("select millrace.fail_job($1, 'w1', '{\"message\": \"m\"}', false)", pg::params(id));
  id = job("cancelled");
  owner_.run("select millrace.cancel_job($1)", pg::params(id));
  // Failed, redriven, and completed in its second life.
  id = job("completed");
  claim();
  owner_.run("select millrace.fail_job($1, 'w1', '{\"message\": \"m\"}', false)", pg::params(id));
  owner_.run(
      "select * from millrace.redrive_jobs(jsonb_build_object('job_ids', jsonb_build_array("
      "$1::text)))",
      pg::params(id));
  owner_.run("update millrace.delayed set due_at = millrace.now() where job_id = $1",
             pg::params(id));
  ASSERT_EQ(claim(), id);
  owner_.run("select millrace.complete_job($1, 'w1')", pg::params(id));
  job("processing");
  claim();
  job("pending");
  wanted[enqueue("noop", R"({"a": 1})", R"({"delay_seconds": 3600})")] = "pending";

  std::map<std::string, std::string> seen;
  for (const auto row : owner_.rows("select j.job_id, j.status from millrace.jobs j")) {
    EXPECT_TRUE(seen.emplace(row.text(0), row.text(1)).second) << "twice: " << row.text(0);
  }
  EXPECT_EQ(seen, wanted);
  EXPECT_EQ(owner_.number("select count(*) from millrace.job_queue"),
            static_cast<std::int64_t>(wanted.size()));
  EXPECT_EQ(
      owner_.value("select string_agg(q.status || ' ' || q.n, ', ' order by q.status) from "
                   "(select status, count(*) as n from millrace.job_queue group by status) q"),
      "cancelled 1, completed 2, failed 1, pending 3, processing 1");
}

TEST_F(SourceViews, SpeakTheWordsOfTheirSource) {
  const auto compute =
      enqueue("compute_solve", R"({"definition": "d", "version": "1", "app_id": "a",
                                                    "inputs_hash": "h"})");
  const auto status = [&] {
    return owner_.value("select status from millrace.job where id = $1", pg::params(compute));
  };
  EXPECT_EQ(status(), "queued");
  EXPECT_EQ(
      owner_.value("select app_id || definition || version || inputs_hash || priority || attempts "
                   "from millrace.job where id = $1",
                   pg::params(compute)),
      "ad1h1000");
  claim();
  EXPECT_EQ(status(), "running");
  owner_.run("select millrace.fail_job($1, 'w1', '{\"message\": \"502\"}')", pg::params(compute));
  EXPECT_EQ(status(), "queued");  // A transient failure is never shown as failed.
  EXPECT_EQ(owner_.value("select last_error ->> 'message' from millrace.job where id = $1",
                         pg::params(compute)),
            "502");
  owner_.run("update millrace.delayed set due_at = millrace.now()");
  claim();
  owner_.run("select millrace.complete_job($1, 'w1', '{}')", pg::params(compute));
  EXPECT_EQ(status(), "succeeded");
  EXPECT_EQ(
      owner_.value("select attempts || coalesce(last_error::text, '-') from millrace.job where "
                   "id = $1",
                   pg::params(compute)),
      "2-");

  const auto upload = enqueue("ingest_document", R"({"document_id": "x", "raw_path": "r"})",
                              R"({"stage": "chunking"})");
  const auto stage = [&] {
    return owner_.value("select status from millrace.upload_jobs where job_id = $1",
                        pg::params(upload));
  };
  EXPECT_EQ(stage(), "chunking");
  claim();
  EXPECT_EQ(stage(), "chunking");  // Claiming leaves the stage alone.
  owner_.run("select millrace.fail_job($1, 'w1', '{\"message\": \"m\"}', false)",
             pg::params(upload));
  EXPECT_EQ(stage(), "failed_chunking");
}

// C07: what a job holds can never break the view for the others.
TEST_F(SourceViews, SurviveMalformedPayloadsAndResults) {
  const auto bad = enqueue("export_pdf", R"({"document_id": "not a uuid", "options": 7})");
  claim();
  owner_.run(
      "select millrace.complete_job($1, 'w1', '{\"file_size\": \"big\", \"page_count\": 1e30}')",
      pg::params(bad));
  const auto scalar = enqueue("export_pdf", R"({"document_id": 5})");
  claim();
  owner_.run("select millrace.complete_job($1, 'w1', '\"text\"')", pg::params(scalar));
  EXPECT_EQ(
      owner_.number("select count(*) from millrace.export_jobs e where e.document_id is null and "
                    "e.file_size is null and e.page_count is null"),
      2);
  for (const auto* view : {"job_queue", "upload_jobs", "job", "jobs"}) {
    owner_.run(fmt::format("select * from millrace.{}", view));
  }
}

TEST_F(SourceViews, FindOneJobByItsIndexes) {
  owner_.run(
      "select count(*) from millrace.enqueue_array('noop', array(select jsonb_build_object('i', "
      "i) from generate_series(1, 3000) i), '{\"max_attempts\": 3}')");
  owner_.script(
      "insert into millrace.delayed (job_id, tenant_id, queue_id, type_id, priority, flags, "
      "generation, "
      "attempt, delivery_count, crash_count, suspect_count, snooze_count, born_at, reason, due_at, "
      "delayed_at) select gen_random_uuid(), tenant_id, queue_id, type_id, 1, 0, 1, 0, 0, 0, 0, 0, "
      "now(), "
      "'scheduled', now(), now() from millrace.ready;"
      "insert into millrace.lease (job_id, tenant_id, queue_id, type_id, priority, flags, "
      "generation, "
      "attempt, delivery_count, crash_count, suspect_count, snooze_count, born_at, token, "
      "worker_id, "
      "ready_seq, leased_at, renewed_at, lease_until) select gen_random_uuid(), tenant_id, "
      "queue_id, "
      "type_id, 1, 0, 1, 0, 1, 0, 0, 0, now(), gen_random_uuid(), 'w', ready_seq, now(), now(), "
      "now() "
      "from millrace.ready;"
      "insert into millrace.job_history (job_id, generation, tenant_id, queue_id, type_id, status, "
      "finished_at, attempt, delivery_count, crash_count, snooze_count) select millrace.new_id(), "
      "1, "
      "tenant_id, queue_id, type_id, (array['completed', 'failed', 'cancelled'])[1 + ready_seq % "
      "3]::millrace.job_status, now(), 1, 1, 0, 0 from millrace.ready;"
      // Into every partition: the planner reads an empty one from end to end, and rightly so.
      "insert into millrace.attempt (job_id, generation, tenant_id, delivery_count, outcome, "
      "charged, ended_at) select case k when 3 then gen_random_uuid() else "
      "(left(millrace.id_at(now() + k * interval '7 days')::text, 13) || "
      "substr(gen_random_uuid()::text, 14))::uuid end, 1, tenant_id, 1, 'retry', true, now() "
      "from millrace.ready cross join generate_series(0, 3) k;"
      "analyze");
  const auto id = owner_.value("select job_id from millrace.ready limit 1");
  const std::map<std::string, std::string> key = {{"job_queue", "id"},
                                                  {"export_jobs", "id"},
                                                  {"upload_jobs", "job_id"},
                                                  {"job", "id"},
                                                  {"jobs", "job_id"}};
  for (const auto& [view, column] : key) {
    for (const auto* mode : {"force_custom_plan", "force_generic_plan"}) {
      owner_.run(fmt::format("set plan_cache_mode = {}", mode));
      owner_.run(fmt::format("prepare find (uuid) as select * from millrace.{} where {} = $1", view,
                             column));
      std::string plan;
      for (const auto row : owner_.rows(fmt::format("explain execute find ('{}')", id))) {
        plan += std::string(row.text(0)) + "\n";
      }
      owner_.run("deallocate find");
      for (const auto* table :
           {"ready", "delayed", "lease", "job_fact", "job_history", "attempt"}) {
        EXPECT_EQ(plan.find(fmt::format("Seq Scan on {}", table)), std::string::npos)
            << view << ", " << mode << "\n"
            << plan;
      }
    }
  }
  // A status that a place cannot have leaves that place out.
  std::string plan;
  for (const auto row :
       owner_.rows("explain select * from millrace.job_queue where status = 'processing'")) {
    plan += std::string(row.text(0)) + "\n";
  }
  EXPECT_EQ(plan.find("job_history"), std::string::npos) << plan;
  EXPECT_EQ(plan.find(" on ready"), std::string::npos) << plan;
}

}  // namespace
}  // namespace millrace::test
