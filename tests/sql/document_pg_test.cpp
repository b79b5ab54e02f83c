// What happens to a document, by the functions alone: begun once, scanned, page by page, and an end
// for every way it can go (G-01, G-03; ADR 9).
#include "sql/document_world.h"

namespace millrace::test {
namespace {

using Documents = DocumentTest;

TEST_F(Documents, AFileGoesFromItsUploadToTheEndOfItsPages) {
  const auto file = upload("a letter");
  EXPECT_EQ(status_of(file), "uploaded");
  scan(file, {"one", "two"});
  EXPECT_EQ(status_of(file), "processing");
  EXPECT_EQ(document(file, "stage"), kOcr);
  EXPECT_EQ(pages(file), "1 pending, 2 pending");
  EXPECT_EQ(read_pages(), 2);
  EXPECT_EQ(waiting(kOutputs), 1);
  end();
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "completed completed");
  EXPECT_EQ(pages(file), "1 completed, 2 completed");
  EXPECT_EQ(document(file, "run"), "1");
  EXPECT_EQ(imbalance(sql), "");
}

// The jobs of a document carry whose it is, what set it off, and where they belong.
TEST_F(Documents, JobsOfStagesKnowTheirOwnerPipelineAndParent) {
  const auto file = upload("a letter");
  const auto first = take(kScan);
  begin(first);
  expect_settled(settle_scan(first, {"one"}));
  const auto page = take(kOcr);
  EXPECT_EQ(
      sql.value("select concat_ws(' ', owner_id, pipeline, stage, parent_id = $2::uuid, "
                "payload ->> 'shell_file_id' = $3) from millrace.job_fact where job_id = $1::uuid",
                pg::params(page.id, first.id, file)),
      fmt::format("{} guardian {} t t", kAda, kOcr));
}

TEST_F(Documents, ADocumentIsBegunOnceAndKeepsThePipelineItBeganWith) {
  const auto file = upload("a letter");
  const auto job = take(kScan);
  const auto first = begin(job, "1");
  EXPECT_EQ(begin(job, "1"), first);
  begin(job, "2");
  EXPECT_EQ(document(file, "pipeline_hash"), "\\x" + hash("1"));
  EXPECT_EQ(document(file, "run"), "1");
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'document.started'"), 1);
}

// B01, B13: what a stage made goes with the fence, or not at all.
TEST_F(Documents, b01_a_worker_that_lost_its_lease_changes_nothing) {
  const auto file = upload("a letter");
  const auto old = take(kScan);
  begin(old);
  EXPECT_EQ(worker.settle(old, "handback"), "settled");
  const auto error = settle_scan(old, {"one"});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR001");
  EXPECT_EQ(pages(file) + results(file), "");
  EXPECT_EQ(sql.number("select count(*) from millrace.page_result"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.audit where table_name = 'document'"), 0);
  keep(sql);

  scan(file, {"one"});
  const auto page = take(kOcr);
  EXPECT_EQ(worker.settle(page, "handback"), "settled");
  ASSERT_TRUE(settle_page(page, "stale words"));
  EXPECT_EQ(results(file), "");
  keep(sql);
  EXPECT_EQ(read_pages(), 1);
  const auto last = take(kOutputs);
  EXPECT_EQ(worker.settle(last, "handback"), "settled");
  ASSERT_TRUE(settle_stage(last, R"({"closes": "fast_queue_ocr"})"));
  EXPECT_EQ(document(file, "state"), "processing");
}

TEST_F(Documents, ARefusedFileEndsRejectedAndSaysByWhichRule) {
  const auto file = upload("malware");
  const auto job = take(kScan);
  begin(job);
  expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                        pg::params(job.id, scan_of({}, "refused", "pdf_launch"), kOcrPlan)));
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "rejected rejected");
  EXPECT_EQ(error_field(file, "{current_error,error_message}"), "pdf_launch");
  EXPECT_EQ(error_field(file, "{current_error,code}"), "rejected");
  EXPECT_EQ(waiting(kOcr) + waiting(kOutputs), 0);
  EXPECT_EQ(sql.value("select patient_id is not null from millrace.audit where action = "
                      "'document_rejected' limit 1"),
            "t");
}

