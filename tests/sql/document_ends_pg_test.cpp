// How documents end and what they hand out then: nothing of earlier runs where they are refused or
// have failed, nothing of what crashed its drawer; and while they wait, why.
#include "sql/document_world.h"

namespace millrace::test {
namespace {

constexpr std::string_view kFact =
    R"({"fact_id": "f1", "type": "medication", "name": "Metformin", "subject": "patient",
        "polarity": "affirmed", "certainty": "certain", "temporality": "current",
        "value": {"dose": "500 mg"}, "evidence": [{"text": "Metformin"}], "conf": 0.9,
        "route": "accepted"})";

class Ends : public DocumentTest {
 protected:
  std::string output(std::string_view kind) {
    return fmt::format(R"({{"kind": "{}", "file_name": "{}.txt", "blob": {}}})", kind, kind,
                       stored(sql, kind));
  }
  // Of two pages that say something, ended, with outputs.
  std::string completed() {
    const auto file = scanned({"one", "two"});
    for (int i = 0; i < 2; ++i) {
      expect_settled(settle_page(take(kOcr), "words", fmt::format("[{}]", kFact)));
    }
    keep(sql);
    end(fmt::format(R"(, "summary": {{"facts": 2}}, "outputs": [{}, {}])", output("manifest"),
                    output("text")));
    EXPECT_EQ(document(file, "state"), "completed");
    return file;
  }
  Delivery retried(const std::string& file) {
    ServerSession api{database};
    api.run("select millrace.retry_document($1::uuid)", pg::params(file));
    const auto job = take(kScan);
    begin(job);
    return job;
  }
  std::optional<Error> refuse(const Delivery& job) {
    return settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, null)",
                  pg::params(job.id, scan_of({}, "refused", "virus")));
  }
  // "2 outputs, 2 facts, 2 pages, 3 results"
  std::string holds(const std::string& file) {
    return sql.value(
        "select format('%s outputs, %s facts, %s pages, %s results', (select count(*) from "
        "millrace.document_output where file_id = $1::uuid), (select count(*) from "
        "millrace.clinical_fact where file_id = $1::uuid), (select count(*) from millrace.page "
        "where file_id = $1::uuid), (select count(*) from millrace.page_result where file_id = "
        "$1::uuid))",
        pg::params(file));
  }
  std::string cleared(const std::string& file, std::string_view field) {
    return sql.value(
        "select a.new_values ->> $2 from millrace.audit a join millrace.shell_files f on f.id = "
        "$1::uuid and f.patient_id = a.patient_id where a.record_id = $1::uuid::text and a.action "
        "= "
        "'document_cleared' and a.category = 'clinical'",
        pg::params(file, field));
  }
  std::string handed_out(const std::string& file, std::string_view kind) {
    ServerSession api{database};
    return api.value("select millrace.get_output($1::uuid, $2) ->> 'kind'", pg::params(file, kind));
  }
};

TEST_F(Ends, ARejectedDocumentHandsOutNothingOfAnEarlierRun) {
  const auto file = completed();
  EXPECT_EQ(holds(file), "2 outputs, 2 facts, 2 pages, 3 results");
  expect_settled(refuse(retried(file)));
  EXPECT_EQ(document(file, "state"), "rejected");
  // What is left is the report of who refused it.
  EXPECT_EQ(holds(file), "0 outputs, 0 facts, 0 pages, 1 results");
  EXPECT_EQ(handed_out(file, "text"), "(null)");
  EXPECT_EQ(document(file, "summary"), "{}");
  EXPECT_EQ(cleared(file, "outputs") + cleared(file, "facts") + cleared(file, "results"), "222");
}

TEST_F(Ends, ADocumentThatALaterStageRejectsHandsOutNothingEither) {
  const auto file = completed();
  const auto job = retried(file);
  expect_settled(settle_stage(
      job, R"({"rejected": [{"rule": "not_parsed", "severity": "refuse", "detail": "no"}]})"));
  EXPECT_EQ(document(file, "state"), "rejected");
  EXPECT_EQ(holds(file), "0 outputs, 0 facts, 0 pages, 0 results");
}

TEST_F(Ends, AFileThatIsRejectedAtOnceLeavesNothingToClear) {
  const auto file = upload("hostile");
  const auto job = take(kScan);
  begin(job);
  expect_settled(refuse(job));
  EXPECT_EQ(document(file, "state"), "rejected");
  EXPECT_EQ(cleared(file, "outputs"), "(none)");
}

TEST_F(Ends, APictureThatIsDrawnWhileItsDocumentIsRejectedIsNotKept) {
  const auto file = completed();
  ServerSession api{database};
  api.run("select millrace.ask_image($1::uuid, 1)", pg::params(file));
  const auto drawing = take("document_image");
  expect_settled(refuse(retried(file)));
  expect_settled(settle(
      drawing, "select millrace.settle_image($1::uuid, $2::jsonb)",
      pg::params(drawing.id,
                 fmt::format(R"({{"kind": "image", "page": 1, "file_name": "p.png", "blob": {}}})",
                             stored(sql, "pixels")))));
  EXPECT_EQ(holds(file), "0 outputs, 0 facts, 0 pages, 1 results");
}

