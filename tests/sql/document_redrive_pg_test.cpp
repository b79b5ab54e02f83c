// Jobs of an earlier run of a document that somebody starts again: what the running one has made,
// and what later stages cite, stays as it is (F08); only what it had to give up is taken.
#include "sql/document_world.h"

namespace millrace::test {
namespace {

constexpr std::string_view kGroupPlan =
    R"({"stage": "fast_queue_ocr", "each": "page", "version": "v1", "inputs": ["content"],
        "group": {"pages": 2}, "job": {"queue": "fast_queue", "max_attempts": 2},
        "next": {"job_type": "document_outputs"}})";

class Redriven : public DocumentTest {
 protected:
  static std::string fact(std::string_view name) {
    return fmt::format(
        R"([{{"fact_id": "f1", "type": "medication", "name": "{}", "subject": "patient",
              "polarity": "affirmed", "certainty": "certain", "temporality": "current",
              "value": {{}}, "evidence": [{{"text": "{}"}}], "conf": 0.9, "route": "accepted"}}])",
        name, name);
  }
  // Its second page was given up in the first run, for which there is a dead letter; now the second
  // run has been begun.
  std::string retried() {
    const auto file = scanned({"one", "two"});
    expect_settled(settle_page(take(kOcr), "words of page 1"));
    const auto second = take(kOcr);
    EXPECT_EQ(payload(second, "page"), "2");
    dead_ = second.id;
    fail_page(second);
    keep(sql);
    end();
    EXPECT_EQ(document(file, "state"), "partial");
    ServerSession api{database};
    api.run("select millrace.retry_document($1::uuid)", pg::params(file));
    return file;
  }
  // The dead letter, in the hands of a worker again.
  Delivery dead_letter() {
    redrive(dead_);
    const auto job = take(kOcr);
    EXPECT_EQ(job.id, dead_);
    return job;
  }
  std::optional<Error> settle_dead_letter(const Delivery& job) {
    return settle_page(job, "other words", fact("Aspirin"));
  }
  // "2 words Metformin": the page, what it says, and the fact.
  std::string second_page(const std::string& file) {
    return sql.value(
        "select concat_ws(' ', r.run, case r.sha256 when decode($2, 'hex') then 'words' else "
        "'other' end, (select string_agg(c.name, ' ') from millrace.clinical_fact c where "
        "c.file_id = r.file_id and c.page = 2)) from millrace.page_result r where r.file_id = "
        "$1::uuid and r.page = 2 and r.stage = 'fast_queue_ocr'",
        pg::params(file, hash("words of page 2")));
  }
  std::int64_t written(const std::string& job) {
    return sql.number(
        "select count(*) from millrace.audit where table_name = 'page_result' and job_ids @> "
        "array[$1::uuid]",
        pg::params(job));
  }
  std::string status(const std::string& job) {
    return sql.value(
        "select status from millrace.job_history where job_id = $1::uuid order by "
        "finished_at desc limit 1",
        pg::params(job));
  }

  std::string dead_;
};

TEST_F(Redriven, f08_APageThatTheRunningRunHasReadStaysAsItIs) {
  const auto file = retried();
  scan(file, {"one", "two"});
  expect_settled(settle_page(take(kOcr), "words of page 2", fact("Metformin")));
  keep(sql);
  // The document is in the stage that cites them.
  EXPECT_EQ(waiting(kOutputs), 1);
  const auto late = dead_letter();
  expect_settled(settle_dead_letter(late));
  EXPECT_EQ(second_page(file), "2 words Metformin");
  EXPECT_EQ(status(late.id), "completed");
  EXPECT_EQ(written(late.id), 0) << "nothing was written, and nothing is said to have been";
  end();
  EXPECT_EQ(document(file, "state") + " " + document(file, "run"), "completed 2");
  EXPECT_EQ(second_page(file), "2 words Metformin");
}

TEST_F(Redriven, APageThatTheRunningRunIsAboutToReadIsLeftToIt) {
  const auto file = retried();
  const auto late = dead_letter();
  // While it is scanned, and while it is read.
  const auto scanning = take(kScan);
  begin(scanning);
  expect_settled(settle_scan(scanning, {"one", "two"}));
  const auto reading = take(kOcr);
  expect_settled(settle_dead_letter(late));
  EXPECT_EQ(results(file), "1 fast_queue_ocr");
  EXPECT_EQ(document(file, "stage_done") + "/" + document(file, "stage_total"), "1/2");
  expect_settled(settle_page(reading, "words of page 2", fact("Metformin")));
  EXPECT_EQ(document(file, "stage_done") + "/" + document(file, "stage_total"), "2/2");
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
  EXPECT_EQ(second_page(file), "2 words Metformin");
}

