// Answers that were paid for: kept with the end of their call, found by whoever does the page next,
// gone with its result; what cannot be used is evidence for a person (F08, G-05).
#include "sql/document_world.h"

namespace millrace::test {
namespace {

constexpr std::string_view kEnd =
    R"({"state": "answered", "cost_micros": 60, "input_tokens": 7, "output_tokens": 3, "finish": "stop"})";

class PaidAnswers : public DocumentTest {
 protected:
  std::string begin_call(const Delivery& job) {
    return member(sql,
                  sql.value("select millrace.begin_call($1::jsonb)::text",
                            pg::params(fmt::format(
                                R"({{"job_id": "{}", "generation": {}, "delivery_count": 1,
                                     "stage": "fast_queue_ocr", "provider": "openai:gpt", "model": "gpt",
                                     "request_sha256": "{}", "estimated_tokens": 10, "reserved_micros": 100}})",
                                job.id, generation(job), std::string(64, 'a')))),
                  "call_id");
  }
  std::string generation(const Delivery& job) {
    return sql.value(
        "select coalesce((select generation from millrace.lease where job_id = $1::uuid), 1)",
        pg::params(job.id));
  }
  std::string answer(std::string_view question, std::string_view text,
                     std::string_view refused = {}) {
    return fmt::format(
        R"({{"question_sha256": "{}", "model": "gpt-1", "response_id": "r-1", "answer": "{}"{}}})",
        hash(question), text,
        refused.empty() ? ""
                        : fmt::format(R"(, "refused": "{}", "reason": "it is no JSON")", refused));
  }
  static constexpr const char* kKeep =
      "select millrace.keep_answer($1::uuid, $2::uuid, $3::uuid, $4::jsonb, $5::jsonb)";
  // The id of its call.
  std::string pay(const Delivery& job, std::string_view question, std::string_view text,
                  std::string_view refused = {}) {
    const auto call = begin_call(job);
    sql.run(kKeep, pg::params(job.id, job.token, call, kEnd, answer(question, text, refused)));
    return call;
  }
  // "first 7 3 60, second 7 3 60": what a delivery finds.
  std::string kept(const Delivery& job) {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', answer, refused, input_tokens, output_tokens, "
        "cost_micros), ', ' order by answer), '') from millrace.kept_answers($1::uuid, $2::int)",
        pg::params(job.id, generation(job)));
  }
  std::int64_t all() { return sql.number("select count(*) from millrace.paid_answer"); }
  std::string calls() {
    return sql.value(
        "select string_agg(state || ' ' || n, ', ' order by state) from (select state, count(*) as "
        "n from millrace.provider_call group by state) s");
  }
  std::string spend() {
    return sql.value(
        "select concat_ws(' ', reserved_micros, spent_micros) from millrace.provider_spend");
  }
  // The page of the job again, in the next delivery.
  Delivery again(const Delivery& job) {
    EXPECT_EQ(worker.settle(job, "retry", R"({"error": {"error_type": "e", "message": "m"}})"),
              "settled");
    pass(sql, "1 hour");
    keep(sql);
    return take(kOcr);
  }
  std::string review(const std::string& file, std::string_view field) {
    ServerSession api{database};
    return api.value(
        "select string_agg(coalesce(p -> 'review' ->> $2, '-'), ' ' order by p -> 'page') from "
        "millrace.list_pages($1::uuid) p",
        pg::params(file, field));
  }
};

TEST_F(PaidAnswers, f08_TheNextDeliveryFindsWhatWasPaidForAndItsResultEndsThat) {
  const auto file = scanned({"one", "two"});
  auto job = take(kOcr);
  pay(job, "q1", "first");
  pay(job, "q2", "second");
  EXPECT_EQ(calls(), "answered 2");
  EXPECT_EQ(spend(), "0 120");
  // The page beside it has none of them, and is done before.
  const auto other = take(kOcr);
  EXPECT_EQ(kept(other), "");
  pay(other, "q1", "its own");
  EXPECT_EQ(kept(other), "its own 7 3 60");
  expect_settled(settle_page(other, "words"));
  job = again(job);
  EXPECT_EQ(kept(job), "first 7 3 60, second 7 3 60");
  expect_settled(settle_page(job, "words"));
  EXPECT_EQ(all(), 0);
  EXPECT_EQ(spend(), "0 180");
}

TEST_F(PaidAnswers, f08_ADeliveryThatLostItsLeaseKeepsNothingAndEndsNoCall) {
  scanned({"one"});
  const auto stale = take(kOcr);
  const auto call = begin_call(stale);
  const auto job = again(stale);
  EXPECT_EQ(sql.refused(kKeep, pg::params(stale.id, stale.token, call, kEnd, answer("q", "late")))
                .sqlstate,
            "MR001");
  EXPECT_EQ(all(), 0);
  EXPECT_EQ(calls(), "sent 1");
  EXPECT_EQ(spend(), "100 0");
  EXPECT_EQ(kept(job), "");
}

TEST_F(PaidAnswers, SaidTwiceItIsKeptAndPaidOnce) {
  scanned({"one"});
  const auto job = take(kOcr);
  const auto call = pay(job, "q", "text");
  sql.run(kKeep, pg::params(job.id, job.token, call, kEnd, answer("q", "text")));
  EXPECT_EQ(kept(job), "text 7 3 60");
  EXPECT_EQ(spend(), "0 60");
}

