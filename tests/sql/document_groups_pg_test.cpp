// Pages that one job is about: how they are put together, written, and taken apart again when one
// of them makes trouble.
#include "sql/document_world.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

constexpr std::string_view kGroupPlan =
    R"({"stage": "fast_queue_ocr", "each": "page", "version": "v1", "inputs": ["content"],
        "group": {"pages": 3, "text_chars_min": 20},
        "job": {"queue": "fast_queue", "max_attempts": 2}, "next": {"job_type": "document_outputs"}})";

class DocumentGroups : public DocumentTest {
 protected:
  // Pages with this many letters of their own.
  std::string with_text(const std::vector<int>& letters) {
    const auto file = upload("file of groups");
    const auto job = take(kScan);
    begin(job);
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < letters.size(); ++i) shown.push_back(fmt::format("shows {}", i));
    auto scan = scan_of(shown);
    for (const int count : letters) {
      const auto at = scan.find(R"("width_pt": 612})");
      scan.replace(at, 16, fmt::format(R"("width_pt": 61, "text_chars": {}}})", count));
    }
    expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                          pg::params(job.id, scan, kGroupPlan)));
    return file;
  }

  // "1+2+3, 4, 5+6"
  std::string jobs_of(const std::string& file) {
    return sql.value(
        "select string_agg(coalesce((select string_agg(e, '+' order by e::int) from "
        "jsonb_array_elements_text(j.payload -> 'pages') e), j.payload ->> 'page'), ', ' order by "
        "(j.payload ->> 'page')::int, j.seq) from millrace.job_fact j join millrace.job_type t "
        "using "
        "(type_id) where t.job_type = 'fast_queue_ocr' and j.payload ->> 'shell_file_id' = $1",
        pg::params(file));
  }

  // Parts of one content: the text of page N is "words N;".
  std::string items_of(const Delivery& job, const std::vector<int>& done) {
    std::string all;
    std::vector<std::pair<std::size_t, std::string>> parts;
    for (const int page : done) {
      const auto text = fmt::format("words {};", page);
      parts.emplace_back(all.size(), text);
      all += text;
    }
    const auto file = payload(job, "shell_file_id");
    std::string items;
    for (std::size_t i = 0; i < done.size(); ++i) {
      items += fmt::format(
          R"({}{{"page": {}, "stage": "fast_queue_ocr", "reuse_key": "{}", "blob": {}, "meta": {{"words": 2}},
               "part": {{"offset": {}, "size_bytes": {}, "sha256": "{}"}}}})",
          i == 0 ? "" : ", ", done[i], reuse_key(file, std::to_string(done[i])), stored(sql, all),
          parts[i].first, parts[i].second.size(), hash(parts[i].second));
    }
    return "[" + items + "]";
  }
  std::optional<Error> settle_group(const Delivery& job, const std::vector<int>& done,
                                    std::string_view left = "{}") {
    return settle(job,
                  "select millrace.settle_pages($1::uuid, $2::jsonb, $3::integer[], "
                  "'{\"job_type\": \"document_outputs\"}')",
                  pg::params(job.id, items_of(job, done), left));
  }
  std::string results(const std::string& file) {
    return sql.value(
        "select string_agg(page || ':' || coalesce(part_offset, -1) || '+' || size_bytes, ' ' "
        "order "
        "by page) from millrace.page_result where file_id = $1::uuid and stage = 'fast_queue_ocr'",
        pg::params(file));
  }
};

TEST_F(DocumentGroups, TakePagesWithTextTogetherAndOthersAlone) {
  // Ten pages: three at once at most, and those that have to be recognised stay by themselves.
  const auto file = with_text({50, 50, 0, 50, 50, 50, 19, 50, 50, 20});
  EXPECT_EQ(jobs_of(file), "1+2+4, 3, 5+6+8, 7, 9+10");
}

TEST_F(DocumentGroups, LeaveWorkForSeveralWorkers) {
  const auto file = with_text({50, 50, 50, 50, 50, 50});
  EXPECT_EQ(jobs_of(file), "1+2, 3+4, 5+6");
}

TEST_F(DocumentGroups, WriteAllTheirPagesAndCountThem) {
  const auto file = with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  EXPECT_EQ(document(file, "stage_total") + "/" + document(file, "stage_done"), "9/0");
  expect_settled(settle_group(take(kOcr), {1, 2, 3}));
  EXPECT_EQ(document(file, "stage_done"), "3");
  EXPECT_EQ(results(file), "1:0+8 2:8+8 3:16+8");
  EXPECT_EQ(sql.value("select count(*) from millrace.audit where action = 'page_written' and "
                      "record_id like $1 || '/%' and patient_id is not null",
                      pg::params(file)),
            "3");
  expect_settled(settle_group(take(kOcr), {4, 5, 6}));
  expect_settled(settle_group(take(kOcr), {7, 8, 9}));
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "completed");
}

TEST_F(DocumentGroups, TellTheWorkerOfEachPage) {
  with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  const auto job = take(kOcr);
  const auto work = sql.value("select millrace.document_work($1::uuid)::text", pg::params(job.id));
  EXPECT_EQ(
      sql.value("select string_agg(g #>> '{page,page}', ' ') from jsonb_array_elements($1::jsonb "
                "-> 'group') g",
                pg::params(work)),
      "1 2 3");
  EXPECT_EQ(sql.value("select $1::jsonb ->> 'page' is null", pg::params(work)), "t");
}