// D12.
TEST_F(Redriven, APageThatTheRunningRunHasGivenUpTooIsTakenUpAtItsEnd) {
  const auto file = retried();
  scan(file, {"one", "two"});
  fail_page(take(kOcr));
  keep(sql);
  const auto closing = take(kOutputs);
  expect_settled(settle_stage(closing, R"({"closes": "fast_queue_ocr"})",
                              R"({"stage": "document_outputs", "each": "document", "job": {}})"));
  EXPECT_EQ(pages(file), "1 pending, 2 failed fast_queue_ocr document_refused");
  expect_settled(settle_dead_letter(dead_letter()));
  EXPECT_EQ(pages(file), "1 pending, 2 failed fast_queue_ocr late");
  end();
  EXPECT_EQ(document(file, "state") + " " + document(file, "stage"),
            fmt::format("processing {}", kScan));
  EXPECT_EQ(second_page(file), "2 other Aspirin");
}

TEST_F(Redriven, ADocumentThatHasEndedGoesOnWithWhatComes) {
  const auto file = retried();
  scan(file, {"one", "two"});
  fail_page(take(kOcr));
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  expect_settled(settle_dead_letter(dead_letter()));
  EXPECT_EQ(document(file, "state") + " " + document(file, "run"), "processing 3");
  end();
  EXPECT_EQ(document(file, "state"), "completed");
}

TEST_F(Redriven, AGroupIsTakenApartLikeItsPages) {
  const auto file = upload("a file of groups");
  scan(file, {"one", "two", "three", "four", "five", "six", "seven", "eight"}, kGroupPlan);
  std::vector<Delivery> groups;
  for (int i = 0; i < 4; ++i) groups.push_back(take(kOcr));
  const auto first = groups[0].id;
  EXPECT_EQ(payload(groups[0], "pages"), "[1, 2]");
  for (const auto& group : groups) fail_page(group);
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "failed");
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, {"one", "two", "three", "four", "five", "six", "seven", "eight"});
  EXPECT_EQ(waiting(kOcr), 8);
  // The first page was read, the second given up.
  for (int i = 0; i < 8; ++i) {
    const auto job = take(kOcr);
    if (payload(job, "page") == "2") {
      fail_page(job);
    } else {
      expect_settled(settle_page(job, "words of page " + payload(job, "page")));
    }
  }
  keep(sql);
  expect_settled(settle_stage(take(kOutputs), R"({"closes": "fast_queue_ocr"})",
                              R"({"stage": "document_outputs", "each": "document", "job": {}})"));
  redrive(first);
  const auto group = take(kOcr);
  ASSERT_EQ(group.id, first);
  const auto item = [&](int page) {
    return fmt::format(
        R"({{"page": {}, "stage": "fast_queue_ocr", "reuse_key": "{}", "blob": {}, "meta": {{}}}})",
        page, hash("key"), stored(sql, "of the group"));
  };
  expect_settled(settle(group,
                        "select millrace.settle_pages($1::uuid, $2::jsonb, '{}', "
                        "'{\"job_type\": \"document_outputs\"}')",
                        pg::params(group.id, fmt::format("[{}, {}]", item(1), item(2)))));
  EXPECT_EQ(sql.value("select string_agg(page || ' ' || (sha256 = decode($2, 'hex')), ', ' order "
                      "by page) from millrace.page_result where file_id = $1::uuid and page in (1, "
                      "2) and stage = 'fast_queue_ocr'",
                      pg::params(file, hash("of the group"))),
            "1 false, 2 true");
  EXPECT_EQ(sql.value("select failed_reason from millrace.page where file_id = $1::uuid and page "
                      "= 2",
                      pg::params(file)),
            "late");
}

TEST_F(Redriven, NobodyIsSentToPagesThatTheRunningRunHas) {
  const auto file = upload("a file of groups");
  const std::vector<std::string> shown = {"1", "2", "3", "4", "5", "6", "7", "8"};
  scan(file, shown, kGroupPlan);
  std::vector<Delivery> groups;
  for (int i = 0; i < 4; ++i) groups.push_back(take(kOcr));
  for (const auto& group : groups) fail_page(group);
  keep(sql);
  end();
  ServerSession api{database};
  api.run("select millrace.retry_document($1::uuid)", pg::params(file));
  scan(file, shown);
  EXPECT_EQ(read_pages(), 8);
  redrive(groups[0].id);
  const auto group = take(kOcr);
  expect_settled(settle(group,
                        "select millrace.settle_pages($1::uuid, '[]', '{1,2}', "
                        "'{\"job_type\": \"document_outputs\"}')",
                        pg::params(group.id)));
  EXPECT_EQ(waiting(kOcr), 0);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
}

}  // namespace
}  // namespace millrace::test
