// Documents as a test speaks them: a file of a user, a worker that scans it, does its pages and
// ends it.
//
// The pipeline of these tests is short: scan → fast_queue_ocr (a job for each page) →
// document_outputs. Statements of a stage go with the settlement of its job, in one transaction, as
// the worker sends them.
#pragma once

#include "sql/server_world.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::test {

inline constexpr std::string_view kScan = "fast_queue_security";
inline constexpr std::string_view kOcr = "fast_queue_ocr";
inline constexpr std::string_view kOutputs = "document_outputs";

inline constexpr std::string_view kOcrPlan =
    R"({"stage": "fast_queue_ocr", "each": "page", "version": "v1", "inputs": ["content"],
        "job": {"queue": "fast_queue", "max_attempts": 2}, "next": {"job_type": "document_outputs"}})";

// Whose a file is.
struct FileOwner {
  std::string user = std::string(kAda);
  std::string tenant = std::string(kTenant);
};

class DocumentTest : public EngineTest {
 protected:
  // The digest of a text, as the texts of these tests are named.
  std::string hash(std::string_view text) {
    return sql.value("select encode(sha256(convert_to($1, 'UTF8')), 'hex')", pg::params(text));
  }

  std::string profile_of(const FileOwner& owner) {
    User user{database, owner.user, owner.tenant};
    const auto known = user.value("select id from millrace.user_profiles limit 1");
    return known == "(none)" ? user.value("select millrace.create_profile('P')") : known;
  }
  // Answers the id of the file.
  std::string upload(std::string_view content, const FileOwner& owner = {}) {
    ServerSession server{database, owner.tenant};
    const auto made = put_file(server, owner.user, content,
                               fmt::format(R"({{"patient_id": "{}"}})", profile_of(owner)));
    return member(server, made, "id");
  }

  Delivery take(std::string_view type, Worker* by = nullptr) {
    return (by == nullptr ? worker : *by)
        .take({.queue = type.starts_with("ai_") ? "ai_queue" : "fast_queue",
               .types = fmt::format("{{{}}}", type)});
  }
  std::string payload(const Delivery& job, std::string_view field) {
    return sql.value("select payload ->> $2 from millrace.job_fact where job_id = $1::uuid",
                     pg::params(job.id, field));
  }

  std::string begin(const Delivery& job, std::string_view version = "1") {
    return sql.value(
        "select millrace.begin_document($1::uuid, jsonb_build_object('name', 'guardian', 'version',"
        " $2::text, 'hash', encode(sha256(convert_to($2, 'UTF8')), 'hex'), 'stage', "
        "'fast_queue_security', 'definition', '{}'::jsonb))::text",
        pg::params(job.id, version));
  }

  // Settles the job and runs the statement in the same transaction. The error that rolled it back.
  std::optional<Error> settle(const Delivery& job, const std::string& statement,
                              pg::Params params) {
    auto& connection = sql.connection();
    must(connection.query("begin"));
    auto done = connection.query(
        "select millrace.settle_or_raise($1, jsonb_build_array(jsonb_build_object('job_id', "
        "$2::text, 'token', $3::text, 'outcome', 'ok')))",
        pg::params(worker.id(), job.id, job.token));
    if (done) done = connection.query(statement, std::move(params));
    if (!done) {
      must(connection.query("rollback"));
      return std::move(done).error();
    }
    must(connection.query("commit"));
    return std::nullopt;
  }
  static void expect_settled(const std::optional<Error>& error) {
    EXPECT_FALSE(error) << error->describe();
  }