// G-14, F07: only what changed is done again.
TEST_F(Documents, ASecondRunDoesOnlyPagesThatShowSomethingElse) {
  const auto file = scanned({"one", "two", "three"});
  read_pages();
  end();
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  EXPECT_EQ(status_of(file), "processing");
  scan(file, {"one", "another", "three"});
  EXPECT_EQ(waiting(kOcr), 1);
  EXPECT_EQ(read_pages(), 1);
  end();
  EXPECT_EQ(document(file, "state") + " " + document(file, "run"), "completed 2");
  EXPECT_EQ(sql.value("select string_agg(run::text, ' ' order by page) from millrace.page_result "
                      "where page > 0"),
            "1 2 1");
}

// What a page once said is no word about what it shows now.
TEST_F(Documents, AChangedPageThatCannotBeReadIsFailedNotAsItWas) {
  const auto file = scanned({"one", "two"});
  read_pages();
  end();
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one", "another"});
  EXPECT_EQ(results(file), "1 fast_queue_ocr");
  fail_page(take(kOcr));
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_EQ(pages(file), "1 completed, 2 failed fast_queue_ocr document_refused");
}

TEST_F(Documents, ADocumentThatHasFewerPagesNowForgetsTheOthers) {
  const auto file = scanned({"one", "two", "three"});
  read_pages();
  end();
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one"});
  EXPECT_EQ(results(file), "1 fast_queue_ocr");
  EXPECT_EQ(waiting(kOcr), 0);
  end();
  EXPECT_EQ(pages(file), "1 completed");
}

TEST_F(Documents, APageThatFailsLeavesAPartialDocument) {
  const auto file = scanned({"one", "two"});
  fail_page(take(kOcr));
  EXPECT_EQ(read_pages(), 1);
  EXPECT_EQ(document(file, "state"), "processing");
  end();
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "partial partial");
  EXPECT_EQ(pages(file), "1 failed fast_queue_ocr document_refused, 2 completed");
}

TEST_F(Documents, ADocumentOfWhichAllPagesFailedHasFailed) {
  const auto file = scanned({"one", "two"});
  fail_page(take(kOcr));
  fail_page(take(kOcr));
  keep(sql);
  expect_settled(settle_stage(take(kOutputs), R"({"closes": "fast_queue_ocr"})",
                              R"({"stage": "document_outputs", "each": "document", "job": {}})"));
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "failed failed");
  EXPECT_EQ(waiting(kOutputs), 0);
}

TEST_F(Documents, APageFailsTheWholeDocumentWhereThePipelineSaysSo) {
  for (const auto* plan :
       {R"({"stage": "document_outputs", "each": "document", "job": {}})", "null"}) {
    const auto file = scanned({fmt::format("one {}", plan), fmt::format("two {}", plan)});
    fail_page(take(kOcr));
    read_pages();
    expect_settled(settle_stage(
        take(kOutputs), R"({"closes": "fast_queue_ocr", "fail_on_page": true})",
        std::string_view(plan) == "null" ? std::nullopt : std::optional<std::string>(plan)));
    EXPECT_EQ(document(file, "state"), "failed") << plan;
  }
}

// Two stages for pages, of which either may be the one that says on_page_failure = "fail".
class TwoStages : public DocumentTest {
 protected:
  static constexpr std::string_view kPass = "ai_queue_pass1";
  static constexpr std::string_view kReadPlan =
      R"({"stage": "fast_queue_ocr", "each": "page", "version": "v1", "inputs": ["content"],
          "job": {"queue": "fast_queue", "max_attempts": 2},
          "next": {"job_type": "ai_queue_pass1", "queue": "ai_queue"}})";
  static constexpr std::string_view kPassPlan =
      R"({"stage": "ai_queue_pass1", "each": "page", "version": "v1", "inputs": ["fast_queue_ocr"],
          "job": {"queue": "ai_queue", "max_attempts": 2},
          "next": {"job_type": "document_outputs"}})";

  // Of three pages, of which the first is lost while it is read; its next stage begins, or not.
  std::string read_without_the_first(std::string_view closing) {
    const auto file = scanned({"one", "two", "three"}, kReadPlan);
    fail_page(take(kOcr));
    read_pages();
    expect_settled(settle_stage(take(kPass),
                                fmt::format(R"({{"closes": "fast_queue_ocr"{}}})", closing),
                                std::string(kPassPlan)));
    return file;
  }
  void pass_page() {
    const auto job = take(kPass);
    expect_settled(settle(
        job,
        "select millrace.settle_page($1::uuid, $2::jsonb, '{\"job_type\": \"document_outputs\"}')",
        pg::params(
            job.id,
            fmt::format(
                R"({{"page": {}, "stage": "{}", "reuse_key": "{}", "blob": {}, "meta": {{}}}})",
                payload(job, "page"), kPass, hash("key"), stored(sql, "entities")))));
  }
  void end_strictly() {
    keep(sql);
    expect_settled(
        settle_stage(take(kOutputs), R"({"closes": "ai_queue_pass1", "fail_on_page": true})"));
  }
};

