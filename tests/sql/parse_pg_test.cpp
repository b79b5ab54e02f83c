// Parses by others, by the functions alone: asked once, received once, woken, given up (ADR 12;
// B-02, B-05, W-05, W-07, W-08; F08, G05, H02, H05).
#include "sql/document_world.h"

namespace millrace::test {
namespace {

class Parses : public DocumentTest {
 protected:
  // A document whose first job is in the hands of the worker.
  Delivery begun() {
    upload(fmt::format("file {}", ++files_));
    const auto job = take(kScan);
    begin(job);
    return job;
  }
  std::string request(std::string_view capability = "c") {
    return fmt::format(
        R"({{"parser": "llamaparse", "capability_sha256": "{}", "deadline_seconds": 3600}})",
        hash(capability));
  }
  std::string ask(const Delivery& job, std::string_view field, std::string_view capability = "c") {
    return sql.value("select millrace.ask_parse($1::uuid, $2::uuid, $3::jsonb) ->> $4",
                     pg::params(job.id, job.token, request(capability), field));
  }
  std::string look(const Delivery& job, std::string_view field) {
    return sql.value("select millrace.ask_parse($1::uuid, $2::uuid) ->> $3",
                     pg::params(job.id, job.token, field));
  }
  std::string note(const Delivery& job, std::string_view what, std::string_view field = "state") {
    return sql.value("select millrace.note_parse($1::uuid, $2::uuid, $3::jsonb) ->> $4",
                     pg::params(job.id, job.token, what, field));
  }
  std::string receive(const Delivery& job, std::string_view id, std::string_view text = "# Text") {
    return sql.value(
        "select millrace.receive_parse('llamaparse', $1, $2::uuid, jsonb_build_object('blob', "
        "$3::jsonb))",
        pg::params(id, job.id, stored(sql, text)));
  }
  std::string fail_parse(const Delivery& job, std::string_view id) {
    return sql.value(
        "select millrace.receive_parse('llamaparse', $1, $2::uuid, '{\"failed\": \"torn\"}')",
        pg::params(id, job.id));
  }
  std::string wake(std::string_view capability, std::string_view id) {
    return sql.value("select millrace.wake_parse(decode($1, 'hex'), $2)",
                     pg::params(hash(capability), id));
  }
  // A parse that is on the account, as the worker asks for one.
  std::string ask_paid(const Delivery& job, std::string_view content = "content",
                       std::string_view capability = "c") {
    const auto call = sql.value(
        "select millrace.begin_call(jsonb_build_object('job_id', $1::text, 'delivery_count', 1, "
        "'stage', 'parse', 'provider', 'webhook', 'model', '1', 'request_sha256', $2::text, "
        "'estimated_tokens', 0, 'reserved_micros', 5)) ->> 'call_id'",
        pg::params(job.id, hash(content)));
    return sql.value(
        "select millrace.ask_parse($1::uuid, $2::uuid, jsonb_build_object('parser', 'webhook', "
        "'capability_sha256', $3::text, 'deadline_seconds', 3600, 'call_id', $4::text)) ->> 'ask'",
        pg::params(job.id, job.token, hash(capability), call));
  }
  // What is there already of what the worker would ask for.
  std::string find(const Delivery& job, std::string_view path, std::string_view content = "content",
                   std::string_view parser = "webhook") {
    return sql.value(
        "select millrace.ask_parse($1::uuid, $2::uuid, jsonb_build_object('parser', $3::text, "
        "'request_sha256', $4::text)) #>> $5::text[]",
        pg::params(job.id, job.token, parser, hash(content), path));
  }
  // A dead letter whose text has come, and whose document is begun anew.
  Delivery begun_anew_after_its_text() {
    const auto job = begun();
    EXPECT_EQ(ask_paid(job), "true");
    EXPECT_EQ(worker.settle(job, "permanent"), "settled");
    EXPECT_EQ(receive(job, "w-1"), "processed");
    return again();
  }
  // The document is begun anew.
  Delivery again() {
    sql.run("select millrace.retry_document(file_id) from millrace.document");
    const auto job = take(kScan);
    begin(job);
    return job;
  }
  bool is_text_used() {
    return sql.value("select millrace.is_blob_used($1::uuid, decode($2, 'hex'))",
                     pg::params(kTenant, hash("# Text"))) == "t";
  }
  std::string place(const Delivery& job) {
    return sql.value("select millrace.place_of($1::uuid)", pg::params(job.id));
  }
  // Until later than now.
  bool is_put_off(const Delivery& job) {
    return sql.yes(
        "select exists (select from millrace.delayed where job_id = $1::uuid and due_at > "
        "millrace.now())",
        pg::params(job.id));
  }
  void park(const Delivery& job, int seconds = 600) {
    EXPECT_EQ(
        worker.settle(job, "rescheduled", fmt::format(R"({{"retry_after_seconds": {}}})", seconds)),
        "settled");
  }

