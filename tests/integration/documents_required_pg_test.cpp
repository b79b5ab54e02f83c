// What the sources require of the document pipeline (G-01 to G-14), asked of the real programs, one
// claim each. Their error record is tests/sql/document_errors_pg_test.cpp (G-05 to G-09), what is
// no more documents_legacy_pg_test.cpp (G-12), job types without a handler
// documents_types_pg_test.cpp (G-13).
#include "integration/documents_world.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class RequiredDocuments : public Documents {
 protected:
  // "TYPE QUEUE, …" in the order in which their first jobs were made.
  std::string jobs_in_order(const std::string& id) {
    return value(
        "select string_agg(s.said, ', ' order by s.first) from (select t.job_type || ' ' || "
        "q.queue as said, min(j.seq) as first from millrace.job_fact j join millrace.job_type t "
        "using (type_id) join millrace.queue q on q.queue_id = j.queue_id where j.payload ->> "
        "'shell_file_id' = $1 group by 1) s",
        pg::params(id));
  }
};

TEST_F(RequiredDocuments, g01_AFileGoesThroughTheFastQueueAndThenThroughThreePasses) {
  const auto id = upload(made_pdf({letter("Two Queues", "Metformin")}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(jobs_in_order(id),
            "fast_queue_security fast_queue, fast_queue_ocr fast_queue, fast_queue_spatial "
            "fast_queue, ai_queue_pass1 ai_queue, ai_queue_pass2 ai_queue, ai_queue_pass3 "
            "ai_queue, document_outputs fast_queue");
  // Nothing of the second queue was begun before the first was through.
  EXPECT_EQ(value("select count(*) from millrace.page_result early join millrace.page_result late "
                  "using (file_id) where file_id = $1::uuid and early.stage like 'fast_queue%' and "
                  "late.stage like 'ai_queue%' and early.created_at > late.created_at",
                  pg::params(id)),
            "0");
  // What each may take at most is the time that the sources give it.
  EXPECT_EQ(value("select string_agg(queue || ' ' || run_timeout, ', ' order by queue desc) from "
                  "millrace.queue where queue in ('fast_queue', 'ai_queue')"),
            "fast_queue 00:02:00, ai_queue 00:10:00");
}

TEST_F(RequiredDocuments, g03_WhatAJobMadeIsOnRecordForItsFileByItsTypeAndOnTheTimeline) {
  const auto id = upload(made_pdf({letter("Timeline", "Metformin"),
                                   {"Patient: Ada Ormerod", "Date of birth: 14 March 1970",
                                    "Potassium 5.9 mmol/L (3.5 - 5.1)", "Allergies: penicillin"}}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  // Each result is of the stage that its job's type names.
  EXPECT_EQ(value("select count(*) filter (where t.job_type = r.stage) || ' of ' || count(*) from "
                  "millrace.page_result r join millrace.job_fact j using (job_id) join "
                  "millrace.job_type t using (type_id) where r.file_id = $1::uuid",
                  pg::params(id)),
            "10 of 10");
  // Facts are the patient's, and of the file, and say what the pages say.
  EXPECT_EQ(value("select string_agg(distinct c.type || ' ' || lower(c.name), ', ' order by c.type "
                  "|| ' ' || lower(c.name)) from millrace.clinical_fact c join "
                  "millrace.shell_files f on f.id = c.file_id and f.patient_id = c.patient_id "
                  "where c.file_id = $1::uuid and c.type in ('MedicationStatement', "
                  "'AllergyIntolerance', 'Observation')",
                  pg::params(id)),
            "AllergyIntolerance penicillin, MedicationStatement metformin, Observation potassium");
  EXPECT_THAT(value("select string_agg(distinct dated, ' ') from millrace.clinical_fact where "
                    "file_id = $1::uuid and type = 'Patient'",
                    pg::params(id)),
              HasSubstr("1970-03-14"));
  EXPECT_EQ(value("select string_agg(kind || coalesce(' ' || (data ->> 'state'), ''), ', ' order "
                  "by event_id) from millrace.event where data ->> 'file_id' = $1",
                  pg::params(id)),
            "document.started, document.finished completed");
}

// The limits of a stage reach the process that reads for it: the same file, with little room and
// with enough.
TEST_F(RequiredDocuments, g04_ReadersRunWithTheLimitsOfTheirStage) {
  const TempFolder pipelines;
  const auto pipeline = [](const std::string& name, const std::string& memory) {
    return fmt::format(
        "name = \"{0}\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"{0}_scan\"\nrun = \"scan\"\n"
        "queue = \"{0}\"\n[[stage]]\nname = \"{0}_read\"\nrun = \"ocr\"\nqueue = \"{0}\"\n"
        "max_attempts = 1\nlimits = {{ memory = \"{1}\" }}\noptions = {{ mode = \"ocr\" }}\n",
        name, memory);
  };
  pipelines.write("narrow.toml", pipeline("narrow", "16M"));
  pipelines.write("roomy.toml", pipeline("roomy", "1G"));
  const DocumentWorker worker(world(), {{"MILLRACE_PIPELINE_DIR", pipelines.path().string()}});
  const auto pdf = made_pdf({letter("Limits", "Metformin")});
  const auto narrow = upload(pdf, "letter.pdf", "narrow");
  const auto roomy = upload(pdf, "letter.pdf", "roomy");
  EXPECT_EQ(ended(narrow), "failed") << to_json(document(narrow));
  EXPECT_EQ(
      value("select failed_reason from millrace.page where file_id = $1::uuid", pg::params(narrow)),
      "reader_out_of_memory")
      << to_json(document(narrow));
  EXPECT_EQ(ended(roomy), "completed") << to_json(document(roomy));
}

TEST_F(RequiredDocuments, g11_AnUploadMakesARowAndAJobOnceAndItsCorrelationGoesWithEveryJob) {
  auto ask = UploadWorld::raw(who_, made_pdf({letter("Correlated", "Metformin")}), "once-1");
  ask.headers.emplace_back("x-correlation-id", "visit-4711");
  const auto made = api().ask(ask);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("x-correlation-id"), "visit-4711");
  const auto again = api().ask(ask);
  EXPECT_EQ(text_of(again, "id"), text_of(made, "id"));
  EXPECT_EQ(text_of(again, "job_id"), text_of(made, "job_id"));
  const auto id = text_of(made, "id");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(value("select count(distinct payload ->> 'shell_file_id') || ' file, ' || count(*) "
                  "filter (where correlation_id is distinct from 'visit-4711') || ' jobs without' "
                  "from millrace.job_fact where tenant_id = $1::uuid",
                  pg::params(who_.tenant.to_string())),
            "1 file, 0 jobs without");
  EXPECT_EQ(api().get("/health").status, 200);
}

class RequiredPaid : public PaidDocuments {
 protected:
  std::string usage(const std::string& column) {
    return value("select " + column +
                 "::text from millrace.limits_overview() where provider_name = 'openai' and "
                 "api_endpoint = 'stand-in'");
  }
};

// Claim, capacity, download, work, results, capacity back with what was really used, completion
// with audit: what is left of each on the way and in the end.
TEST_F(RequiredPaid, g02_WhileACallRunsItsJobHoldsLeaseAndCapacityAndAfterwardsNothing) {
  // A window that does not pass meanwhile.
  value(
      "select millrace.set_limit('openai', 'stand-in', '{\"concurrent_requests\": 2, "
      "\"requests_per_minute\": 20, \"tokens_per_minute\": 1000000, \"minute_window\": \"1 "
      "hour\", \"breaker_cooldown\": \"500 milliseconds\"}')");
  stand_in_->ask("POST", "/control/script", R"({"steps": [{"do": "stall"}]})");
  const auto id = upload(made_pdf({letter("Flow", "Metformin")}), "letter.pdf", "paid");
  EXPECT_TRUE(eventually([&] {
    return value("select count(*) from millrace.provider_call where state = 'sent'") == "1";
  }));
  EXPECT_EQ(usage("active_slots"), "1");
  EXPECT_EQ(value("select count(*) from millrace.provider_slot s join millrace.lease l on l.job_id "
                  "= s.job_id and l.token = s.token and l.lease_until > now() union all select "
                  "count(*) from millrace.provider_slot s join millrace.claim_open o using "
                  "(claim_id) order by 1 desc limit 1"),
            "1");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_TRUE(eventually([&] { return usage("active_slots") == "0"; }));
  EXPECT_EQ(value("select count(*) from millrace.lease"), "0");
  EXPECT_EQ(value("select count(*) from millrace.document_output o join millrace.shell_files f on "
                  "f.id = o.file_id where f.id = $1::uuid and o.kind = 'facts'",
                  pg::params(id)),
            "1");
  // Completion is in the audit of every job of the document.
  EXPECT_EQ(
      value("select count(*) from millrace.job_fact j where j.payload ->> 'shell_file_id' = "
            "$1 and not exists (select from millrace.audit a where j.job_id = any (a.job_ids) "
            "and a.action = 'completed')",
            pg::params(id)),
      "0");
  expect_sound();
}

// G-10: calls that told their use count with that, the one that told nothing with its estimate.
TEST_F(RequiredPaid, g10_TheLimiterHoldsWhatCallsReallyUsedAndTheEstimateOfOneThatDidNotSay) {
  value(
      "select millrace.set_limit('openai', 'stand-in', '{\"concurrent_requests\": 2, "
      "\"requests_per_minute\": 20, \"tokens_per_minute\": 1000000, \"minute_window\": \"1 "
      "hour\", \"breaker_cooldown\": \"500 milliseconds\"}')");
  const auto before = std::stoll(usage("used_tokens_minute"));
  stand_in_->ask("POST", "/control/script", R"({"steps": [{"do": "cut"}]})");
  const auto id = upload(made_pdf({letter("Tokens", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto of_calls = value(
      "select sum(input_tokens + output_tokens) from millrace.provider_call where state = "
      "'answered' and tenant_id = $1::uuid",
      pg::params(who_.tenant.to_string()));
  const auto estimate = value(
      "select sum(estimated_tokens) from millrace.provider_call where state = 'unknown' and "
      "tenant_id = $1::uuid",
      pg::params(who_.tenant.to_string()));
  EXPECT_EQ(std::stoll(usage("used_tokens_minute")) - before,
            std::stoll(of_calls) + std::stoll(estimate));
}

// G-14: more workers than the provider has room for: what it counts itself stays within its limits,
// and all of them work.
TEST_F(RequiredPaid, g14_ManyWorkersShareOneLimit) {
  std::vector<std::unique_ptr<DocumentWorker>> more;
  for (int i = 0; i < 2; ++i) {
    more.push_back(std::make_unique<DocumentWorker>(world(), paid_env()));
  }
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    ids.push_back(upload(made_pdf({letter(fmt::format("Shared {}", i), "Metformin"),
                                   letter(fmt::format("Limit {}", i), "Aspirin")}),
                         "letter.pdf", "paid"));
  }
  for (const auto& id : ids) EXPECT_EQ(ended(id), "completed") << to_json(document(id));
  expect_within_limits();
  EXPECT_EQ(value("select count(*) from millrace.worker"), "3");
  expect_sound();
}

}  // namespace
}  // namespace millrace::test
