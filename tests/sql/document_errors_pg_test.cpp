// The error record of a file (G-05 to G-09): what went wrong with each delivery of its jobs, for
// whoever reads the row.
#include "sql/document_world.h"

namespace millrace::test {
namespace {

class Errors : public DocumentTest {
 protected:
  void fail(const Delivery& job, std::string_view outcome, std::string_view type = "reader_failed",
            std::string_view message = "it did not work") {
    EXPECT_EQ(worker.settle(job, std::string(outcome),
                            fmt::format(R"({{"error": {{"error_type": "{}", "message": "{}"}}}})",
                                        type, message)),
              "settled");
  }
  void again() {
    pass(sql, "5 minutes");
    keep(sql);
  }
  std::string history(const std::string& file, std::string_view field) {
    return sql.value(
        "select string_agg(coalesce(i ->> $2, '-'), ' ' order by n) from millrace.shell_files f, "
        "jsonb_array_elements(f.processing_error -> 'error_history') with ordinality e(i, n) where "
        "f.id = $1::uuid",
        pg::params(file, field));
  }
  std::string keys(const std::string& file, std::string_view path) {
    return sql.value(
        "select string_agg(k, ' ' order by k) from millrace.shell_files f, "
        "jsonb_object_keys(f.processing_error #> $2::text[]) k where f.id = $1::uuid",
        pg::params(file, path));
  }
};

// G-05, G-07, G-08, G-09.
TEST_F(Errors, g05_every_failed_delivery_is_on_record_with_its_fields) {
  const auto file = scanned({"one"});
  stop_clock(sql);
  const auto job = take(kOcr);
  pass(sql, "1500 milliseconds");
  fail(job, "retry", "connection_lost", "gone");
  for (const auto* field : {"job_type", "error_type", "error_message", "retry_count",
                            "next_retry_at", "worker_id", "duration_ms", "timestamp"}) {
    EXPECT_NE(error_field(file, fmt::format("{{current_error,{}}}", field)), "(null)") << field;
  }
  EXPECT_EQ(error_field(file, "{current_error,job_type}"), kOcr);
  EXPECT_EQ(error_field(file, "{current_error,error_type}"), "network_error");
  EXPECT_EQ(error_field(file, "{current_error,error_message}"), "gone");
  EXPECT_EQ(error_field(file, "{current_error,retry_count}"), "1");
  EXPECT_EQ(error_field(file, "{current_error,worker_id}"), "w1");
  EXPECT_EQ(error_field(file, "{current_error,duration_ms}"), "1500");
  EXPECT_TRUE(
      sql.yes("select (processing_error #>> '{current_error,next_retry_at}')::timestamptz > "
              "(processing_error #>> '{current_error,timestamp}')::timestamptz from "
              "millrace.shell_files"));

  again();
  const auto second = take(kOcr);
  pass(sql, "500 milliseconds");
  fail(second, "permanent", "document_refused", "no");
  EXPECT_EQ(error_field(file, "{current_error,next_retry_at}"), "(null)");
  EXPECT_EQ(history(file, "error_message"), "gone no");
  EXPECT_EQ(history(file, "resolved"), "false false");
  EXPECT_EQ(history(file, "next_retry_at"), "- -");
  EXPECT_EQ(keys(file, "{metrics}"),
            "error_types first_error_at last_error_at total_processing_time_ms total_retries");
  EXPECT_EQ(error_field(file, "{metrics,total_retries}"), "1");
  EXPECT_EQ(error_field(file, "{metrics,total_processing_time_ms}"), "2000");
  EXPECT_EQ(error_field(file, "{metrics,error_types}"),
            R"({"ocr_failure": 1, "network_error": 1})");
  EXPECT_TRUE(
      sql.yes("select (processing_error #>> '{metrics,first_error_at}')::timestamptz < "
              "(processing_error #>> '{metrics,last_error_at}')::timestamptz from "
              "millrace.shell_files"));
}

// G-06: the words of the source, for codes as workers send them (provider/exchange.cpp,
// provider/classify.cpp, provider/clamd.cpp, worker/handlers/http_outcome.cpp,
// pipeline/task_outcome.cpp), by what the stage does and whom it asks.
TEST_F(Errors, g06_failures_are_told_in_the_words_of_the_source) {
  const auto word = [&](std::string_view stage, std::string_view error,
                        std::string_view outcome = "retry") {
    return sql.value(
        "select millrace.failure_class($1::jsonb, $2, jsonb_build_object('error_type', $3::text))",
        pg::params(stage, outcome, error));
  };
  constexpr auto* kRead = R"({"run": "ocr", "provider": "local"})";
  constexpr auto* kVision = R"({"run": "ocr", "provider": "google"})";
  constexpr auto* kSecurity = R"({"run": "scan", "provider": "none"})";
  constexpr auto* kModel = R"({"run": "detect", "provider": "openai"})";
  constexpr auto* kRules = R"({"run": "extract", "provider": "local"})";
  constexpr auto* kVectors = R"({"run": "embed", "provider": "openai"})";
  constexpr auto* kParser = R"({"run": "parse", "provider": "llamaparse"})";
  constexpr auto* kProgram = R"({"run": "exec:./label.py", "provider": "none"})";
  constexpr auto* kAsking = R"({"run": "exec:./ask.py", "provider": "anthropic"})";
  constexpr auto* kAddress = R"({"run": "https://archive.example/letters", "provider": "none"})";

  // Nobody was reached, or was lost on the way, whoever it was: a model, Vision, clamd, an address.
  for (const auto* code : {"connection", "connection_lost", "connect_timeout"}) {
    for (const auto* stage : {kModel, kVectors, kVision, kSecurity, kParser}) {
      EXPECT_EQ(word(stage, code), "network_error") << stage << code;
    }
  }
  EXPECT_EQ(word(kAddress, "not_reached"), "network_error");
  EXPECT_EQ(word(kAddress, "no_answer"), "network_error");

  EXPECT_EQ(word(kModel, "timeout"), "ai_timeout");
  EXPECT_EQ(word(kVectors, "timeout"), "ai_timeout");
  EXPECT_EQ(word(kRules, "timeout"), "ai_timeout");
  EXPECT_EQ(word(kAsking, "timeout"), "ai_timeout");

  for (const auto* code : {"server_error", "unavailable", "timeout", "bad_answer", "bad_request"}) {
    EXPECT_EQ(word(kVision, code), "api_error") << code;
    EXPECT_EQ(word(kParser, code), "api_error") << code;
  }
  for (const auto* code : {"server_error", "invalid_answer", "content_filter", "truncated"}) {
    EXPECT_EQ(word(kModel, code, "permanent"), "api_error") << code;
  }
  EXPECT_EQ(word(kAddress, "http_503"), "api_error");
  EXPECT_EQ(word(kSecurity, "scan_error"), "api_error");
  EXPECT_EQ(word(kSecurity, "scan_timeout"), "api_error");
  EXPECT_EQ(word(kParser, "parse_deadline", "permanent"), "api_error");

  for (const auto* code : {"reader_crashed", "reader_timed_out", "document_refused"}) {
    EXPECT_EQ(word(kRead, code), "ocr_failure") << code;
    EXPECT_EQ(word(kSecurity, code), "ocr_failure") << code;
  }
  EXPECT_EQ(word(kProgram, "exit_code"), "ocr_failure");
  for (const auto* stage : {kProgram, kRead, kSecurity}) {
    EXPECT_EQ(word(stage, "timeout"), "ocr_failure") << stage;  // Its own time was up.
  }

  EXPECT_EQ(word(kModel, "worker_timeout", "lost"), "worker_timeout");
  // What is no stage, or has failed before its document was begun.
  EXPECT_EQ(sql.value("select millrace.failure_class(null, 'retry', null)"), "ocr_failure");
  EXPECT_EQ(sql.value("select millrace.failure_class('{}', 'lost', null)"), "worker_timeout");
}

// By the pipeline that the document is bound to, not by how the stage is called.
TEST_F(Errors, g06_a_stage_is_judged_by_what_it_does_and_not_by_its_name) {
  const auto told = [&](std::string_view run, std::string_view provider, std::string_view code) {
    const auto file = scanned({fmt::format("{} {} {}", run, provider, code)});
    sql.run(
        "update millrace.pipeline_version set definition = jsonb_build_object('stage', "
        "jsonb_build_array(jsonb_build_object('name', 'fast_queue_ocr', 'run', $1::text, "
        "'provider', $2::text)))",
        pg::params(run, provider));
    fail(take(kOcr), "permanent", code);
    keep(sql);
    EXPECT_EQ(error_field(file, "{current_error,code}"), code);
    return error_field(file, "{current_error,error_type}");
  };
  EXPECT_EQ(told("detect", "openai", "timeout"), "ai_timeout");
  EXPECT_EQ(told("detect", "openai", "server_error"), "api_error");
  EXPECT_EQ(told("ocr", "google", "server_error"), "api_error");
  EXPECT_EQ(told("ocr", "google", "connection"), "network_error");
  EXPECT_EQ(told("ocr", "local", "reader_failed"), "ocr_failure");
}

// What nobody failed at has a word of the set too; `code` says what it was.
TEST_F(Errors, g06_refused_and_given_up_documents_are_told_in_the_words_of_the_source) {
  const auto refused = scanned({"one"});
  read_pages();
  expect_settled(settle_stage(
      take(kOutputs), R"({"rejected": [{"rule": "virus", "severity": "refuse", "detail": ""}]})"));
  EXPECT_EQ(history(refused, "error_type") + " " + history(refused, "code"),
            "ocr_failure rejected");
  EXPECT_EQ(error_field(refused, "{metrics,error_types}"), R"({"ocr_failure": 1})");

  const auto left = scanned({"two"});
  sql.run(
      "update millrace.pipeline_version set definition = '{\"stage\": [{\"name\": "
      "\"fast_queue_ocr\", \"run\": \"ocr\", \"provider\": \"google\"}]}'");
  sql.run("update millrace.document set batch_id = null, job_id = null where file_id = $1::uuid",
          pg::params(left));
  pass(sql, "11 seconds");
  EXPECT_EQ(sql.number("select millrace.reconcile_documents(100)"), 1);
  EXPECT_EQ(history(left, "error_type") + " " + history(left, "code"), "api_error cancelled");
}

TEST_F(Errors, g06_a_lost_worker_is_a_worker_timeout) {
  const auto file = scanned({"one"});
  Worker mortal(sql, "w2", kShortLived);
  take(kOcr, &mortal);
  pass(sql, "1 minute");
  keep(sql);
  EXPECT_EQ(error_field(file, "{current_error,error_type}"), "worker_timeout");
}

// G-09: success marks history resolved.
TEST_F(Errors, g09_a_document_that_completes_has_no_error_and_a_resolved_history) {
  const auto file = scanned({"one"});
  fail(take(kOcr), "retry");
  again();
  read_pages();
  end();
  EXPECT_EQ(error_field(file, "{current_error}"), "(null)");
  EXPECT_EQ(history(file, "resolved"), "true");
  EXPECT_EQ(error_field(file, "{metrics,total_retries}"), "1");
}

TEST_F(Errors, ADocumentWithoutFailuresHasNoRecord) {
  const auto file = scanned({"one"});
  read_pages();
  end();
  EXPECT_EQ(error_field(file, "{}"), "(null)");
}

TEST_F(Errors, APartialDocumentKeepsItsErrorOpen) {
  const auto file = scanned({"one", "two"});
  fail(take(kOcr), "permanent");
  read_pages();
  end();
  EXPECT_EQ(history(file, "resolved"), "false");
  EXPECT_EQ(error_field(file, "{current_error,page}"), "1");
}

// G-09: what was overcome is marked, also where another page was not.
TEST_F(Errors, g09_a_partial_document_keeps_only_those_errors_open_that_it_lacks_something_for) {
  const auto file = scanned({"one", "two", "three"});
  for (int i = 0; i < 2; ++i) {
    const auto job = take(kOcr);
    fail(job, "permanent", "reader_failed", "page " + payload(job, "page"));
  }
  const auto last = take(kOcr);
  EXPECT_EQ(payload(last, "page"), "3");
  fail(last, "retry", "reader_failed", "page 3");
  again();
  read_pages();
  fail(take(kOutputs), "retry", "reader_failed", "outputs");
  again();
  EXPECT_EQ(error_field(file, "{current_error,error_message}"), "outputs");
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_EQ(history(file, "error_message"), "page 1 page 2 page 3 outputs");
  EXPECT_EQ(history(file, "resolved"), "false false true true");
  EXPECT_EQ(error_field(file, "{current_error,page}") + " " +
                error_field(file, "{current_error,error_message}"),
            "2 page 2");
  EXPECT_EQ(keys(file, "{current_error}"),
            "code duration_ms error_message error_type job_type next_retry_at page retry_count "
            "timestamp worker_id");

  // Begun anew, the second page is read: what it failed for before is past.
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one", "two", "three"});
  fail(take(kOcr), "permanent", "reader_failed", "page 1 again");
  EXPECT_EQ(read_pages(), 1);
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_EQ(history(file, "resolved"), "false true true true false");
  EXPECT_EQ(error_field(file, "{current_error,error_message}"), "page 1 again");
}

// Waiting is no failure; to have waited for too long is one.
TEST_F(Errors, WaitingForAProviderIsNoErrorUntilItLastsTooLong) {
  const auto file = scanned({"one"});
  fail(take(kOcr), "throttled", "rate_limit");
  EXPECT_EQ(error_field(file, "{}"), "(null)");
  pass(sql, "25 hours");
  keep(sql);
  // Its worker is a day older too.
  Worker fresh(sql, "w3");
  const auto late = take(kOcr, &fresh);
  EXPECT_EQ(fresh.settle(late, "throttled",
                         R"({"error": {"error_type": "rate_limit", "message": "later"}})"),
            "settled");
  EXPECT_EQ(error_field(file, "{current_error,code}"), "rate_limit");
  EXPECT_EQ(error_field(file, "{current_error,next_retry_at}"), "(null)");
}

TEST_F(Errors, PicturesThatCannotBeDrawnAreNoErrorOfTheDocument) {
  const auto file = scanned({"one"});
  read_pages();
  end();
  ServerSession api{database};
  api.run("select millrace.ask_image($1::uuid, 1)", pg::params(file));
  fail(take("document_image"), "permanent");
  EXPECT_EQ(error_field(file, "{}"), "(null)");
  EXPECT_EQ(document(file, "state"), "completed");
}

TEST_F(Errors, OtherJobsThatNameAFileWriteNothingIntoIt) {
  const auto file = upload("a letter");
  enqueue_jobs(
      sql, fmt::format(R"([{{"job_type": "noop", "payload": {{"shell_file_id": "{}"}}}}])", file));
  const auto job = worker.take();
  fail(job, "permanent");
  EXPECT_EQ(error_field(file, "{}"), "(null)");
}

// Nothing unbounded.
TEST_F(Errors, TheHistoryKeepsTheLastHundred) {
  EXPECT_EQ(sql.value(R"(
      with recursive r(n, record) as (
        select 0, null::jsonb
        union all
        select n + 1, millrace.add_error(record, jsonb_build_object('error_type', 'ocr_failure',
          'error_message', n + 1, 'timestamp', 't' || (n + 1), 'duration_ms', 1)) from r where n < 130)
      select format('%s %s %s %s', jsonb_array_length(record -> 'error_history'),
                    record #>> '{error_history,0,error_message}', record #>> '{metrics,error_types,ocr_failure}',
                    record #>> '{metrics,first_error_at}') from r where n = 130)"),
            "100 31 130 t1");
}

// Two files of one settlement, and a keeper that looks at their documents meanwhile: nobody waits
// for ever.
TEST_F(Errors, ManyThatFailWhileOthersLookNeverDeadlock) {
  for (int round = 0; round < 4; ++round) {
    std::vector<std::string> files;
    for (int i = 0; i < 4; ++i) files.push_back(scanned({fmt::format("{} {}", round, i)}));
    read_pages();
    std::string settlements;
    for (int i = 0; i < 4; ++i) {
      const auto job = take(kOutputs);
      settlements += fmt::format(
          R"({}{{"job_id": "{}", "token": "{}", "outcome": "permanent", "error": {{"error_type": "x", "message": "m"}}}})",
          i == 0 ? "" : ", ", job.id, job.token);
    }
    pass(sql, "11 seconds");
    together(3, [&](int who, const std::atomic<bool>&) {
      if (who == 0) {
        sql.run("select * from millrace.settle_jobs('w1', $1::jsonb)",
                pg::params("[" + settlements + "]"));
        return;
      }
      Session keeper{database};
      for (int i = 0; i < 5; ++i) keeper.run("select millrace.reconcile_documents(100)");
    });
    for (const auto& file : files) EXPECT_EQ(document(file, "state"), "failed");
  }
}

}  // namespace
}  // namespace millrace::test
