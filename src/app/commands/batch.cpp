#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/context.h"
#include "app/exit_code.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

Cell show_state(const json::Value&, const json::Object& row) {
  if (member(row, "finished_at") != nullptr && !member(row, "finished_at")->is_null()) {
    return {"finished", int_member(row, "failed") > 0 ? Style::yellow : Style::green};
  }
  const auto* sealed = member(row, "sealed_at");
  return sealed == nullptr || sealed->is_null() ? Cell("open") : Cell("running", Style::cyan);
}

Result<int> run_list(Context& context, std::int64_t limit) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_batches(limit));
  print_rows(context, rows,
             {{"BATCH", "batch_id"},
              {"NAME", "name"},
              {"STATE", "state", false, show_state},
              {"TOTAL", "total", true, show_count},
              {"DONE", "completed", true, show_count},
              {"FAILED", "failed", true, show_count},
              {"CANCELLED", "cancelled", true, show_count},
              {"CREATED", "created_at", false, show_age},
              {"CALLBACK", "callback_job_id"}},
             "no batches");
  return kExitOk;
}

Result<int> run_show(Context& context, const std::string& text) {
  MR_TRY(const auto id, parse_id<BatchId>("batch id", text));
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto batch, store.get_batch(id));
  if (context.json()) {
    context.print_json(batch);
    return kExitOk;
  }
  for (const char* key :
       {"batch_id", "name", "tenant_id", "total", "completed", "failed", "cancelled", "pending",
        "progress", "created_at", "sealed_at", "finished_at", "callback_job_id"}) {
    const auto* value = member(batch, key);
    if (value == nullptr || value->is_null()) continue;
    context.print(fmt::format("{:<18} {}\n", key, printable(show_value(*value).text)));
  }
  return kExitOk;
}

struct CreateOptions {
  std::string jobs;
  std::optional<std::string> name;
  std::optional<std::string> callback;
  std::optional<std::string> callback_payload;
  bool only_completed = false;
};

// A JSON array of jobs, or one job per line.
Result<json::Array> read_jobs(const std::string& source) {
  constexpr std::size_t kMaxBytes = 256UL * 1024 * 1024;
  MR_TRY(const auto text, read_text_argument(source, kMaxBytes));
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) {
    return fail(ErrorKind::invalid_argument, fmt::format("{}: there are no jobs in it", source));
  }
  if (text[first] == '[') {
    auto parsed = parse_json(text, {.max_bytes = kMaxBytes});
    if (!parsed) return fail_with_context(source, parsed.error());
    return std::move(parsed->as_array());
  }
  json::Array jobs;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    auto job = parse_json_object(line);
    if (!job) return fail_with_context(fmt::format("{}:{}", source, number), job.error());
    jobs.emplace_back(std::move(*job));
  }
  return jobs;
}

Result<int> run_create(Context& context, const CreateOptions& options) {
  MR_TRY(const auto jobs, read_jobs(options.jobs));
  json::Object batch;
  if (options.name) batch["name"] = *options.name;
  if (options.callback) {
    json::Object callback{{"job_type", *options.callback}};
    if (options.callback_payload) {
      MR_TRY(callback["payload"],
             read_json_argument("--callback-payload", *options.callback_payload));
    }
    batch["callback"] = std::move(callback);
    batch["callback_on"] = options.only_completed ? "completed" : "finished";
  } else if (options.callback_payload || options.only_completed) {
    return fail(ErrorKind::invalid_argument,
                "--callback-payload and --only-completed need --callback TYPE");
  }
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto id, store.create_batch(jobs, batch));
  if (context.json()) {
    context.print_json(json::Object{{"batch_id", id.to_string()},
                                    {"jobs", static_cast<std::int64_t>(jobs.size())}});
  } else {
    context.print(fmt::format("{}\n", id));
    context.note(fmt::format("{} jobs; see 'millrace batch show {}'", jobs.size(), id));
  }
  return kExitOk;
}

}  // namespace

void add_batch_commands(Command& root) {
  auto& batch =
      root.add("batch", "Jobs that belong together, with a job at their end").group("Jobs");
  {
    auto limit = std::make_shared<std::int64_t>(50);
    auto& command = batch.add("list", "Newest batches");
    command.option("--limit", "N", *limit, "At most so many (default 50)");
    command.action([limit](Context& context) { return run_list(context, *limit); });
  }
  {
    auto id = std::make_shared<std::string>();
    auto& command = batch.add("show", "Counts and callback of one batch");
    command.argument("ID", *id, "Batch");
    command.action([id](Context& context) { return run_show(context, *id); });
  }
  auto options = std::make_shared<CreateOptions>();
  auto& command = batch.add("create", "Enqueue jobs as one batch");
  command.argument("FILE|-", options->jobs, "Jobs: a JSON array, or one object per line").files();
  command.option("--name", "TEXT", options->name, "Name for people");
  command.option("--callback", "TYPE", options->callback, "Job to enqueue at the end");
  command.option("--callback-payload", "JSON|@FILE", options->callback_payload, "Its payload");
  command.flag("--only-completed", options->only_completed, "Only when every job completed");
  command.footer(
      "Example:\n"
      "  echo '[{\"job_type\": \"noop\", \"payload\": {\"n\": 1}}]' |\n"
      "    millrace batch create - --callback noop --callback-payload '{\"done\": true}'");
  command.action([options](Context& context) { return run_create(context, *options); });
}

}  // namespace millrace::app