TEST_F(TwoStages, APageThatAForgivingStageLostDoesNotFailAtAStrictOne) {
  const auto file = read_without_the_first("");
  for (int i = 0; i < 2; ++i) pass_page();
  end_strictly();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_EQ(pages(file), "1 failed fast_queue_ocr document_refused, 2 completed, 3 completed");
  EXPECT_EQ(error_field(file, "{current_error,code}"), "document_refused");
}

TEST_F(TwoStages, APageThatAStrictStageLostFailsTheDocumentAndIsNamedWithIt) {
  const auto file = read_without_the_first("");
  pass_page();
  const auto job = take(kPass);
  EXPECT_EQ(payload(job, "page"), "3");
  fail_page(job);
  end_strictly();
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "failed failed");
  EXPECT_EQ(error_field(file, "{current_error,error_message}"),
            "page 3 failed in stage ai_queue_pass1 (document_refused), of which no page may be "
            "missing");
  EXPECT_EQ(error_field(file, "{current_error,page}") + " " +
                error_field(file, "{current_error,job_type}") + " " +
                error_field(file, "{current_error,code}"),
            "3 ai_queue_pass1 page_failed");
}

TEST_F(TwoStages, AStrictStageEndsTheDocumentBeforeTheNextBegins) {
  const auto file = read_without_the_first(R"(, "fail_on_page": true)");
  EXPECT_EQ(document(file, "state"), "failed");
  EXPECT_EQ(waiting(kPass), 0);
  EXPECT_EQ(error_field(file, "{current_error,error_message}"),
            "page 1 failed in stage fast_queue_ocr (document_refused), of which no page may be "
            "missing");
}

TEST_F(Documents, APageWhoseJobWasCancelledIsGivenUpToo) {
  const auto file = scanned({"one", "two"});
  sql.run(
      "select millrace.cancel_jobs(array[(select job_id from millrace.job_fact where payload ->> "
      "'page' = '2')], 'enough')");
  EXPECT_EQ(read_pages(), 1);
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_EQ(pages(file), "1 completed, 2 failed fast_queue_ocr enough");
}

// D12: a redrive goes on from where the document stopped.
TEST_F(Documents, APageThatIsRedrivenAfterTheEndResumesTheDocument) {
  const auto file = scanned({"one", "two"});
  const auto failed = take(kOcr);
  fail_page(failed);
  read_pages();
  end();
  redrive(failed.id);
  keep(sql);
  EXPECT_EQ(read_pages(), 1);
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "processing processing");
  EXPECT_EQ(document(file, "run"), "2");
  end();
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "completed completed");
  EXPECT_EQ(pages(file), "1 completed, 2 completed");
}

TEST_F(Documents, SeveralPagesThatAreRedrivenResumeItOnce) {
  const auto file = scanned({"one", "two", "three"});
  for (int i = 0; i < 2; ++i) fail_page(take(kOcr));
  read_pages();
  end();
  redrive();
  keep(sql);
  EXPECT_EQ(read_pages(), 2);
  EXPECT_EQ(waiting(kOutputs), 1);
  // The second page came when the document was on its way already: it begins anew, for that page.
  end();
  EXPECT_EQ(document(file, "state"), "processing");
  scan(file, {"one", "two", "three"});
  EXPECT_EQ(waiting(kOcr), 0);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
  EXPECT_EQ(pages(file), "1 completed, 2 completed, 3 completed");
  EXPECT_EQ(waiting(kScan) + waiting(kOcr) + waiting(kOutputs), 0);
}

TEST_F(Documents, TheDeadLetterOfAJobForTheWholeDocumentEndsIt) {
  const auto file = scanned({"one"});
  read_pages();
  const auto job = take(kOutputs);
  EXPECT_EQ(worker.settle(job, "permanent", R"({"error": {"error_type": "x", "message": "m"}})"),
            "settled");
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "failed failed");
  // Redriven, it goes on, and says so.
  redrive(job.id);
  keep(sql);
  expect_settled(settle_stage(take(kOutputs), R"({"closes": "fast_queue_ocr"})",
                              R"({"stage": "document_outputs", "each": "document", "job": {}})"));
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "processing processing");
  end();
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "completed completed");
}

