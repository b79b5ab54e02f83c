#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/commands/watch.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

Result<std::vector<JobId>> parse_ids(const std::vector<std::string>& texts) {
  std::vector<JobId> ids;
  for (const auto& text : texts) {
    MR_TRY(const auto id, parse_id<JobId>("job id", text));
    ids.push_back(id);
  }
  return ids;
}

struct ListOptions {
  store::JobFilter filter;
  std::optional<std::string> batch;
};

Result<int> run_list(Context& context, ListOptions options) {
  if (options.filter.limit < 1 || options.filter.limit > 10'000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--limit: {} is not between 1 and 10000", options.filter.limit));
  }
  if (options.batch) {
    MR_TRY(const auto batch, parse_id<BatchId>("--batch", *options.batch));
    options.filter.batch = batch.value;
  }
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_jobs(options.filter));
  print_rows(context, rows,
             {{"JOB", "job_id"},
              {"TYPE", "job_type"},
              {"QUEUE", "queue"},
              {"STATUS", "status", false, show_status},
              {"PRIO", "priority", true},
              {"TRY", "attempt", true},
              {"CREATED", "created_at", false, show_age},
              {"ERROR", "error", false, show_error}},
             "no such jobs");
  return kExitOk;
}

void print_member(Context& context, const json::Object& job, const std::string& key) {
  const auto* value = member(job, key);
  if (value == nullptr || value->is_null()) return;
  if (value->is_array() && value->as_array().empty()) return;
  auto shown = key == "status" ? show_status(*value, job) : show_value(*value);
  const auto text = printable(shown.text);
  context.print(fmt::format("{:<18} {}\n", key, context.terminal.paint(shown.style, text)));
}