  // Of pages that show these texts.
  std::string scan_of(const std::vector<std::string>& pages, std::string_view verdict = "clean",
                      std::string_view rule = {}) {
    std::string list;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      list += fmt::format(R"({}{{"page": {}, "content_sha256": "{}", "width_pt": 612}})",
                          i == 0 ? "" : ", ", i + 1, hash(pages[i]));
    }
    const auto findings =
        rule.empty() ? std::string()
                     : fmt::format(R"({{"rule": "{}", "severity": "refuse", "detail": ""}})", rule);
    return fmt::format(
        R"({{"stage": "fast_queue_security", "verdict": "{}", "kind": "pdf", "mime": "application/pdf",
             "findings": [{}], "pages": [{}], "meta": {{"verdict": "{}"}}, "reuse_key": "{}", "blob": {}}})",
        verdict, findings, list, verdict, hash("scan"), stored(sql, "report of " + list));
  }
  std::optional<Error> settle_scan(const Delivery& job, const std::vector<std::string>& pages,
                                   std::string_view plan = kOcrPlan) {
    return settle(job, "select millrace.settle_scan($1::uuid, $2::jsonb, $3::jsonb)",
                  pg::params(job.id, scan_of(pages), plan));
  }
  // A file that has been scanned: its pages wait.
  std::string scanned(const std::vector<std::string>& pages, std::string_view plan = kOcrPlan,
                      const FileOwner& owner = {}) {
    const auto file = upload(fmt::format("file {}", ++files_), owner);
    scan(file, pages, plan);
    return file;
  }
  void scan(const std::string& file, const std::vector<std::string>& pages,
            std::string_view plan = kOcrPlan) {
    const auto job = take(kScan);
    ASSERT_EQ(payload(job, "shell_file_id"), file);
    begin(job);
    expect_settled(settle_scan(job, pages, plan));
  }

  // By the rule of reuse_keys, for a stage that reads what the page shows; also of a page that was
  // given up, which has none there.
  std::string reuse_key(const std::string& file, std::string_view page) {
    return sql.value(
        "select encode(sha256(convert_to('stage', 'UTF8') || int4send(octet_length($3)) || "
        "convert_to($3, 'UTF8') || "
        "int4send(2) || convert_to('v1', 'UTF8') || content_sha256), 'hex') from millrace.page "
        "where file_id = "
        "$1::uuid and page = $2::int",
        pg::params(file, page, kOcr));
  }
  // What a stage made of the page of this job: the text, and facts as an array.
  std::string page_item(const Delivery& job, std::string_view text, std::string_view facts = {}) {
    const auto page = payload(job, "page");
    return fmt::format(
        R"({{"page": {}, "stage": "{}", "reuse_key": "{}", "blob": {}, "meta": {{"words": 2{}}}{}}})",
        page, kOcr, reuse_key(payload(job, "shell_file_id"), page), stored(sql, text),
        facts.empty() ? "" : R"(, "facts": 1)",
        facts.empty() ? "" : fmt::format(R"(, "facts": {})", facts));
  }
  std::optional<Error> settle_page(const Delivery& job, std::string_view text,
                                   std::string_view facts = {}) {
    return settle(
        job,
        "select millrace.settle_page($1::uuid, $2::jsonb, '{\"job_type\": \"document_outputs\"}')",
        pg::params(job.id, page_item(job, text, facts)));
  }
  // All pages that wait, each read as "words of page N".
  int read_pages() {
    int count = 0;
    for (;;) {
      const auto jobs = worker.claim(1, {.queue = "fast_queue", .types = "{fast_queue_ocr}"});
      if (jobs.empty()) break;
      ++count;
      expect_settled(settle_page(jobs[0], "words of page " + payload(jobs[0], "page")));
    }
    keep(sql);
    return count;
  }
  std::optional<Error> settle_stage(const Delivery& job, const std::string& item,
                                    std::optional<std::string> plan = std::nullopt) {
    return settle(job, "select millrace.settle_stage($1::uuid, $2::jsonb, $3::jsonb)",
                  pg::params(job.id, item, std::move(plan)));
  }
  void end(const std::string& more = {}) {
    expect_settled(settle_stage(take(kOutputs), R"({"closes": "fast_queue_ocr")" + more + "}"));
  }
  void fail_page(const Delivery& job, std::string_view outcome = "permanent",
                 std::string_view more = R"({"error": {"error_type": "document_refused",
                                            "message": "page 1: the font is damaged"}})") {
    EXPECT_EQ(worker.settle(job, std::string(outcome), std::string(more)), "settled");
  }

  // Dead letters start again: this one, or all.
  void redrive(std::string_view id = {}) {
    sql.run("select * from millrace.redrive_jobs($1::jsonb)",
            pg::params(id.empty() ? "{}" : fmt::format(R"({{"job_ids": ["{}"]}})", id)));
    keep(sql);
  }

  std::string document(const std::string& file, std::string_view field) {
    return sql.value("select to_jsonb(d) ->> $2 from millrace.document d where file_id = $1::uuid",
                     pg::params(file, field));
  }
  std::string status_of(const std::string& file) {
    return sql.value("select status from millrace.shell_files where id = $1::uuid",
                     pg::params(file));
  }
  // "1 completed, 2 failed fast_queue_ocr document_refused"
  std::string pages(const std::string& file) {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', page, state, failed_stage, failed_reason), ', ' "
        "order by page), '') from millrace.page where file_id = $1::uuid",
        pg::params(file));
  }
  // "1 fast_queue_ocr, 2 fast_queue_ocr reused"
  std::string results(const std::string& file) {
    return sql.value(
        "select coalesce(string_agg(concat_ws(' ', page, stage, case when reused then 'reused' "
        "end), ', ' order by page, stage), '') from millrace.page_result where file_id = $1::uuid "
        "and page > 0",
        pg::params(file));
  }
  std::int64_t waiting(std::string_view type) {
    return sql.number(
        "select count(*) from millrace.job_place p join millrace.job_type t using (type_id) where "
        "t.job_type = $1 and p.place in ('ready', 'delayed')",
        pg::params(type));
  }
  std::string error_field(const std::string& file, std::string_view path) {
    return sql.value(
        "select processing_error #>> $2::text[] from millrace.shell_files where id = $1::uuid",
        pg::params(file, path));
  }

  Worker worker{sql, "w1"};

 private:
  int files_ = 0;
};

}  // namespace millrace::test