TEST_F(Documents, AFileWhoseFirstJobDiesBeforeItIsBegunHasFailedAndCanBeRetried) {
  const auto file = upload("a letter");
  EXPECT_EQ(
      worker.settle(take(kScan), "permanent", R"({"error": {"error_type": "x", "message": "m"}})"),
      "settled");
  EXPECT_EQ(status_of(file), "failed");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  EXPECT_EQ(status_of(file), "uploaded");
  scan(file, {"one"});
  read_pages();
  end();
  EXPECT_EQ(status_of(file), "completed");
}

TEST_F(Documents, AFileWhoseFirstJobWasCancelledCanBeRetried) {
  const auto file = upload("a letter");
  sql.run("select millrace.cancel_jobs(array(select job_id from millrace.job_fact), 'enough')");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one"});
  EXPECT_EQ(document(file, "state"), "processing");
}

// Nothing that a job does whose document goes on without it counts.
TEST_F(Documents, AJobThatTheDocumentHasLeftBehindChangesNothing) {
  const auto file = scanned({"one", "two"});
  fail_page(take(kOcr));
  read_pages();
  const auto old = take(kOutputs);
  EXPECT_EQ(worker.settle(old, "permanent", R"({"error": {"error_type": "x", "message": "m"}})"),
            "settled");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  redrive(old.id);
  keep(sql);
  expect_settled(settle_stage(take(kOutputs), R"({"closes": "fast_queue_ocr"})"));
  EXPECT_EQ(document(file, "state") + " " + document(file, "stage"),
            fmt::format("processing {}", kScan));
  scan(file, {"one", "two"});
  // Nor does its dead letter end what others work on.
  sql.run("update millrace.document set batch_id = null, job_id = millrace.new_id()");
  read_pages();
  EXPECT_EQ(worker.settle(take(kOutputs), "permanent",
                          R"({"error": {"error_type": "x", "message": "m"}})"),
            "settled");
  EXPECT_EQ(document(file, "state"), "processing");
}

TEST_F(Documents, AJobForAPageThatIsNoMoreIsRefused) {
  const auto file = scanned({"one", "two"});
  const auto first = take(kOcr);
  const auto second = take(kOcr);
  sql.run("delete from millrace.page where page = 2");
  const auto error = settle_page(second, "words");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR041");
  expect_settled(settle_page(first, "words"));
  EXPECT_EQ(results(file), "1 fast_queue_ocr");
}

// --- Those who wait for nobody ---

TEST_F(Documents, ADocumentWhoseJobWasCancelledIsEndedByTheKeeper) {
  const auto file = scanned({"one"});
  read_pages();
  sql.run(
      "select millrace.cancel_jobs(array[(select callback_job_id from millrace.batch)], 'enough')");
  pass(sql, "11 seconds");
  EXPECT_EQ(sql.value("select millrace.reconcile(1000) ->> 'documents'"), "1");
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "failed failed");
  EXPECT_EQ(error_field(file, "{current_error,error_type}") + " " +
                error_field(file, "{current_error,code}"),
            "ocr_failure cancelled");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one"});
  EXPECT_EQ(waiting(kOcr), 0);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
}