TEST_F(Ends, ADocumentThatFailsBeforeItIsReadHandsOutNothingOfAnEarlierRun) {
  const auto file = completed();
  fail_page(retried(file));
  EXPECT_EQ(document(file, "state"), "failed");
  // What is known of its pages is for the next try.
  EXPECT_EQ(holds(file), "0 outputs, 2 facts, 2 pages, 3 results");
  EXPECT_EQ(handed_out(file, "manifest"), "(null)");
  EXPECT_EQ(cleared(file, "state") + " " + cleared(file, "outputs"), "failed 2");
}

TEST_F(Ends, ARunThatFailsKeepsWhatItMadeItself) {
  const auto file = completed();
  const auto job = retried(file);
  const auto early =
      sql.value("select ($1::jsonb || jsonb_build_object('outputs', jsonb_build_array($2::jsonb)))",
                pg::params(scan_of({"three"}), output("pdf")));
  expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                        pg::params(job.id, early, kOcrPlan)));
  fail_page(take(kOcr));
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "failed");
  EXPECT_EQ(handed_out(file, "manifest") + " " + handed_out(file, "pdf"), "(null) pdf");
}

// --- Content in quarantine ---

// The writer has crashed three times, and nobody has looked at the file since: what was read, and
// paid for, is there when it is released.
TEST_F(Ends, d06_ADocumentInQuarantineKeepsWhatWasPaidForAndIsBegunAnewWhenReleased) {
  const auto file = scanned({"one", "two"});
  for (int i = 0; i < 2; ++i) {
    expect_settled(settle_page(take(kOcr), "words", fmt::format("[{}]", kFact)));
  }
  keep(sql);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(worker.settle(
                  take(kOutputs), "retry",
                  R"({"crash": true, "error": {"error_type": "reader_crashed", "message": "m"}})"),
              "settled");
    pass(sql, "5 minutes");
    keep(sql);
  }
  EXPECT_EQ(document(file, "state"), "failed");
  const auto sha256 =
      sql.value("select encode(sha256, 'hex') from millrace.shell_files where id = $1::uuid",
                pg::params(file));
  ServerSession api{database};
  const auto error = api.refused("select millrace.retry_document($1::uuid)", pg::params(file));
  EXPECT_EQ(error.sqlstate, "MR042");
  EXPECT_EQ(error.detail, "quarantined");
  EXPECT_NE(error.message.find(sha256), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("millrace documents release " + sha256), std::string::npos)
      << error.hint;
  EXPECT_EQ(document(file, "state") + " " + holds(file),
            "failed 0 outputs, 2 facts, 2 pages, 3 results");
  EXPECT_EQ(api.number("select millrace.release_quarantine($1)", pg::params(sha256)), 1);
  expect_settled(settle_scan(retried(file), {"one", "two"}));
  EXPECT_EQ(waiting(kOcr), 0) << "nothing is read, or paid for, again";
  end();
  EXPECT_EQ(document(file, "state"), "completed");
}

class QuarantinedLater : public Ends {
 protected:
  // The job of the second run of a document that had been completed.
  Delivery begun_anew() {
    file_ = completed();
    const auto job = retried(file_);
    sql.run(
        "insert into millrace.paid_answer (file_id, page, stage, question_sha256, tenant_id, "
        "job_id, generation, call_id, model, response_id, answer, input_tokens, output_tokens, "
        "cost_micros, kept_at) select file_id, 1, 'ai_queue_pass1', sha256('q'), tenant_id, "
        "millrace.new_id(), 1, millrace.new_id(), 'm', 'r', 'paid', 1, 1, 1, millrace.now() from "
        "millrace.document where file_id = $1::uuid",
        pg::params(file_));
    return job;
  }
  void expect_nothing_lost() {
    EXPECT_EQ(document(file_, "state"), "rejected");
    EXPECT_EQ(holds(file_), "2 outputs, 2 facts, 2 pages, 3 results");
    EXPECT_EQ(document(file_, "kind") + " " + document(file_, "page_count"), "pdf 2");
    EXPECT_EQ(sql.number("select count(*) from millrace.paid_answer"), 1);
    EXPECT_EQ(cleared(file_, "outputs"), "(none)");
    expect_settled(settle_scan(retried(file_), {"one", "two"}));
    EXPECT_EQ(waiting(kOcr), 0);
    end();
    EXPECT_EQ(document(file_, "state"), "completed");
  }

  std::string file_;
};

TEST_F(QuarantinedLater, d06_AFileThatTheScanRefusesForThatAloneLosesNothing) {
  const auto job = begun_anew();
  expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, null)",
                        pg::params(job.id, scan_of({}, "refused", "quarantined"))));
  expect_nothing_lost();
}

