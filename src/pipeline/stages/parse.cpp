// A document becomes Markdown, by the parser of our own in a confined child. Bytes go from the
// child into the blob store as they come. Pages of a scan that have no text are recognised by tasks
// of their own, a few beside each other, and handed to a second parse.
#include "base/both.h"
#include "blob/disk.h"
#include "pipeline/parse_remote.h"
#include "pipeline/parsed.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"
#include "pipeline/virus_check.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

constexpr JsonLimits kReportLimits{.max_bytes = std::size_t{8} * 1024 * 1024, .max_depth = 16};
constexpr JsonLimits kPageLimits{.max_bytes = std::size_t{64} * 1024 * 1024, .max_depth = 64};
constexpr int kPagesMax = 5'000;

// What the child says of a parse, checked: it has read a stranger's bytes.
struct Report {
  std::string kind;
  std::string parser;
  std::string version;
  std::string title;
  std::string language;
  std::optional<int> page_count = {};
  std::vector<int> without_text = {};
  json::Array warnings = {};
};

std::string text_of(const json::Object& object, std::string_view name, std::size_t bytes_max) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return storable_text(value->get_string(), bytes_max);
}

std::optional<int> page_of(const json::Value& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.to_number<double>();
  if (!(number >= 1 && number <= kPagesMax)) return std::nullopt;
  return static_cast<int>(number);
}

Result<Report> checked_report(std::string_view text) {
  MR_TRY(const auto object, parse_json_object(text, kReportLimits));
  Report report{.kind = text_of(object, "kind", 16),
                .parser = text_of(object, "parser", 64),
                .version = text_of(object, "parser_version", 64),
                .title = text_of(object, "title", 300),
                .language = text_of(object, "language", 35)};
  if (report.kind.empty() || report.parser.empty() || report.version.empty()) {
    return fail(ErrorKind::invalid_argument, "kind, parser and parser_version must be told");
  }
  const auto* has_pages = object.if_contains("has_pages");
  const bool counted = has_pages != nullptr && has_pages->is_bool() && has_pages->get_bool();
  if (const auto* count = object.if_contains("page_count"); counted && count != nullptr) {
    report.page_count = page_of(*count);
  }
  if (const auto* pages = object.if_contains("pages_without_text");
      pages != nullptr && pages->is_array()) {
    for (const auto& one : pages->get_array()) {
      if (const auto page = page_of(one)) report.without_text.push_back(*page);
    }
  }
  if (const auto* all = object.if_contains("warnings"); all != nullptr && all->is_array()) {
    report.warnings = all->get_array();
  }
  return report;
}

// One parse: its Markdown, not yet stored for good, and its report; or how the delivery ends.
struct Run {
  std::unique_ptr<blob::BlobWriter> markdown;
  Report report;
  std::optional<Outcome> ended = {};
};

// The file breaks a rule: it is refused, and will be whoever reads it.
Outcome rejected(StageJob& job, json::Object reason) {
  json::Object item;
  item["rejected"] = json::Array{std::move(reason)};
  return settled_stage(job, std::move(item));
}

json::Object parse_request(const StageJob& job) {
  json::Object request;
  request["op"] = "parse";
  request["file_name"] = job.work.file.name;
  if (!job.work.file.charset.empty()) request["charset"] = job.work.file.charset;
  return request;
}

json::Value languages_of(const StageJob& job) {
  const auto* languages = job.stage->options.if_contains("languages");
  return languages != nullptr ? *languages : json::Value(json::Array{"eng"});
}