 private:
  int files_ = 0;
};

TEST_F(Parses, IsAskedForOnceHoweverOftenTheJobIsDelivered) {  // B-05, F08
  const auto job = begun();
  EXPECT_EQ(look(job, "state"), "(null)");
  EXPECT_EQ(ask(job, "ask"), "true");
  EXPECT_EQ(note(job, R"({"remote_id": "r-1"})"), "waiting");
  EXPECT_EQ(ask(job, "ask"), "false");
  EXPECT_EQ(ask(job, "remote_id"), "r-1");
  EXPECT_EQ(look(job, "asks"), "1");
}

// Whoever asked died before it knew what came of it: the service may have done it, and charged.
TEST_F(Parses, f08_AnAskThatNobodyKnowsTheEndOfIsCounted) {
  const auto job = begun();
  EXPECT_EQ(ask(job, "ask", "first"), "true");
  EXPECT_EQ(ask(job, "ask", "second"), "true");
  EXPECT_EQ(look(job, "asks"), "2");
  // Only the capability of the last ask opens anything.
  EXPECT_EQ(wake("first", "e"), "unknown");
  EXPECT_EQ(wake("second", "e"), "woken");
}

TEST_F(Parses, AStaleDeliveryNeitherAsksNorTells) {  // B01
  const auto old = begun();
  EXPECT_EQ(worker.settle(old, "handback"), "settled");
  const auto refused = [&](const std::string& query) {
    return sql.refused(query, pg::params(old.id, old.token)).sqlstate == "MR001";
  };
  EXPECT_TRUE(refused("select millrace.ask_parse($1::uuid, $2::uuid, '{}')"));
  EXPECT_TRUE(refused("select millrace.note_parse($1::uuid, $2::uuid, '{\"remote_id\": \"x\"}')"));
  EXPECT_EQ(sql.number("select count(*) from millrace.parse_request"), 0);
}

// Parked: free of charge, and no failure of the document or the provider.
TEST_F(Parses, WaitingCostsNoAttempt) {  // B-02
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  park(job);
  EXPECT_EQ(place(job), "delayed");
  EXPECT_EQ(
      sql.value("select attempt from millrace.delayed where job_id = $1::uuid", pg::params(job.id)),
      "0");
  EXPECT_EQ(sql.number("select count(*) from millrace.attempt where charged"), 0);
  EXPECT_EQ(sql.value("select processing_error is null from millrace.shell_files limit 1"), "t");
}

TEST_F(Parses, w08_WhatArrivesIsStoredOnceAndWakesTheJob) {  // W-08
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  park(job);
  EXPECT_EQ(receive(job, "w-1"), "processed");
  EXPECT_EQ(place(job), "ready");
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = "
                       "'document.parse_arrived'"),
            1);
  const auto again = take(kScan);
  EXPECT_EQ(again.id, job.id);
  EXPECT_EQ(look(again, "state"), "arrived");
  EXPECT_EQ(sql.value("select millrace.ask_parse($1::uuid, $2::uuid) #>> '{content,sha256}'",
                      pg::params(again.id, again.token)),
            hash("# Text"));
}

TEST_F(Parses, w05_AnIdCountsOnce) {  // W-05, W-07, H02
  const auto job = begun();
  ask(job, "ask");
  EXPECT_EQ(receive(job, "w-1"), "processed");
  EXPECT_EQ(receive(job, "w-1"), "already");
  EXPECT_EQ(receive(job, "w-2"), "already");
  EXPECT_EQ(sql.value("select string_agg(webhook_id || ' ' || effect, ', ' order by webhook_id) "
                      "from millrace.webhook_inbox"),
            "w-1 parsed, w-2 ignored");
}