TEST_F(Documents, ADocumentThatIsWorkedOnIsLeftAlone) {
  std::vector<std::string> files;
  files.push_back(scanned({"one"}));  // Its page waits.
  files.push_back(scanned({"two"}));  // Its page runs.
  take(kOcr);
  upload("three");
  const auto scanning = take(kScan);  // Its scan runs.
  begin(scanning);
  pass(sql, "1 hour");
  EXPECT_EQ(sql.number("select millrace.reconcile_documents(1000)"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.document where state = 'processing'"), 3);
}

// However many wait for long: the one that nobody works on is found.
TEST_F(Documents, DocumentsThatWaitRightlyHideNoneThatDoNot) {
  for (int i = 0; i < 5; ++i) scanned({fmt::format("page of {}", i)});
  const auto last = scanned({"cancelled"});
  sql.run(
      "select millrace.cancel_jobs(array(select job_id from millrace.job_fact where payload ->> "
      "'shell_file_id' = $1), 'enough')",
      pg::params(last));
  keep(sql);
  sql.run(
      "select millrace.cancel_jobs(array(select job_id from millrace.job_fact where payload ->> "
      "'shell_file_id' = $1), 'enough')",
      pg::params(last));
  pass(sql, "11 seconds");
  EXPECT_EQ(sql.number("select millrace.reconcile_documents(1)"), 1);
  EXPECT_EQ(document(last, "state"), "failed");
  EXPECT_EQ(sql.number("select millrace.reconcile_documents(1)"), 0);
}

TEST_F(Documents, RetryIsRefusedWhileADocumentIsProcessed) {
  const auto file = upload("a letter");
  ServerSession api{database};
  const auto retry = [&] {
    return api.refused("select millrace.retry_document($1::uuid)", pg::params(file)).sqlstate;
  };
  EXPECT_EQ(retry(), "MR042");
  scan(file, {"one"});
  EXPECT_EQ(retry(), "MR042");
  read_pages();
  EXPECT_EQ(retry(), "MR042");
  end();
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  EXPECT_EQ(retry(), "MR042");
  EXPECT_EQ(waiting(kScan), 1);
}

// --- Deleted meanwhile ---

TEST_F(Documents, AFileThatIsDeletedTakesEverythingWithItAndLeavesItsContentToTheSweep) {
  const auto file = scanned({"one", "two"});
  const auto page = take(kOcr);
  expect_settled(settle_page(page, "words"));
  const auto running = take(kOcr);
  User ada{database, kAda};
  EXPECT_EQ(ada.number("select count(*) from millrace.delete_shell_files(array[$1::uuid])",
                       pg::params(file)),
            1);
  for (const auto* table :
       {"document", "page", "page_result", "clinical_fact", "document_output"}) {
    EXPECT_EQ(sql.number(fmt::format("select count(*) from millrace.{}", table)), 0) << table;
  }
  EXPECT_TRUE(
      sql.yes("select exists (select from millrace.orphan_note where sha256 = decode($1, "
              "'hex'))",
              pg::params(hash("words"))));
  // Whoever was at it hears of it, and its job ends.
  const auto error = settle(running, "select millrace.settle_page($1::uuid, '{\"page\": 2}', null)",
                            pg::params(running.id));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->sqlstate, "MR039");
  EXPECT_EQ(worker.settle(running, "retry"), "settled");
  // The callback of its pages comes all the same, and hears of it too.
  keep(sql);
  const auto callback = take(kOutputs);
  EXPECT_EQ(
      sql.refused("select millrace.document_work($1::uuid)", pg::params(callback.id)).sqlstate,
      "MR039");
  EXPECT_EQ(worker.settle(callback, "cancelled"), "settled");
  keep(sql);
  EXPECT_EQ(places(sql), "ready 0, delayed 0, leased 0");
  EXPECT_EQ(imbalance(sql), "");
}

// Two connections: one settles the last job of a document while the other deletes the file.
TEST_F(Documents, DeletingAndSettlingAtOnceNeverDeadlock) {
  for (int round = 0; round < 6; ++round) {
    const auto file = scanned({fmt::format("page of round {}", round)});
    read_pages();
    const auto job = take(kOutputs);
    std::optional<Error> settled;
    std::string deleted;
    together(2, [&](int who, const std::atomic<bool>&) {
      if (who == 0) {
        settled = settle_stage(job, R"({"closes": "fast_queue_ocr"})");
      } else {
        User ada{database, kAda};
        deleted = ada.value("select count(*) from millrace.delete_shell_files(array[$1::uuid])",
                            pg::params(file));
      }
    });
    EXPECT_EQ(deleted, "1");
    if (settled) {
      EXPECT_TRUE(settled->sqlstate == "MR039" || settled->sqlstate == "MR001")
          << settled->describe();
    }
    EXPECT_EQ(sql.number("select count(*) from millrace.document"), 0);
  }
}

// --- Content that kills its readers (D06) ---

class Quarantine : public DocumentTest {
 protected:
  void crash(const Delivery& job) {
    EXPECT_EQ(worker.settle(
                  job, "retry",
                  R"({"crash": true, "error": {"error_type": "reader_crashed", "message": "m"}})"),
              "settled");
    pass(sql, "5 minutes");
    keep(sql);
  }
  std::string quarantined() {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', what, stage, reason, page), ', '), '') from "
        "millrace.quarantine where released_at is null");
  }
};

constexpr std::string_view kPatientPlan =
    R"({"stage": "fast_queue_ocr", "each": "page", "version": "v1", "inputs": ["content"],
        "job": {"queue": "fast_queue", "max_attempts": 7}, "next": {"job_type": "document_outputs"}})";