// `pages`: of the scan, recognised before, a line each; not open: none.
Task<Run> parse_once(StageJob& job, sandbox::UniqueFd pages) {
  Run run;
  MR_CO_TRY(auto file, co_await job.services.contents.open(job.work.file.content));
  MR_CO_TRY(run.markdown, co_await job.services.blobs.create({.content_type = "text/markdown"}));
  sandbox::TaskSpec task{.request = to_json(parse_request(job)), .limits = job.limits()};
  task.files.push_back(std::move(file));
  if (pages.valid()) task.files.push_back(std::move(pages));
  auto& writer = *run.markdown;
  task.on_output = [&writer](std::span<const std::byte> bytes) -> Task<void> {
    co_return co_await writer.write(bytes);
  };
  auto done = co_await run_child(job, std::move(task));
  if (!done) co_return fail(done.error());
  if (done->end == sandbox::TaskResult::End::refused &&
      done->code == to_string(ErrorKind::invalid_argument)) {
    run.ended = rejected(job, finding("not_parsed", "refuse", done->message));
    co_return run;
  }
  if (auto failed = failed_task(done, "parse")) {
    run.ended = *std::move(failed);
    co_return run;
  }
  auto report = checked_report(done->result);
  if (!report) {
    run.ended = Outcome::retry("reader_protocol", report.error().message);
    run.ended->crash = true;
    co_return run;
  }
  run.report = *std::move(report);
  co_return run;
}

// Pages that are recognised, by two tasks beside each other; what cannot be read is left out.
class Recognition {
 public:
  Recognition(StageJob& job, std::string kind, std::vector<int> pages)
      : job_(job), kind_(std::move(kind)), waiting_(pages.begin(), pages.end()) {}

  Task<void> run() {
    MR_CO_TRY(lines_, job_.services.contents.scratch());
    co_await both(take(), take());
    if (failed_) co_return fail(*failed_);
    co_return ok();
  }
  const std::set<int>& pages() const { return done_; }
  // Of the pages, for the second parse.
  Result<sandbox::UniqueFd> lines() const { return ContentFiles::reopened(lines_); }

 private:
  awaitable<void> take() {
    while (!waiting_.empty() && !failed_ && !job_.context->cancelled()) {
      const int page = waiting_.front();
      waiting_.pop_front();
      auto kept = co_await read(page);
      if (!kept) {
        failed_ = kept.error();
        co_return;
      }
      if (*kept) done_.insert(page);
      ++looked_at_;
      const auto total = looked_at_ + static_cast<int>(waiting_.size());
      job_.context->progress(80 * looked_at_ / std::max(total, 1),
                             fmt::format("recognised {} of {} pages", looked_at_, total));
    }
  }

  // False: the page cannot be read. An error: the machine's trouble, not the page's.
  Task<bool> read(int page) {
    json::Object request;
    request["op"] = "read";
    request["kind"] = kind_;
    request["page"] = page;
    request["mode"] = "ocr";
    request["languages"] = languages_of(job_);
    MR_CO_TRY(auto file, co_await steadily(*job_.context, [&] {
                return job_.services.contents.open(job_.work.file.content);
              }));
    sandbox::TaskSpec task{.request = to_json(request), .limits = job_.limits()};
    task.limits.cpu = std::min<std::chrono::milliseconds>(task.limits.cpu, std::chrono::minutes(2));
    task.files.push_back(std::move(file));
    auto done = co_await run_child(job_, std::move(task));
    if (!done) co_return fail(done.error());
    using End = sandbox::TaskResult::End;
    if (done->end == End::cancelled || done->end == End::cannot_confine) {
      co_return fail(ErrorKind::unavailable, done->message);
    }
    if (done->end != End::ok) co_return false;
    // Both tasks write, each whole lines in one call.
    const int fd = lines_.get();
    co_return co_await blob::on_disk(job_.services.threads, [&done, fd]() -> Result<bool> {
      const auto answer = parse_json_object(done->result, kPageLimits);
      const auto* read = answer ? answer->if_contains("page") : nullptr;
      if (read == nullptr) return false;
      const auto line = to_json(*read) + '\n';
      if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        return fail(ErrorKind::unavailable, "cannot write a scratch file");
      }
      return true;
    });
  }

  StageJob& job_;
  std::string kind_;
  std::deque<int> waiting_;
  sandbox::UniqueFd lines_;
  std::set<int> done_;
  int looked_at_ = 0;
  std::optional<Error> failed_;
};