// W-07: a job that was cancelled waits for nothing, and what comes for it is not kept.
TEST_F(Parses, w07_WhatComesAfterACancelIsNotTaken) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  park(job);
  EXPECT_EQ(sql.value("select millrace.parse_awaited($1::uuid)", pg::params(job.id)), "waiting");
  sql.run("select millrace.cancel_jobs(array[$1::uuid], 'enough')", pg::params(job.id));
  EXPECT_EQ(sql.value("select millrace.parse_awaited($1::uuid)", pg::params(job.id)), "ended");
  EXPECT_EQ(receive(job, "w-1"), "already");
  EXPECT_EQ(fail_parse(job, "w-2"), "already");
  EXPECT_EQ(wake("c", "e-1"), "already");
  EXPECT_EQ(place(job), "final");
  EXPECT_EQ(sql.value("select state || ' ' || (sha256 is null) from millrace.parse_request"),
            "waiting true");
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind like 'document.parse_%'"),
            0);
  EXPECT_EQ(sql.value("select string_agg(distinct effect, ' ') from millrace.webhook_inbox"),
            "ignored");
}

// A dead letter waits for its redrive, and what comes for it meanwhile is paid for: it is kept.
TEST_F(Parses, TextForADeadLetterIsKeptForItsRedrive) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  EXPECT_EQ(place(job), "final");
  EXPECT_EQ(sql.value("select millrace.parse_awaited($1::uuid)", pg::params(job.id)), "waiting");
  EXPECT_EQ(receive(job, "w-1"), "processed");
  EXPECT_EQ(receive(job, "w-2", "# Other"), "already");
  redrive(job.id);
  const auto again = take(kScan);
  EXPECT_EQ(ask(again, "ask"), "false");
  EXPECT_EQ(look(again, "state"), "arrived");
  EXPECT_EQ(sql.value("select millrace.ask_parse($1::uuid, $2::uuid) #>> '{content,sha256}'",
                      pg::params(again.id, again.token)),
            hash("# Text"));
}

// The deadline was too short: the text is there all the same, and the redrive does not ask again.
TEST_F(Parses, TextThatComesAfterTheParseWasGivenUpIsKeptForARedrive) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"failed": "deadline"})");
  // As long as the job is in somebody's hands, the first word counts.
  EXPECT_EQ(receive(job, "w-1"), "already");
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  EXPECT_EQ(sql.value("select millrace.parse_awaited($1::uuid)", pg::params(job.id)), "waiting");
  EXPECT_EQ(fail_parse(job, "w-2"), "already");
  EXPECT_EQ(receive(job, "w-3"), "processed");
  redrive(job.id);
  const auto again = take(kScan);
  EXPECT_EQ(ask(again, "ask", "new"), "false");
  EXPECT_EQ(look(again, "state") + " " + look(again, "reason"), "arrived (null)");
}

// Its parse is that of a run before: nobody would ever take the text.
TEST_F(Parses, w07_TextForADocumentThatWasBegunAnewIsNotTaken) {
  const auto job = begun();
  ask(job, "ask");
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  sql.run("select millrace.retry_document(file_id) from millrace.parse_request");
  EXPECT_EQ(sql.value("select millrace.parse_awaited($1::uuid)", pg::params(job.id)), "ended");
  EXPECT_EQ(receive(job, "w-1"), "already");
}

// The usual command finds it as well as a redrive does: it is paid for.
TEST_F(Parses, f08_TextForADeadLetterIsThatOfTheDocumentBegunAnew) {
  const auto job = begun_anew_after_its_text();
  EXPECT_EQ(find(job, "{state}"), "arrived");
  EXPECT_EQ(find(job, "{content,sha256}"), hash("# Text"));
  EXPECT_EQ(find(job, "{ask}"), "false");
  EXPECT_EQ(ask_paid(job), "false");
  EXPECT_EQ(
      sql.value("select string_agg(concat_ws(' ', run, state, sha256 is not null), ', ' order "
                "by run) from millrace.parse_request"),
      "1 arrived f, 2 arrived t");
  EXPECT_EQ(sql.value("select count(distinct call_id) from millrace.parse_request"), "1");
  EXPECT_EQ(sql.value("select job_id = $1::uuid from millrace.parse_request where run = 2",
                      pg::params(job.id)),
            "t");
  EXPECT_TRUE(is_text_used());
  sql.run("select millrace.end_parse($1::uuid)", pg::params(job.id));
  EXPECT_FALSE(is_text_used());
  // It was taken: whoever begins once more asks.
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  EXPECT_EQ(find(again(), "{state}"), "(null)");
}

