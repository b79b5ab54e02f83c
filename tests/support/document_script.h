// DocumentScript: does to one document what workers would, by the SQL functions that they call; no
// program that reads documents is needed. Contents must have been stored before, by an upload.
#pragma once

#include "support/database.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

class DocumentScript {
 public:
  DocumentScript(const TestDatabase& database, std::string file)
      : worker_(database.connect("millrace_worker")),
        owner_(database.connect()),
        file_(std::move(file)) {}

  // Its first job is in the hands of a worker.
  void begin() {
    run("select millrace.begin_document($1::uuid, $2::jsonb)",
        {first_job(), R"({"name":"guardian","version":"1","stage":"fast_queue_security",)"
                      R"("definition":{},"hash":")" +
                          std::string(64, 'c') + "\"}"});
  }

  // Scanned: so many pages; the next stage is one for all of it.
  void scan(int pages, std::string_view findings = "[]") {
    scan_with(pages, "clean", findings,
              R"({"stage":"fast_queue_spatial","each":"document","job":{}})");
  }
  // The next stage has a job for each page.
  void scan_for_pages(int pages) {
    scan_with(pages, "clean", "[]",
              R"({"stage":"fast_queue_ocr","each":"page","version":"1","inputs":["content"],)"
              R"("job":{},"next":{"job_type":"fast_queue_spatial"}})");
  }
  void reject(std::string_view rule) {
    scan_with(0, "refused",
              fmt::format(R"([{{"rule":"{}","severity":"refuse","detail":"at the end"}}])", rule),
              "null");
  }

  // What OCR made of a page, with facts where given.
  void page(int number, std::string_view facts = "[]") {
    run("select millrace.settle_page($1::uuid, jsonb_build_object('page', $2::int, 'stage',"
        " 'fast_queue_ocr', 'reuse_key', repeat('e', 64), 'blob', $3::jsonb, 'meta',"
        " jsonb_build_object('source', 'ocr', 'confidence', 0.93, 'words', 12), 'facts',"
        " $4::jsonb), null)",
        {first_job(), std::to_string(number), file_blob(), std::string(facts)});
  }

  struct Output {
    std::string kind;
    std::string name;
    std::string type;
    std::string content;  // As it was stored.
  };
  // The last stage: the document ends, as partial or failed where pages have no words.
  void end(const std::vector<Output>& outputs = {}) {
    std::string list;
    for (const auto& output : outputs) {
      list +=
          fmt::format(R"({}{{"kind":"{}","file_name":"{}","blob":{}}})", list.empty() ? "" : ",",
                      output.kind, output.name, blob(output.content, output.type));
    }
    run("select millrace.settle_stage($1::uuid, $2::jsonb, null)",
        {value("select job_id::text from millrace.document where file_id = $1::uuid", {file_}),
         fmt::format(
             R"({{"closes":"fast_queue_ocr","summary":{{"language":"en"}},"outputs":[{}]}})",
             list)});
  }
  // The picture that a job was asked for.
  void draw(const std::string& job, int page, const std::string& content) {
    run("select millrace.settle_image($1::uuid, jsonb_build_object('kind', 'image', 'page',"
        " $2::int, 'file_name', 'page-' || $2 || '.png', 'blob', $3::jsonb))",
        {job, std::to_string(page), blob(content, "image/png")});
  }
  void quarantine(const std::string& sha256) {
    must(owner_.query(
        "insert into millrace.quarantine (tenant_id, sha256, what, stage, reason, file_id, page,"
        " quarantined_at) select tenant_id, decode($2, 'hex'), 'page', 'fast_queue_ocr', 'crashed',"
        " id, 1, now() from millrace.shell_files where id = $1::uuid",
        pg::params(file_, sha256)));
  }

  static std::string fact(std::string_view name) {
    return fmt::format(
        R"([{{"fact_id":"f1","type":"medication","name":"{}","subject":"patient",)"
        R"("polarity":"affirmed","certainty":"certain","temporality":"current",)"
        R"("value":{{"dose":"500 mg"}},"codes":[],"evidence":[{{"page":1}}],"conf":0.9,)"
        R"("route":"accepted","dated":null}}])",
        name);
  }

  std::string first_job() {
    return value("select job_id::text from millrace.shell_files where id = $1::uuid", {file_});
  }

 private:
  void scan_with(int pages, std::string_view verdict, std::string_view findings,
                 std::string_view plan) {
    run("select millrace.settle_scan($1::uuid, jsonb_build_object('stage', 'fast_queue_security',"
        " 'kind', 'pdf', 'mime', 'application/pdf', 'verdict', $2::text, 'findings', $3::jsonb,"
        " 'reuse_key', repeat('d', 64), 'blob', $4::jsonb, 'meta', '{}'::jsonb, 'pages',"
        " coalesce((select jsonb_agg(jsonb_build_object('page', n, 'width_pt', 612, 'height_pt',"
        " 792, 'text_chars', 0, 'content_sha256',"
        " encode(sha256(convert_to($1::text || n, 'UTF8')), 'hex'))) from generate_series(1, "
        "$5::int) n),"
        " '[]')), nullif($6::jsonb, 'null'))",
        {first_job(), std::string(verdict), std::string(findings), file_blob(),
         std::to_string(pages), std::string(plan)});
  }
  std::string file_blob() {
    return value(
        "select jsonb_build_object('sha256', encode(sha256, 'hex'), 'size_bytes', size_bytes,"
        " 'content_type', content_type, 'store_key', store_key, 'stored_at', now())::text"
        " from millrace.blob_object b join millrace.shell_files f using (tenant_id, sha256,"
        " size_bytes, content_type) where f.id = $1::uuid",
        {file_});
  }
  std::string blob(const std::string& content, const std::string& type) {
    return value(
        "select jsonb_build_object('sha256', encode(sha256, 'hex'), 'size_bytes', size_bytes,"
        " 'content_type', $2::text, 'store_key', store_key, 'stored_at', now())::text"
        " from millrace.blob_object where sha256 = sha256(convert_to($1, 'UTF8')) limit 1",
        {content, type});
  }
  void run(const std::string& sql, const std::vector<std::string>& values) {
    must(worker_.query(sql, params_of(values)));
  }
  std::string value(const std::string& sql, const std::vector<std::string>& values) {
    const auto rows = must(owner_.query(sql, params_of(values)));
    if (rows.empty()) throw std::runtime_error("nothing found by: " + sql);
    return std::string(rows[0].text(0));
  }
  static pg::Params params_of(const std::vector<std::string>& values) {
    pg::Params params;
    for (const auto& value : values) params.add(value);
    return params;
  }

  pg::SyncConnection worker_;
  pg::SyncConnection owner_;
  std::string file_;
};

}  // namespace millrace::test