// Nobody is paid for asking again what has been answered in a way that cannot be used: whoever does
// the job anew is told so. A person who begins it anew is not.
TEST_F(PaidAnswers, WhatCannotBeUsedIsToldToTheJobThatAskedUntilItIsBegunAnew) {
  const auto file = scanned({"one"});
  auto job = take(kOcr);
  pay(job, "q1", "good");
  pay(job, "q2", "nonsense", "invalid_answer");
  job = again(job);
  EXPECT_EQ(kept(job), "good 7 3 60, nonsense invalid_answer 7 3 60");
  fail_page(job, "permanent",
            R"({"error": {"error_type": "invalid_answer", "message": "it is no JSON"}})");
  keep(sql);
  end();
  EXPECT_EQ(pages(file), "1 failed fast_queue_ocr invalid_answer");
  redrive();
  const auto anew = take(kOcr);
  EXPECT_EQ(anew.id, job.id);
  EXPECT_EQ(kept(anew), "good 7 3 60");
  pay(anew, "q2", "better");
  EXPECT_EQ(kept(anew), "better 7 3 60, good 7 3 60");
  expect_settled(settle_page(anew, "words"));
  EXPECT_EQ(all(), 0);
}

TEST_F(PaidAnswers, APageThatWasGivenUpShowsTheAnswerThatCannotBeUsed) {
  const auto file = scanned({"one", "two", "three"});
  const auto job = take(kOcr);
  const auto call = pay(job, "q", "nonsense", "invalid_answer");
  EXPECT_EQ(review(file, "answer"), "- - -") << "nothing is given up yet";
  fail_page(job, "permanent",
            R"({"error": {"error_type": "invalid_answer", "message": "it is no JSON"}})");
  EXPECT_EQ(read_pages(), 2);
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_EQ(review(file, "answer"), "nonsense - -");
  EXPECT_EQ(review(file, "call_id"), call + " - -");
  EXPECT_EQ(review(file, "reason"), "it is no JSON - -");
  EXPECT_EQ(review(file, "answer_sha256"), hash("nonsense") + " - -");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one", "two", "three"});
  EXPECT_EQ(read_pages(), 1);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
  EXPECT_EQ(review(file, "answer"), "- - -");
  EXPECT_EQ(all(), 0);
}

// Of a stage for the whole document the rest is worth more: it goes on without, and is partial.
TEST_F(PaidAnswers, ADocumentThatLacksOneAnswerAboutAllOfItIsPartialUntilThatIsThere) {
  const auto file = scanned({"one"});
  const auto end_with = [&](std::string_view meta) {
    expect_settled(settle_stage(
        take(kOutputs),
        fmt::format(
            R"({{"closes": "fast_queue_ocr", "results": [{{"page": 0, "stage": "document_outputs",
                 "reuse_key": "{}", "blob": {}, "meta": {}}}]}})",
            hash("key"), stored(sql, "facts"), meta)));
  };
  const auto shown = [&] {
    ServerSession api{database};
    return api.value(
        "select coalesce(d -> 'review' -> 0 ->> 'answer', '-') || ' ' || (d ->> 'state') from "
        "millrace.get_document($1::uuid) d",
        pg::params(file));
  };
  read_pages();
  auto job = worker.claim(1, {.queue = "fast_queue", .types = "{document_outputs}"}).at(0);
  pay(job, "q1", "good");
  pay(job, "q2", "nonsense", "invalid_answer");
  EXPECT_EQ(worker.settle(job, "retry",
                          R"({"error": {"error_type": "no_room", "message": "try again"}})"),
            "settled");
  pass(sql, "5 minutes");
  keep(sql);
  end_with(R"({"review": {"stage": "document_outputs", "error_type": "invalid_answer",
                          "reason": "it is no JSON"}})");
  EXPECT_EQ(shown(), "nonsense partial");
  EXPECT_EQ(all(), 1) << "what was good is in the result";
  // It lacks that answer, and nothing else that went wrong on the way.
  EXPECT_EQ(error_field(file, "{current_error,code}"), "invalid_answer");
  EXPECT_EQ(sql.value("select string_agg((i ->> 'code') || ' ' || (i ->> 'resolved'), ', ' order "
                      "by n) from millrace.shell_files f, jsonb_array_elements(f.processing_error "
                      "-> 'error_history') with ordinality e(i, n) where f.id = $1::uuid",
                      pg::params(file)),
            "no_room true, invalid_answer false");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one"});
  end_with("{}");
  EXPECT_EQ(shown(), "- completed");
  EXPECT_EQ(error_field(file, "{current_error}"), "(null)");
}

TEST_F(PaidAnswers, TheyGoWithTheFileWithARefusalAndWithRetention) {
  stop_clock(sql);
  const auto file = scanned({"one", "two"});
  const auto job = take(kOcr);
  pay(job, "q1", "good");
  pay(job, "q2", "nonsense", "invalid_answer");
  pass(sql, "91 days");
  sql.number("select millrace.expire_calls(1000)");
  EXPECT_EQ(kept(job), "nonsense invalid_answer 7 3 60") << "evidence stays with its page";
  pay(job, "q3", "young");
  sql.number("select millrace.expire_calls(1000)");
  EXPECT_EQ(all(), 2);
  sql.run("delete from millrace.document where file_id = $1::uuid", pg::params(file));
  EXPECT_EQ(all(), 0);
}

TEST_F(PaidAnswers, NoTenantSeesThoseOfAnother) {
  const auto file =
      scanned({"one"}, kOcrPlan, {.user = std::string(kAda), .tenant = std::string(kOther)});
  const auto job = take(kOcr);
  pay(job, "q", "text");
  EXPECT_EQ(kept(job), "text 7 3 60");
  EXPECT_EQ(sql.value("select tenant_id from millrace.paid_answer"), kOther);
  ServerSession api{database};
  EXPECT_EQ(api.number("select count(*) from millrace.paid_answer"), 0);
}

}  // namespace
}  // namespace millrace::test