TEST_F(QuarantinedLater, d06_NorDoesOneThatItsParserRefuses) {
  expect_settled(settle_stage(begun_anew(),
                              R"({"rejected": [{"rule": "quarantined", "severity": "refuse"}]})"));
  expect_nothing_lost();
}

TEST_F(Ends, WhyAFileWasRefusedIsPastOnceItIsRead) {
  const auto file = completed();
  expect_settled(settle_stage(retried(file),
                              R"({"rejected": [{"rule": "quarantined", "severity": "refuse"}]})"));
  EXPECT_THAT(document(file, "findings"), testing::HasSubstr("quarantined"));
  expect_settled(settle_stage(
      retried(file),
      R"({"describes": {"kind": "pdf", "mime": "application/pdf", "page_count": 2}})"));
  EXPECT_EQ(document(file, "state") + " " + document(file, "findings"), "completed []");
}

// A reason beside it is a reason.
TEST_F(Ends, AFileThatIsRefusedForAnotherReasonTooLosesAll) {
  const auto file = completed();
  expect_settled(
      settle_stage(retried(file), R"({"rejected": [{"rule": "quarantined", "severity": "refuse"},
                                      {"rule": "virus", "severity": "refuse"}]})"));
  EXPECT_EQ(holds(file), "0 outputs, 0 facts, 0 pages, 0 results");
}

TEST_F(Ends, AFileInQuarantineThatWasNeverReadIsRefusedAndHasNoPages) {
  const auto file = upload("hostile");
  const auto job = take(kScan);
  begin(job);
  expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, null)",
                        pg::params(job.id, scan_of({}, "refused", "quarantined"))));
  EXPECT_EQ(document(file, "state") + " " + document(file, "page_count"), "rejected 0");
}

// --- What crashes the drawer ---

TEST_F(Ends, APageThatCrashedItsDrawerThreeTimesIsQuarantinedAndTheDocumentIsNot) {
  const auto file = completed();
  ServerSession api{database};
  const auto asked = [&] {
    return api.value("select millrace.ask_image($1::uuid, 1)", pg::params(file));
  };
  const auto is_refused = [&](const std::string& job) {
    return sql.value("select millrace.document_work($1::uuid) ->> 'quarantined'", pg::params(job));
  };
  const auto job = asked();
  EXPECT_EQ(is_refused(job), "false");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(worker.settle(
                  take("document_image"), "retry",
                  R"({"crash": true, "error": {"error_type": "reader_crashed", "message": "m"}})"),
              "settled");
    pass(sql, "5 minutes");
    keep(sql);
  }
  EXPECT_EQ(sql.value("select concat_ws(' ', what, stage, reason, page) from millrace.quarantine "
                      "where sha256 = decode($1, 'hex') and released_at is null",
                      pg::params(hash("one"))),
            "page document_image reader_crashed 1");
  EXPECT_EQ(document(file, "state"), "completed");
  EXPECT_EQ(error_field(file, "{}"), "(null)");
  EXPECT_EQ(is_refused(asked()), "true");
}

// --- Why a document waits ---

class Waits : public Ends {
 protected:
  std::string waiting(const std::string& file, std::string_view field) {
    ServerSession api{database};
    return api.value("select millrace.get_document($1::uuid) -> 'waiting' ->> $2",
                     pg::params(file, field));
  }
};

TEST_F(Waits, ADocumentWhoseJobsCannotBeDoneSaysWhyAndUntilWhen) {
  const auto file = scanned({"one", "two"});
  stop_clock(sql);
  const auto first = take(kOcr);
  const auto second = take(kOcr);
  EXPECT_EQ(waiting(file, "reason"), "(null)");
  constexpr auto kWhy =
      R"({"error": {"error_type": "reader", "message": "the jail cannot be built"}})";
  EXPECT_EQ(worker.settle(first, "throttled", kWhy), "settled");
  EXPECT_EQ(waiting(file, "reason"), "the jail cannot be built");
  EXPECT_EQ(waiting(file, "stage") + " " + waiting(file, "jobs"), "fast_queue_ocr 1");
  EXPECT_TRUE(
      sql.yes("select $1::timestamptz > millrace.now()", pg::params(waiting(file, "until"))));
  EXPECT_EQ(worker.settle(second, "throttled", kWhy), "settled");
  EXPECT_EQ(waiting(file, "jobs"), "2");
}

TEST_F(Waits, ADocumentOverTheBudgetOfAProviderSaysSo) {
  const auto file = scanned({"one"});
  EXPECT_EQ(worker.settle(take(kOcr), "blocked",
                          R"({"error": {"error_type": "budget", "message": "over its budget"}})"),
            "settled");
  EXPECT_EQ(waiting(file, "reason"), "over its budget");
}

TEST_F(Waits, AFailureThatIsTriedAgainIsNoWait) {
  const auto file = scanned({"one"});
  fail_page(take(kOcr), "retry");
  EXPECT_EQ(waiting(file, "reason"), "(null)");
  EXPECT_NE(error_field(file, "{current_error}"), "(null)");
}

}  // namespace
}  // namespace millrace::test
