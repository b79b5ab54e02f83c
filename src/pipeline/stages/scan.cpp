// The scan: is it what it says, is it harmless, how many pages has it, and what does each show?
//
// clamd looks first when it is configured, then the child of our own reads the structure. Either
// may refuse; a refused file is a result, not a failure.
#include "pipeline/output_files.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"
#include "pipeline/virus_check.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
#include <utility>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kFindingsMax = 200;
constexpr int kPagesMax = 5'000;
constexpr JsonLimits kReportLimits{.max_bytes = std::size_t{8} * 1024 * 1024, .max_depth = 8};

std::string text_of(const json::Object& object, std::string_view name, std::size_t bytes_max) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return storable_text(value->get_string(), bytes_max);
}

double number_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// What the child says is checked member by member: it has read a stranger's bytes.
Result<json::Object> checked_report(std::string_view text, int pages_max) {
  MR_TRY(const auto report, parse_json_object(text, kReportLimits));
  json::Object scan;
  const auto verdict = text_of(report, "verdict", 16);
  if (verdict != "clean" && verdict != "flagged" && verdict != "refused") {
    return fail(ErrorKind::invalid_argument, "verdict must be clean, flagged or refused");
  }
  scan["verdict"] = verdict;
  scan["kind"] = text_of(report, "kind", 16);
  scan["mime"] = text_of(report, "mime", 128);
  scan["engine"] = text_of(report, "engine", 64);
  json::Array findings;
  if (const auto* all = report.if_contains("findings"); all != nullptr && all->is_array()) {
    for (const auto& one : all->get_array()) {
      if (!one.is_object() || findings.size() >= kFindingsMax) continue;
      const auto& object = one.get_object();
      findings.push_back(finding(text_of(object, "rule", 64),
                                 text_of(object, "severity", 16) == "refuse" ? "refuse" : "flag",
                                 text_of(object, "detail", 500)));
    }
  }
  json::Array pages;
  if (const auto* all = report.if_contains("pages"); all != nullptr && all->is_array()) {
    for (const auto& one : all->get_array()) {
      if (!one.is_object()) return fail(ErrorKind::invalid_argument, "pages must be objects");
      const auto& object = one.get_object();
      const auto digest = text_of(object, "content_sha256", 64);
      if (!is_digest(digest)) {
        return fail(ErrorKind::invalid_argument, "content_sha256 of a page must be a digest");
      }
      json::Object page;
      page["page"] = static_cast<std::int64_t>(pages.size() + 1);
      page["content_sha256"] = digest;
      page["width_pt"] = std::clamp(number_of(object, "width_pt"), 0.0, 1e6);
      page["height_pt"] = std::clamp(number_of(object, "height_pt"), 0.0, 1e6);
      page["rotation_deg"] =
          static_cast<int>(std::clamp(number_of(object, "rotation_deg"), 0.0, 270.0));
      page["text_chars"] =
          static_cast<std::int64_t>(std::clamp(number_of(object, "text_chars"), 0.0, 1e9));
      pages.push_back(std::move(page));
    }
  }
  if (verdict != "refused" && pages.empty()) {
    scan["verdict"] = "refused";
    findings.push_back(finding("no_pages", "refuse", "the document has no pages"));
  }
  if (std::cmp_greater(pages.size(), pages_max)) {
    scan["verdict"] = "refused";
    findings.push_back(
        finding("too_many_pages", "refuse", fmt::format("it has more than {} pages", pages_max)));
    pages.clear();
  }
  scan["findings"] = std::move(findings);
  scan["pages"] = std::move(pages);
  return scan;
}

json::Object refused_scan(json::Object reason) {
  json::Object scan;
  scan["verdict"] = "refused";
  scan["kind"] = "";
  scan["mime"] = "";
  scan["engine"] = "";
  scan["findings"] = json::Array{std::move(reason)};
  scan["pages"] = json::Array();
  return scan;
}

// Every page shows some text, and none is to be recognised all the same.
bool may_be_searchable(const StageJob& job, const json::Object& scan) {
  const auto* reading = stage_doing(*job.pipeline, RunKind::ocr);
  if (reading == nullptr || mode_of(*reading) == "ocr") return false;
  if (scan.at("kind") != "pdf" || scan.at("verdict") == "refused") return false;
  return std::ranges::all_of(scan.at("pages").as_array(), [](const json::Value& page) {
    return page.at("text_chars").to_number<std::int64_t>() >= kOwnTextChars;
  });
}

struct PageRange {
  std::int64_t first = 1;
  std::int64_t last = 1;
};

