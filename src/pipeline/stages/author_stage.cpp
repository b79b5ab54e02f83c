// A stage of the author's: a program, run as a handler's program is, or an address that gets what
// the program would get. What it answers is the result of the stage, for a page or for the
// document.
#include "base/words.h"
#include "pipeline/author_inputs.h"
#include "pipeline/author_results.h"
#include "pipeline/provider_room.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"
#include "worker/handlers/exec_handler.h"
#include "worker/handlers/http_handler.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace millrace::pipeline {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kResultMaxBytes = std::size_t{4} * 1024 * 1024;
// Larger ones are in the outputs only.
constexpr std::size_t kShownMaxBytes = 2'048;

// Empty: it can be started here.
std::string cannot_start(const AuthorServices& authors, const std::string& program) {
  if (authors.folder.empty()) return "this worker has no pipeline.dir, where programs are";
  if (!program.contains('/')) return {};
  const auto path = std::filesystem::path(authors.folder) / program;
  std::error_code ignored;
  const bool there = std::filesystem::is_regular_file(path, ignored);
  if (there && ::access(path.c_str(), X_OK) == 0) return {};
  return fmt::format("{} is no program on this worker", program);
}

worker::ExecOptions exec_options(const StageJob& job, std::vector<std::string> argv) {
  const auto& limits = job.stage->limits;
  worker::ExecOptions options;
  options.argv = std::move(argv);
  options.env = job.services.authors.env;
  options.cwd = job.services.authors.folder;
  options.limits.memory_bytes = limits.memory_bytes;
  if (limits.cpu) {
    options.limits.cpu_seconds =
        static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(*limits.cpu).count());
  }
  options.limits.file_bytes = limits.file_bytes;
  options.limits.open_files = limits.files;
  options.limits.processes = limits.processes;
  options.wall = limits.wall;
  options.result_max_bytes = limits.output_bytes.value_or(kResultMaxBytes);
  return options;
}

awaitable<Outcome> ask_author(const StageJob& job, std::string input) {
  auto& authors = job.services.authors;
  if (job.stage->kind == RunKind::http) {
    if (authors.client == nullptr) co_return Outcome::held_up("no network here", 30s);
    co_return co_await worker::post_job(
        *authors.client, job.context,
        {.url = job.stage->run, .headers = {}, .result_max_bytes = kResultMaxBytes},
        std::move(input));
  }
  auto argv = split_words(std::string_view(job.stage->run).substr(5));
  if (!argv || argv->empty()) {
    co_return Outcome::permanent("no_program", "run of the stage names no program");
  }
  // Another worker may have it; the document is not to blame.
  if (const auto why = cannot_start(authors, argv->front()); !why.empty()) {
    co_return Outcome::held_up(why, 30s);
  }
  co_return co_await worker::run_program(job.context, exec_options(job, *std::move(argv)),
                                         std::move(input));
}

// Small results are there to be seen without another request.
json::Object meta_of(const std::string& result) {
  json::Object meta{{"bytes", result.size()}};
  // jsonb cannot hold a zero byte.
  if (result.size() > kShownMaxBytes || result.contains("\\u0000")) return meta;
  if (auto value = parse_json(result)) meta["result"] = *std::move(value);
  return meta;
}

Task<Outcome> settle_document(StageJob& job, std::string result, json::Object meta) {
  MR_CO_TRY(auto blob, co_await steadily(*job.context, [&] {
              return keep_content(job.services.blobs, result, "application/json");
            }));
  json::Object item;
  if (const auto* shown = meta.if_contains("result")) {
    item["summary"] = json::Object{{job.stage->name, *shown}};
  }
  json::Object kept;
  kept["page"] = 0;
  kept["stage"] = job.stage->name;
  kept["reuse_key"] =
      sha256_hex(stage_version(*job.stage) + std::string(blob.at("sha256").as_string()));
  kept["blob"] = std::move(blob);
  kept["meta"] = std::move(meta);
  item["results"] = json::Array{std::move(kept)};
  co_return settled_stage(job, std::move(item));
}

}  // namespace

Task<Outcome> run_authors(StageJob job) {
  auto input = co_await author_input(job);
  if (!input && input.error().kind == ErrorKind::invalid_argument) {
    co_return Outcome::permanent("inputs_too_large", input.error().message);
  }
  if (!input) co_return fail(input.error());
  if (const auto& limited_by = job.services.authors.limited_by) {
    const auto provider = limited_by(*job.stage);
    if (!provider.empty()) {
      if (auto none = co_await take_room(job, provider)) co_return *std::move(none);
    }
  }
  job.context->set_asked(true);
  auto outcome = co_await ask_author(job, *std::move(input));
  // A program that dies says nothing about the content: that is read by others and not put away.
  outcome.crash = false;
  if (outcome.kind != Outcome::Kind::ok) co_return outcome;
  auto result = outcome.result_json.empty() ? std::string("null") : std::move(outcome.result_json);
  auto meta = meta_of(result);
  if (!job.work.page) co_return co_await settle_document(job, std::move(result), std::move(meta));
  co_return co_await keep_page(job, {.bytes = std::move(result), .meta = std::move(meta)});
}

Task<void> write_author_results(StageJob& job, const RunRecord& record, OutputFiles& files) {
  constexpr std::string_view kKind = "results";
  bool open = false;
  const auto write = [&](const Stage& stage, int page,
                         const store::StageResult& result) -> Task<void> {
    if (!std::exchange(open, true)) {
      MR_CO_TRY_VOID(co_await files.open(std::string(kKind), "results.jsonl", "application/jsonl"));
    }
    MR_CO_TRY(auto content,
              co_await read_content(job.services.blobs, result.content, kInputsMaxBytes * 2));
    // Only between values: in a text it would not be JSON.
    for (auto& letter : content) letter = letter == '\n' || letter == '\r' ? ' ' : letter;
    co_return co_await files.write(
        kKind, fmt::format("{{\"stage\":{},{}\"result\":{}}}\n", json_quote(stage.name),
                           page == 0 ? std::string() : fmt::format("\"page\":{},", page), content));
  };
  for (const auto& stage : job.pipeline->stages) {
    if (!is_authors(stage)) continue;
    for (const auto& page : record.pages) {
      if (const auto* result = record.find(page.page, stage.name)) {
        MR_CO_TRY_VOID(co_await write(stage, page.page, *result));
      }
    }
    const auto whole = job.work.results.find(stage.name);
    if (whole != job.work.results.end()) MR_CO_TRY_VOID(co_await write(stage, 0, whole->second));
  }
  co_return ok();
}

}  // namespace millrace::pipeline
