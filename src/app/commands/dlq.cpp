#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/context.h"
#include "app/exit_code.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <map>
#include <memory>

namespace millrace::app {
namespace {

void add_filter(Command& command, store::DeadFilter& filter) {
  command.option("--queue", "NAME", filter.queue, "Of this queue");
  command.option("--type", "TYPE", filter.job_type, "Of this type");
  command.option("--fingerprint", "TEXT", filter.fingerprint, "That failed in this way");
}

Result<int> run_list(Context& context, const store::DeadFilter& filter) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_dead(filter));
  print_rows(context, rows,
             {{"JOB", "job_id"},
              {"TYPE", "job_type"},
              {"QUEUE", "queue"},
              {"FAILED", "finished_at", false, show_age},
              {"TRIES", "attempt", true},
              {"REASON", "reason"},
              {"FINGERPRINT", "fingerprint"},
              {"ERROR", "error", false, show_error}},
             "no dead letters");
  return kExitOk;
}

Result<int> run_groups(Context& context, const store::DeadFilter& filter) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.group_dead(filter));
  print_rows(context, rows,
             {{"JOBS", "jobs", true, show_count},
              {"TYPE", "job_type"},
              {"QUEUE", "queue"},
              {"FINGERPRINT", "fingerprint"},
              {"FIRST", "first_at", false, show_age},
              {"LAST", "last_at", false, show_age},
              {"REASON", "reason"},
              {"ERROR", "error", false, show_error}},
             "no dead letters");
  return kExitOk;
}

struct RedriveOptions {
  store::DeadFilter filter;
  std::vector<std::string> ids;
  std::optional<std::string> before;
  std::optional<std::int64_t> rate;
  std::int64_t limit = 1000;
  std::string reason = "redriven by an operator";
  bool all = false;
};

Result<int> run_redrive(Context& context, const RedriveOptions& options) {
  json::Object filter;
  if (!options.ids.empty()) {
    json::Array ids;
    for (const auto& text : options.ids) {
      MR_TRY(const auto id, parse_id<JobId>("job id", text));
      ids.emplace_back(id.to_string());
    }
    filter["job_ids"] = std::move(ids);
  }
  if (options.filter.queue) filter["queue"] = *options.filter.queue;
  if (options.filter.job_type) filter["job_type"] = *options.filter.job_type;
  if (options.filter.fingerprint) filter["fingerprint"] = *options.filter.fingerprint;
  if (options.before) filter["failed_before"] = *options.before;
  if (filter.empty() && !options.all) {
    return fail(ErrorKind::invalid_argument,
                "say which: job ids, --queue, --type, --fingerprint, --failed-before or --all");
  }
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto answers,
         store.redrive_jobs(filter, options.limit, options.rate, options.reason));
  json::Array rows;
  std::map<std::string, std::int64_t> totals;
  for (const auto& answer : answers) {
    json::Object row{{"job_id", answer.id.to_string()}, {"answer", answer.answer}};
    row["due_at"] = answer.due_at ? json::Value(*answer.due_at) : json::Value();
    rows.emplace_back(std::move(row));
    ++totals[answer.answer];
  }
  if (context.json() || answers.size() <= 20) {
    print_rows(context, rows, {{"JOB", "job_id"}, {"ANSWER", "answer"}, {"DUE", "due_at"}},
               "no dead letters match");
  } else {
    for (const auto& [answer, count] : totals) {
      context.print(fmt::format("{}: {} jobs\n", answer, group_digits(count)));
    }
    if (answers.back().due_at) {
      context.print(fmt::format("the last one is due at {}\n", *answers.back().due_at));
    }
  }
  return totals.contains("not_found") ? kExitNotFound : kExitOk;
}

}  // namespace

void add_dlq_commands(Command& root) {
  auto& dlq = root.add("dlq", "Dead letters: jobs that failed for good").group("Jobs");
  {
    auto filter = std::make_shared<store::DeadFilter>();
    auto& command = dlq.add("list", "Newest dead letters");
    add_filter(command, *filter);
    command.option("--limit", "N", filter->limit, "At most so many (default 50)");
    command.action([filter](Context& context) { return run_list(context, *filter); });
  }
  {
    auto filter = std::make_shared<store::DeadFilter>();
    auto& command = dlq.add("groups", "Dead letters by the way they failed");
    add_filter(command, *filter);
    command.option("--limit", "N", filter->limit, "At most so many (default 50)");
    command.action([filter](Context& context) { return run_groups(context, *filter); });
  }
  auto options = std::make_shared<RedriveOptions>();
  auto& command = dlq.add("redrive", "Start dead letters again, at a limited rate if you like");
  command.argument("ID", options->ids, "These jobs", false);
  add_filter(command, options->filter);
  command.option("--failed-before", "TIMESTAMP", options->before, "That failed before this time");
  command.option("--rate", "N", options->rate, "At most N per minute");
  command.option("--limit", "N", options->limit, "At most so many (default 1000)");
  command.option("--reason", "TEXT", options->reason, "For the audit");
  command.flag("--all", options->all, "All of them");
  command.action([options](Context& context) { return run_redrive(context, *options); });
}

}  // namespace millrace::app