std::string_view mime_of(std::string_view kind) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Pair, 11> kMimes{
      {{"pdf", "application/pdf"},
       {"html", "text/html"},
       {"markdown", "text/markdown"},
       {"text", "text/plain"},
       {"mail", "message/rfc822"},
       {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
       {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
       {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
       {"odt", "application/vnd.oasis.opendocument.text"},
       {"odp", "application/vnd.oasis.opendocument.presentation"},
       {"ods", "application/vnd.oasis.opendocument.spreadsheet"}}};
  const auto found = std::ranges::find(kMimes, kind, &Pair::first);
  return found == kMimes.end() ? "application/octet-stream" : found->second;
}

Parsed parsed_of(const StageJob& job, const Report& report, json::Object markdown) {
  Parsed parsed{.markdown = std::move(markdown),
                .parser_name = report.parser,
                .parser_version = report.version,
                .page_count = report.page_count,
                .warnings = report.warnings,
                .title = report.title,
                .language = report.language};
  parsed.meta["kind"] = report.kind;
  parsed.meta["mime"] = mime_of(report.kind);
  parsed.meta["file_bytes"] = job.work.file.content.size_bytes;
  return parsed;
}

Task<Outcome> parse_locally(StageJob& job) {
  MR_CO_TRY(auto run, co_await parse_once(job, {}));
  if (run.ended) co_return *std::move(run.ended);
  std::vector<int> lost = run.report.without_text;
  const auto most = static_cast<std::size_t>(job.number("ocr_pages_max", 200));
  if (!lost.empty() && job.option("ocr", "auto") == "auto" && most > 0) {
    auto asked = lost;
    if (asked.size() > most) asked.resize(most);
    Recognition recognition(job, run.report.kind, std::move(asked));
    MR_CO_TRY_VOID(co_await recognition.run());
    if (!recognition.pages().empty()) {
      MR_CO_TRY_VOID(co_await run.markdown->abort());
      MR_CO_TRY(auto lines, recognition.lines());
      MR_CO_TRY(run, co_await parse_once(job, std::move(lines)));
      if (run.ended) co_return *std::move(run.ended);
    }
    std::erase_if(lost, [&](int page) { return recognition.pages().contains(page); });
  }
  MR_CO_TRY(const auto info, co_await run.markdown->finish());
  auto parsed = parsed_of(job, run.report, describe_content(info, "text/markdown"));
  parsed.pages_failed = std::move(lost);
  co_return settled_parse(job, std::move(parsed));
}

// What a job was moved here with (docs/adoption.md): the parse that its own system had stored.
Task<std::optional<Outcome>> brought_along(StageJob& job) {
  const auto payload = parse_json_object(job.context->job().payload_json);
  if (!payload || !payload->contains("parsed_path")) co_return std::optional<Outcome>();
  MR_CO_TRY(const auto found, co_await job.services.ingest->find_parsed(job.id()));
  if (!found) co_return std::optional<Outcome>();
  Parsed parsed{.parser_name = "imported", .parser_version = "1"};
  MR_CO_TRY(parsed.markdown,
            co_await keep_again(job.services.blobs, found->store_key, "text/markdown"));
  parsed.meta["kind"] = "markdown";
  parsed.meta["mime"] = "text/markdown";
  co_return std::optional(settled_parse(job, std::move(parsed)));
}

}  // namespace

Task<Outcome> run_parse(StageJob job) {
  if (job.work.quarantined) {
    co_return rejected(job, finding("quarantined", "refuse",
                                    "this content has crashed its reader three times before"));
  }
  if (job.services.clamd != nullptr) {
    auto opened = co_await steadily(
        *job.context, [&] { return job.services.contents.open(job.work.file.content); });
    if (!opened) co_return outcome_of(opened.error(), "the file cannot be fetched");
    auto checked = co_await ask_clamd(job, *opened);
    if (checked.failed) co_return *std::move(checked.failed);
    if (checked.found) co_return rejected(job, *std::move(checked.found));
  }
  MR_CO_TRY(auto brought, co_await steadily(*job.context, [&job] { return brought_along(job); }));
  if (brought) co_return *std::move(brought);
  if (job.stage->provider != kLocalProvider) co_return co_await run_parse_remote(std::move(job));
  co_return co_await steadily(*job.context, [&job] { return parse_locally(job); });
}

}  // namespace millrace::pipeline