// Whether the text of these pages is believed, by the rule by which they will be read. In a task of
// its own: a page that kills its reader, or takes long, is not judged, and what becomes of it is up
// to the stage that reads it.
awaitable<bool> are_trusted(StageJob& job, const sandbox::UniqueFd& file, PageRange pages) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::seconds(10);
  json::Object request;
  request["op"] = "read";
  request["kind"] = "pdf";
  request["mode"] = "judge";
  request["page"] = pages.first;
  request["last"] = pages.last;
  auto opened = ContentFiles::reopened(file);
  if (!opened) co_return false;
  sandbox::TaskSpec task{.request = to_json(request), .limits = job.limits()};
  task.limits.cpu = std::min(task.limits.cpu, kLongest);
  task.limits.wall = std::min(task.limits.wall, kLongest);
  task.files.push_back(*std::move(opened));
  const auto done = co_await run_child(job, std::move(task));
  if (!done || done->end != sandbox::TaskResult::End::ok) co_return false;
  const auto judged = parse_json_object(done->result);
  if (!judged) co_return false;
  const auto* trusted = judged->if_contains("trusted");
  co_return trusted != nullptr && trusted->is_bool() && trusted->get_bool();
}

// The file is what there is to hand out as a PDF that can be searched, and at once: nothing is to
// be added to any of its pages.
awaitable<bool> is_searchable(StageJob& job, const json::Object& scan,
                              const sandbox::UniqueFd& file) {
  using namespace boost::asio::experimental::awaitable_operators;
  constexpr std::int64_t kTogether = 64;  // So many take less time than starting a second reader.
  if (!may_be_searchable(job, scan)) co_return false;
  const auto pages = static_cast<std::int64_t>(scan.at("pages").as_array().size());
  if (pages <= kTogether) co_return co_await are_trusted(job, file, {.first = 1, .last = pages});
  const auto both = co_await (are_trusted(job, file, {.first = 1, .last = pages / 2}) &&
                              are_trusted(job, file, {.first = pages / 2 + 1, .last = pages}));
  co_return std::get<0>(both) && std::get<1>(both);
}

Task<Outcome> settle(StageJob& job, json::Object scan, bool searchable = false) {
  MR_CO_TRY(auto blob, co_await steadily(*job.context, [&] {
              return keep_content(job.services.blobs, canonical_json(scan), "application/json");
            }));
  scan["blob"] = std::move(blob);
  scan["stage"] = job.stage->name;
  scan["reuse_key"] = sha256_hex("scan" + stage_version(*job.stage) + job.work.file.content.sha256);
  json::Object meta;
  meta["verdict"] = scan.at("verdict");
  meta["engine"] = scan.at("engine");
  meta["pages"] = static_cast<std::int64_t>(scan.at("pages").as_array().size());
  scan["meta"] = meta;
  if (searchable) scan["outputs"] = json::Array{source_output()};
  const auto plan = plan_after(*job.pipeline, job.stage->name);
  job.context->in_settlement({store::settle_scan_statement(job.id(), scan, plan)});
  co_return Outcome::ok(to_json(meta));
}

}  // namespace

Task<Outcome> run_scan(StageJob job) {
  if (job.work.quarantined) {
    co_return co_await settle(
        job, refused_scan(finding("quarantined", "refuse",
                                  "this content has crashed its reader three times before")));
  }
  auto opened = co_await steadily(
      *job.context, [&] { return job.services.contents.open(job.work.file.content); });
  if (!opened) co_return outcome_of(opened.error(), "the file cannot be fetched");
  if (job.services.clamd != nullptr) {
    auto checked = co_await ask_clamd(job, *opened);
    if (checked.failed) co_return *std::move(checked.failed);
    if (checked.found) co_return co_await settle(job, refused_scan(*std::move(checked.found)));
  }
  json::Object request;
  request["op"] = "inspect";
  request["file_name"] = job.work.file.name;
  request["active_content"] = job.option("active_content", "refuse");
  sandbox::TaskSpec task{.request = to_json(request), .limits = job.limits()};
  MR_CO_TRY(auto inspected, ContentFiles::reopened(*opened));
  task.files.push_back(std::move(inspected));
  auto done = co_await run_child(job, std::move(task));
  if (auto failed = failed_task(done, "scan")) co_return *std::move(failed);
  const auto pages_max = std::min(kPagesMax, static_cast<int>(job.number("pages_max", kPagesMax)));
  auto scan = checked_report(done->result, pages_max);
  if (!scan) {
    auto outcome = Outcome::retry("reader_protocol", scan.error().message);
    outcome.crash = true;
    co_return outcome;
  }
  const bool searchable = co_await is_searchable(job, *scan, *opened);
  co_return co_await settle(job, *std::move(scan), searchable);
}

}  // namespace millrace::pipeline