// The job was made before one of its pages turned out to be poison elsewhere.
TEST_F(DocumentGroups, d06_TellTheWorkerWhichOfThemAreInQuarantine) {
  const auto file = with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  sql.run(
      "insert into millrace.quarantine (tenant_id, sha256, what, stage, reason, quarantined_at) "
      "values ($1::uuid, decode($2, 'hex'), 'page', 'fast_queue_ocr', 'reader_crashed', "
      "millrace.now())",
      pg::params(kTenant, hash("shows 1")));
  const auto told = [&](const Delivery& job) {
    return sql.value(
        "select string_agg((g #>> '{page,page}') || ' ' || (g ->> 'quarantined'), ', ') from "
        "jsonb_array_elements(millrace.document_work($1::uuid) -> 'group') g",
        pg::params(job.id));
  };
  const auto job = take(kOcr);
  EXPECT_EQ(told(job), "1 false, 2 true, 3 false");
  EXPECT_EQ(told(take(kOcr)), "4 false, 5 false, 6 false");
  expect_settled(settle_group(job, {1, 3}, "{2}"));
  EXPECT_EQ(jobs_of(file), "1+2+3, 2, 4+5+6, 7+8+9");
  const auto last = take(kOcr);
  EXPECT_EQ(told(last), "7 false, 8 false, 9 false");
  const auto alone = take(kOcr);
  EXPECT_EQ(payload(alone, "page"), "2");
  EXPECT_EQ(
      sql.value("select millrace.document_work($1::uuid) ->> 'quarantined'", pg::params(alone.id)),
      "true");
}

TEST_F(DocumentGroups, GivePagesTheyCouldNotDoJobsOfTheirOwn) {
  const auto file = with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  expect_settled(settle_group(take(kOcr), {1, 3}, "{2}"));
  EXPECT_EQ(jobs_of(file), "1+2+3, 2, 4+5+6, 7+8+9");
  expect_settled(settle_group(take(kOcr), {4, 5, 6}));
  expect_settled(settle_group(take(kOcr), {7, 8, 9}));
  keep(sql);
  // The batch waits for the page that stands alone now.
  EXPECT_EQ(document(file, "stage"), kOcr);
  const auto alone = take(kOcr);
  EXPECT_EQ(payload(alone, "page"), "2");
  EXPECT_EQ(sql.value("select max_attempts from millrace.job_fact where job_id = $1::uuid",
                      pg::params(alone.id)),
            "2");
  fail_page(alone);
  keep(sql);
  end();
  EXPECT_EQ(document(file, "state"), "partial");
  EXPECT_THAT(pages(file), testing::HasSubstr("2 failed fast_queue_ocr document_refused"));
  EXPECT_THAT(pages(file), testing::HasSubstr("1 completed"));
}

TEST_F(DocumentGroups, AreFencedLikeEveryJob) {
  const auto file = with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  auto stale = take(kOcr);
  stale.token = "00000000-0000-4000-8000-000000000000";
  EXPECT_TRUE(settle_group(stale, {1, 2, 3}, "{}"));
  EXPECT_EQ(results(file), "(null)");
}

TEST_F(DocumentGroups, PutNoContentAwayWhenTheyArePoison) {
  const auto file = with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  const auto job = take(kOcr);
  EXPECT_EQ(
      worker.settle(job, "permanent",
                    R"({"error": {"error_type": "crash", "message": "died"}, "crash": true})"),
      "settled");
  keep(sql);
  EXPECT_EQ(sql.value("select count(*) from millrace.quarantine"), "0");
  EXPECT_EQ(document(file, "state"), "processing");
}

TEST_F(DocumentGroups, HaveResultsThatEqualPagesTakeOver) {
  const auto first = with_text({50, 50, 50, 50, 50, 50, 50, 50, 50});
  expect_settled(settle_group(take(kOcr), {1, 2, 3}));
  expect_settled(settle_group(take(kOcr), {4, 5, 6}));
  expect_settled(settle_group(take(kOcr), {7, 8, 9}));
  keep(sql);
  end();
  const auto second = with_text({50, 50});
  EXPECT_EQ(jobs_of(second), "(null)");
  EXPECT_EQ(results(second), "1:0+8 2:8+8");
}

TEST_F(DocumentGroups, AFileThatBringsItsTextIsHandedOutAtOnce) {
  const auto file = upload("a file with text");
  const auto job = take(kScan);
  begin(job);
  auto scan = scan_of({"one"});
  scan.pop_back();
  scan +=
      R"(, "outputs": [{"kind": "pdf", "file_name": "document.pdf", "content_type": "application/pdf", "of_file": true}]})";
  expect_settled(settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                        pg::params(job.id, scan, kGroupPlan)));
  EXPECT_EQ(
      sql.value("select count(*) from millrace.document_output o join millrace.shell_files f on "
                "f.id = o.file_id where o.kind = 'pdf' and o.sha256 = f.sha256 and o.size_bytes = "
                "f.size_bytes and f.id = $1::uuid",
                pg::params(file)),
      "1");
  EXPECT_EQ(document(file, "state"), "processing");
}

}  // namespace
}  // namespace millrace::test