// What was asked for otherwise is not what is wanted.
TEST_F(Parses, TextOfAnotherParserOrVersionIsNotThatOfTheDocumentBegunAnew) {
  const auto job = begun_anew_after_its_text();
  EXPECT_EQ(find(job, "{state}", "content", "llamaparse"), "(null)");
  EXPECT_EQ(find(job, "{state}", "content, or a version of it"), "(null)");
  EXPECT_TRUE(is_text_used());
  EXPECT_EQ(ask_paid(job, "content, or a version of it", "new"), "true");
  EXPECT_EQ(find(job, "{state}"), "asked");
}

// Its own job had it, and could not read it: a document begun anew gets another.
TEST_F(Parses, TextThatCouldNotBeReadIsAskedForAnew) {
  const auto job = begun();
  ask_paid(job);
  EXPECT_EQ(receive(job, "w-1"), "processed");
  EXPECT_EQ(worker.settle(job, "permanent", R"({"error": {"error_type": "content_missing"}})"),
            "settled");
  const auto next = again();
  EXPECT_EQ(find(next, "{state}"), "(null)");
  EXPECT_EQ(ask_paid(next, "content", "new"), "true");
}

// What has not come is asked for, and what has failed too.
TEST_F(Parses, ADocumentBegunAnewAsksAnewWhereNothingHasCome) {
  const auto job = begun();
  ask_paid(job);
  note(job, R"({"failed": "deadline"})");
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  const auto next = again();
  EXPECT_EQ(find(next, "{state}"), "(null)");
  EXPECT_EQ(ask_paid(next, "content", "new"), "true");
}

// Content of a loser is nobody's: the row says which hash counts (G05).
TEST_F(Parses, g05_TheFirstContentStays) {
  const auto job = begun();
  ask(job, "ask");
  EXPECT_EQ(receive(job, "w-1", "# First"), "processed");
  EXPECT_EQ(receive(job, "w-2", "# Second"), "already");
  EXPECT_EQ(sql.value("select encode(sha256, 'hex') from millrace.parse_request"), hash("# First"));
}

TEST_F(Parses, w09_AJobThatNeverAskedIsUnknown) {
  const auto job = begun();
  EXPECT_EQ(receive(job, "w-1"), "unknown");
  EXPECT_EQ(sql.number("select count(*) from millrace.webhook_inbox"), 0);
  EXPECT_EQ(sql.value("select millrace.parse_awaited($1::uuid)", pg::params(job.id)), "(null)");
}

TEST_F(Parses, h05_AFailureIsKeptAndTheJobIsWokenToSeeIt) {
  const auto job = begun();
  ask(job, "ask");
  park(job);
  EXPECT_EQ(fail_parse(job, "w-1"), "processed");
  EXPECT_EQ(place(job), "ready");
  const auto again = take(kScan);
  EXPECT_EQ(look(again, "state"), "failed");
  EXPECT_EQ(look(again, "reason"), "torn");
  EXPECT_EQ(ask(again, "ask"), "false");
}

// A redriven job has a life of its own: it asks anew.
TEST_F(Parses, ARedrivenJobAsksAnewWhereItHadFailed) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"failed": "deadline"})");
  EXPECT_EQ(worker.settle(job, "permanent"), "settled");
  redrive(job.id);
  const auto again = take(kScan);
  EXPECT_EQ(ask(again, "ask", "new"), "true");
  EXPECT_EQ(look(again, "state"), "asked");
}

// A parser that is faster than its own answer: the content is there before the id.
TEST_F(Parses, WhatArrivesBeforeTheAnswerStaysArrived) {
  const auto job = begun();
  ask(job, "ask");
  EXPECT_EQ(receive(job, "w-1"), "processed");
  EXPECT_EQ(note(job, R"({"remote_id": "r-1"})"), "arrived");
  EXPECT_EQ(note(job, R"({"failed": "late"})"), "arrived");
}

TEST_F(Parses, AWakeUpOnlyBringsTheNextLookForward) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  park(job);
  EXPECT_EQ(wake("wrong", "e-1"), "unknown");
  EXPECT_EQ(place(job), "delayed");
  EXPECT_EQ(wake("c", "e-1"), "woken");
  EXPECT_EQ(place(job), "ready");
  EXPECT_EQ(wake("c", "e-1"), "already");
  const auto again = take(kScan);
  EXPECT_EQ(look(again, "state"), "waiting");
  // While it runs there is nothing to wake; the id is taken all the same.
  EXPECT_EQ(wake("c", "e-2"), "woken");
  EXPECT_EQ(place(again), "leased");
}