Result<int> run_show(Context& context, const std::string& id_text, bool with_logs) {
  MR_TRY(const auto id, parse_id<JobId>("job id", id_text));
  MR_TRY(auto store, context.connect());
  MR_TRY(auto job, store.get_job(id));
  json::Array logs;
  if (with_logs) {
    MR_TRY(logs, store.job_logs(id, 0, 10'000));
  }
  if (context.json()) {
    if (with_logs) job["logs"] = logs;
    context.print_json(job);
    return kExitOk;
  }
  // First what people look for, then the rest, then the attempts.
  const std::vector<std::string> first{
      "job_id",       "job_type",     "queue",       "status",           "priority",
      "attempt",      "max_attempts", "progress",    "progress_message", "created_at",
      "scheduled_at", "started_at",   "finished_at", "worker_id",        "reason",
      "error",        "result",       "payload"};
  for (const auto& key : first) print_member(context, job, key);
  for (const auto& [key, value] : job) {
    const std::string name(key);
    if (name == "attempts" || name == "logs") continue;
    if (std::ranges::find(first, name) == first.end()) print_member(context, job, name);
  }
  const auto* attempts = member(job, "attempts");
  if (attempts != nullptr && attempts->is_array() && !attempts->as_array().empty()) {
    context.print("\n");
    print_rows(context, attempts->as_array(),
               {{"DELIVERY", "delivery", true},
                {"OUTCOME", "outcome"},
                {"CHARGED", "charged"},
                {"ENDED", "ended_at", false, show_age},
                {"WORKER", "worker_id"},
                {"ERROR", "error", false, show_error}},
               "");
  }
  if (with_logs) {
    context.print("\n");
    print_rows(context, logs, {{"AT", "at"}, {"LEVEL", "level"}, {"MESSAGE", "message"}},
               "no log lines");
  }
  return kExitOk;
}

int answer_exit(const std::vector<store::AdminAnswer>& answers) {
  bool missing = false;
  bool refused = false;
  for (const auto& answer : answers) {
    missing = missing || answer.answer == "not_found";
    refused = refused || answer.answer == "already_final" || answer.answer == "not_waiting" ||
              answer.answer == "not_failed" || answer.answer == "busy";
  }
  return missing ? kExitNotFound : refused ? kExitConflict : kExitOk;
}

void print_answers(Context& context, const std::vector<store::AdminAnswer>& answers) {
  json::Array rows;
  for (const auto& answer : answers) {
    json::Object row{{"job_id", answer.id.to_string()}, {"answer", answer.answer}};
    if (answer.due_at) row["due_at"] = *answer.due_at;
    rows.emplace_back(std::move(row));
  }
  print_rows(context, rows, {{"JOB", "job_id"}, {"ANSWER", "answer"}}, "no jobs");
}

Result<int> run_cancel(Context& context, const std::vector<std::string>& id_texts,
                       const std::optional<std::string>& reason) {
  MR_TRY(const auto ids, parse_ids(id_texts));
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto answers, store.cancel_jobs(ids, reason));
  print_answers(context, answers);
  return answer_exit(answers);
}

// A failed job starts a new generation; one that waits becomes ready now.
Result<int> run_retry(Context& context, const std::vector<std::string>& id_texts,
                      const std::string& reason) {
  MR_TRY(const auto ids, parse_ids(id_texts));
  MR_TRY(auto store, context.connect());
  std::vector<JobId> waiting;
  json::Array failed;
  std::vector<store::AdminAnswer> answers;
  for (const auto& id : ids) {
    auto job = store.get_job(id);
    if (!job && job.error().kind == ErrorKind::not_found) {
      answers.push_back({id, "not_found", std::nullopt});
      continue;
    }
    if (!job) return fail(job.error());
    const auto status = text_member(*job, "status");
    if (status == "failed" || status == "cancelled") {
      failed.emplace_back(id.to_string());
    } else if (status == "completed") {
      answers.push_back({id, "already_final", std::nullopt});
    } else if (status == "processing") {
      answers.push_back({id, "already_running", std::nullopt});
    } else {
      waiting.push_back(id);
    }
  }
  if (!waiting.empty()) {
    MR_TRY(const auto more, store.run_now(waiting, reason));
    answers.insert(answers.end(), more.begin(), more.end());
  }
  if (!failed.empty()) {
    const auto count = static_cast<std::int64_t>(failed.size());
    MR_TRY(const auto more,
           store.redrive_jobs({{"job_ids", std::move(failed)}}, count, std::nullopt, reason));
    answers.insert(answers.end(), more.begin(), more.end());
  }
  print_answers(context, answers);
  return answer_exit(answers);
}

struct WatchArguments {
  std::vector<std::string> ids;
  std::optional<std::string> queue;
  std::optional<std::string> timeout;
  bool until_empty = false;
};

Result<int> run_watch(Context& context, const WatchArguments& arguments) {
  WatchOptions options;
  if (arguments.timeout) {
    auto timeout = parse_duration(*arguments.timeout);
    if (!timeout) return fail_with_context("--timeout", timeout.error());
    options.timeout = *timeout;
  }
  if (!arguments.ids.empty() && arguments.queue) {
    return fail(ErrorKind::invalid_argument, "give job ids or --queue, not both");
  }
  MR_TRY(const auto ids, parse_ids(arguments.ids));
  MR_TRY(auto store, context.connect());
  if (!ids.empty()) return watch_jobs(context, store, ids, options);
  return watch_queue(context, store, arguments.queue, arguments.until_empty, options);
}

void add_list(Command& jobs) {
  auto options = std::make_shared<ListOptions>();
  auto& command = jobs.add("list", "Newest jobs");
  command.option("--queue", "NAME", options->filter.queue, "Of this queue");
  command.option("--type", "TYPE", options->filter.job_type, "Of this type");
  command.option("--status", "STATUS", options->filter.status, "In this status")
      .choices(
          {"pending", "processing", "completed", "failed", "cancelled", "retrying", "deferred"});
  command.option("--batch", "ID", options->batch, "Of this batch");
  command.option("--correlation-id", "TEXT", options->filter.correlation_id, "With this id");
  command.option("--limit", "N", options->filter.limit, "At most so many (default 50)");
  command.action([options](Context& context) { return run_list(context, *options); });
}

void add_watch(Command& jobs) {
  auto arguments = std::make_shared<WatchArguments>();
  auto& command = jobs.add("watch", "Follow jobs, or a queue, live");
  command.argument("ID", arguments->ids, "Jobs to follow to their end", false);
  command.option("--queue", "NAME", arguments->queue, "Follow this queue instead");
  command.flag("--until-empty", arguments->until_empty, "End when no live job is left");
  command.option("--timeout", "TIME", arguments->timeout, "Give up after this time");
  command.action([arguments](Context& context) { return run_watch(context, *arguments); });
}

}  // namespace

void add_jobs_commands(Command& root) {
  auto& jobs = root.add("jobs", "Look at jobs, cancel them, try them again").group("Jobs");
  add_list(jobs);
  {
    auto id = std::make_shared<std::string>();
    auto logs = std::make_shared<bool>(false);
    auto& command = jobs.add("show", "Everything about one job");
    command.argument("ID", *id, "Job");
    command.flag("--logs", *logs, "With its log lines");
    command.action([id, logs](Context& context) { return run_show(context, *id, *logs); });
  }
  add_watch(jobs);
  {
    auto ids = std::make_shared<std::vector<std::string>>();
    auto reason = std::make_shared<std::optional<std::string>>();
    auto& command = jobs.add("cancel", "Cancel waiting jobs at once, running ones by asking them");
    command.argument("ID", *ids, "Jobs");
    command.option("--reason", "TEXT", *reason, "For the audit");
    command.action([ids, reason](Context& context) { return run_cancel(context, *ids, *reason); });
  }
  {
    auto ids = std::make_shared<std::vector<std::string>>();
    auto reason = std::make_shared<std::string>("retried by an operator");
    auto& command = jobs.add("retry", "Run waiting jobs now, start failed ones again");
    command.argument("ID", *ids, "Jobs");
    command.option("--reason", "TEXT", *reason, "For the audit");
    command.action([ids, reason](Context& context) { return run_retry(context, *ids, *reason); });
  }
}

}  // namespace millrace::app