TEST_F(Quarantine, d06_a_page_that_crashed_its_reader_three_times_is_refused_until_released) {
  const auto file = scanned({"hostile", "fine"}, kPatientPlan);
  for (int i = 0; i < 3; ++i) {
    auto job = take(kOcr);
    if (payload(job, "page") == "2") {
      expect_settled(settle_page(job, "fine words"));
      job = take(kOcr);
    }
    EXPECT_EQ(quarantined(), "");
    crash(job);
  }
  EXPECT_EQ(quarantined(), "page fast_queue_ocr reader_crashed 1");
  read_pages();
  end();
  EXPECT_EQ(pages(file), "1 failed fast_queue_ocr reader_crashed, 2 completed");
  EXPECT_EQ(sql.value("select what from millrace.quarantine where sha256 = decode($1, 'hex')",
                      pg::params(hash("hostile"))),
            "page");

  // The same page in another document is not read at all.
  const auto again = scanned({"hostile", "new"}, kPatientPlan);
  EXPECT_EQ(pages(again), "1 failed fast_queue_ocr quarantined, 2 pending");
  // Another tenant has its own.
  const auto elsewhere =
      scanned({"hostile"}, kPatientPlan, {std::string(kBob), std::string(kOther)});
  EXPECT_EQ(pages(elsewhere), "1 pending");

  ServerSession api{database};
  EXPECT_EQ(api.number("select count(*) from millrace.list_quarantine()"), 1);
  EXPECT_EQ(api.number("select millrace.release_quarantine($1)", pg::params(hash("hostile"))), 1);
  EXPECT_EQ(api.number("select millrace.release_quarantine($1)", pg::params(hash("hostile"))), 0);
  EXPECT_EQ(api.refused("select millrace.release_quarantine('x')").sqlstate, "MR024");
  EXPECT_EQ(quarantined(), "");
  const auto released = scanned({"hostile", "newer"}, kPatientPlan);
  EXPECT_EQ(pages(released), "1 pending, 2 pending");
}

// Equal pages of a document wait beside each other, in jobs that were made before one of them was
// poison.
TEST_F(Quarantine, d06_an_equal_page_that_waits_already_is_told_so) {
  const auto file = scanned({"hostile", "hostile"}, kPatientPlan);
  const auto is_refused = [&](const Delivery& job) {
    return sql.value("select millrace.document_work($1::uuid) ->> 'quarantined'",
                     pg::params(job.id));
  };
  int crashes = 0;
  for (; quarantined().empty(); ++crashes) {
    ASSERT_LT(crashes, 6);
    const auto job = take(kOcr);
    EXPECT_EQ(is_refused(job), "false");
    crash(job);
  }
  EXPECT_LT(crashes, 6);
  const auto other = take(kOcr);
  EXPECT_EQ(is_refused(other), "true");
  fail_page(other, "permanent", R"({"error": {"error_type": "quarantined", "message": "m"}})");
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "failed");
  EXPECT_EQ(sql.value("select string_agg(failed_reason, ' ' order by failed_reason) from "
                      "millrace.page where file_id = $1::uuid",
                      pg::params(file)),
            "quarantined reader_crashed");
}

TEST_F(Quarantine, d06_a_file_that_crashed_its_scan_three_times_is_failed_and_refused_next_time) {
  const auto file = upload("zip bomb");
  for (int i = 0; i < 3; ++i) {
    const auto job = take(kScan);
    EXPECT_FALSE(sql.yes("select ($1::jsonb ->> 'quarantined')::boolean", pg::params(begin(job))));
    crash(job);
  }
  EXPECT_EQ(quarantined(), "file fast_queue_security reader_crashed");
  EXPECT_EQ(document(file, "state") + " " + status_of(file), "failed failed");
  upload("zip bomb");
  EXPECT_TRUE(
      sql.yes("select ($1::jsonb ->> 'quarantined')::boolean", pg::params(begin(take(kScan)))));
}

TEST_F(Quarantine, CrashesOfOneGenerationDoNotCountAgainstTheNext) {
  const auto file = scanned({"bad"}, kPatientPlan);
  for (int i = 0; i < 3; ++i) crash(take(kOcr));
  const auto dead = sql.value("select job_id from millrace.job_history where status = 'failed'");
  ServerSession api{database};
  api.run("select millrace.release_quarantine($1)", pg::params(hash("bad")));
  end();
  EXPECT_EQ(document(file, "state"), "failed");
  redrive(dead);
  keep(sql);
  crash(take(kOcr));
  EXPECT_EQ(quarantined(), "");
  EXPECT_EQ(read_pages(), 1);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
}

}  // namespace
}  // namespace millrace::test