// It may have looked before, and nobody would tell it again.
TEST_F(Parses, AWakeUpWhileTheJobRunsIsFoundWhenItGoesOnWaiting) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  EXPECT_EQ(look(job, "state"), "waiting");
  EXPECT_EQ(wake("c", "e-1"), "woken");
  park(job);
  EXPECT_FALSE(is_put_off(job));
  keep(sql);
  const auto again = take(kScan);
  ASSERT_EQ(again.id, job.id);
  // Once: what came before this look is seen by it.
  park(again);
  EXPECT_TRUE(is_put_off(job));
  EXPECT_EQ(wake("c", "e-2"), "woken");
  const auto third = take(kScan);
  EXPECT_EQ(wake("c", "e-3"), "woken");
  EXPECT_EQ(look(third, "state"), "waiting");
  park(third);
  EXPECT_TRUE(is_put_off(job));
}

TEST_F(Parses, TextThatComesWhileTheJobRunsIsFoundWhenItGoesOnWaiting) {
  const auto job = begun();
  ask(job, "ask");
  EXPECT_EQ(look(job, "state"), "asked");
  EXPECT_EQ(receive(job, "w-1"), "processed");
  park(job);
  EXPECT_FALSE(is_put_off(job));
}

// Who tells it has seen the job run; the settlement waits for what is being told.
TEST_F(Parses, AWakeUpAtTheMomentOfTheSettlementIsFound) {
  const auto job = begun();
  ask(job, "ask");
  note(job, R"({"remote_id": "r-1"})");
  Session tells{database};
  tells.run("begin");
  tells.run("select millrace.wake_parse(decode($1, 'hex'), 'e-1')", pg::params(hash("c")));
  std::jthread settling([&] {
    Session own{database};
    own.run(
        "select millrace.settle_jobs($1, jsonb_build_array(jsonb_build_object('job_id', $2::text, "
        "'token', $3::text, 'outcome', 'rescheduled', 'retry_after_seconds', 600)))",
        pg::params(worker.id(), job.id, job.token));
  });
  while (
      !sql.yes("select exists (select from pg_stat_activity where wait_event_type = 'Lock' and "
               "datname = current_database())")) {
  }
  tells.run("commit");
  settling.join();
  EXPECT_EQ(place(job), "delayed");
  EXPECT_FALSE(is_put_off(job));
}

TEST_F(Parses, TenDeliveriesAtOnceHaveOneEffect) {  // H02
  const auto job = begun();
  ask(job, "ask");
  park(job);
  const auto blob = stored(sql, "# Text");
  std::atomic<int> processed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      Session own{database};
      const auto word = own.value(
          "select millrace.receive_parse('llamaparse', 'w-1', $1::uuid, "
          "jsonb_build_object('blob', $2::jsonb))",
          pg::params(job.id, blob));
      if (word == "processed") ++processed;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(processed, 1);
  EXPECT_EQ(sql.number("select count(*) from millrace.webhook_inbox"), 1);
  EXPECT_EQ(imbalance(sql), "");
}

// Content that only a parse refers to is not swept, and is when the parse lets it go.
TEST_F(Parses, ContentThatWaitsForItsJobIsInUse) {
  const auto job = begun();
  ask(job, "ask");
  receive(job, "w-1");
  const auto used = [&] {
    return sql.value("select millrace.is_blob_used($1::uuid, decode($2, 'hex'))",
                     pg::params(kTenant, hash("# Text")));
  };
  EXPECT_EQ(used(), "t");
  sql.run("select millrace.end_parse($1::uuid)", pg::params(job.id));
  EXPECT_EQ(used(), "f");
  EXPECT_EQ(sql.number("select count(*) from millrace.orphan_note where sha256 = "
                       "sha256('# Text'::bytea)"),
            1);
}

TEST_F(Parses, IdsAreForgottenAfterAWhile) {
  const auto job = begun();
  ask(job, "ask");
  receive(job, "w-1");
  EXPECT_EQ(sql.number("select millrace.expire_webhooks(100)"), 0);
  pass(sql, "8 days");
  EXPECT_EQ(sql.number("select millrace.expire_webhooks(100)"), 1);
}

}  // namespace
}  // namespace millrace::test
