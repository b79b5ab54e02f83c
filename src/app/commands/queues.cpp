#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/config/wiring.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace millrace::app {
namespace {

Cell show_paused(const json::Value& value, const json::Object& row) {
  if (value.is_null()) return {"running", Style::green};
  const auto reason = text_member(row, "paused_reason");
  return {reason.empty() ? "paused" : "paused: " + reason, Style::yellow};
}

Result<int> run_list(Context& context, bool policy) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_queues());
  if (policy) {
    print_rows(context, rows,
               {{"QUEUE", "queue"},
                {"TRIES", "max_attempts", true},
                {"BACKOFF", "backoff_base", true, show_interval},
                {"FACTOR", "backoff_factor", true},
                {"CAP", "backoff_cap", true, show_interval},
                {"LEASE", "lease", true, show_interval},
                {"TIMEOUT", "run_timeout", true, show_interval},
                {"AT ONCE", "concurrency_max", true},
                {"PER KEY", "key_concurrency_max", true},
                {"DEPTH", "depth_max", true, show_count},
                {"PRIO", "priority_default", true},
                {"AGES", "age_step", true, show_interval}},
               "no queues");
    return kExitOk;
  }
  print_rows(context, rows,
             {{"QUEUE", "queue"},
              {"STATE", "paused_at", false, show_paused},
              {"READY", "ready", true, show_count},
              {"WAITING", "delayed", true, show_count},
              {"RUNNING", "leased", true, show_count},
              {"DONE", "completed", true, show_count},
              {"FAILED", "failed", true, show_count},
              {"CANCELLED", "cancelled", true, show_count},
              {"ENQUEUED", "enqueued", true, show_count}},
             "no queues");
  return kExitOk;
}

Result<int> run_types(Context& context) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_job_types());
  print_rows(context, rows,
             {{"TYPE", "job_type"},
              {"QUEUE", "queue"},
              {"ON", "enabled"},
              {"REQUIRED", "required_keys"},
              {"PROVIDER", "provider_name"},
              {"ENDPOINT", "api_endpoint"}},
             "no job types");
  return kExitOk;
}

Result<int> run_set(Context& context, const std::string& queue,
                    const std::vector<std::string>& pairs) {
  MR_TRY(auto values, parse_assignments(pairs));
  const auto known = queue_policy_fields();
  for (auto& [key_text, value] : values) {
    const std::string key(key_text);
    if (std::ranges::find(known, key) == known.end()) {
      auto message = fmt::format("'{}' is not a policy of a queue", key);
      if (auto near = nearest(key, known)) message += fmt::format("; did you mean '{}'?", *near);
      return fail(Error{.kind = ErrorKind::invalid_argument,
                        .message = std::move(message),
                        .sqlstate = "MR017",
                        .hint = "see 'millrace queues list --policy --json'"});
    }
    if (is_duration_policy(key) && value.is_string()) {
      auto time = parse_duration(std::string_view(value.as_string()));
      if (!time) return fail_with_context(key, time.error());
      value = fmt::format("{} milliseconds", time->count());
    } else if (is_duration_policy(key) && value.is_number()) {
      return fail(ErrorKind::invalid_argument, fmt::format("{}: {} needs a unit, such as {}s", key,
                                                           to_json(value), to_json(value)));
    }
  }
  MR_TRY(auto store, context.connect());
  MR_TRY_VOID(store.set_queue(queue, values));
  context.note(fmt::format("queue {} is set", queue));
  return kExitOk;
}

}  // namespace

void add_queues_commands(Command& root) {
  auto& queues =
      root.add("queues", "Look at queues, pause them, change their policy").group("Operation");
  {
    auto policy = std::make_shared<bool>(false);
    auto& command = queues.add("list", "All queues and what is in them");
    command.flag("--policy", *policy, "Their policies instead of their counts");
    command.action([policy](Context& context) { return run_list(context, *policy); });
  }
  queues.add("types", "Registered job types and their queues").action(run_types);
  {
    auto queue = std::make_shared<std::string>();
    auto reason = std::make_shared<std::string>("paused by an operator");
    auto& command = queues.add("pause", "Hand out no more jobs; running ones finish");
    command.argument("QUEUE", *queue, "Queue");
    command.option("--reason", "TEXT", *reason, "For people and the audit");
    command.action([queue, reason](Context& context) -> Result<int> {
      MR_TRY(auto store, context.connect());
      MR_TRY_VOID(store.pause_queue(*queue, *reason));
      context.note(fmt::format("queue {} is paused", *queue));
      return kExitOk;
    });
  }
  {
    auto queue = std::make_shared<std::string>();
    auto& command = queues.add("resume", "Hand out jobs again");
    command.argument("QUEUE", *queue, "Queue");
    command.action([queue](Context& context) -> Result<int> {
      MR_TRY(auto store, context.connect());
      MR_TRY_VOID(store.resume_queue(*queue));
      context.note(fmt::format("queue {} runs again", *queue));
      return kExitOk;
    });
  }
  auto queue = std::make_shared<std::string>();
  auto pairs = std::make_shared<std::vector<std::string>>();
  auto& command = queues.add("set", "Create a queue or change its policy");
  command.argument("QUEUE", *queue, "Queue");
  command.argument("KEY=VALUE", *pairs, "Policy values", false);
  command.footer(
      "Policy: max_attempts backoff_base backoff_factor backoff_cap jitter_low jitter_high lease\n"
      "  beat run_timeout reclaim_jitter max_age max_snoozes concurrency_max key_concurrency_max\n"
      "  depth_max priority_default age_step\n"
      "Example:\n"
      "  millrace queues set images max_attempts=5 backoff_base=10s concurrency_max=4");
  command.action([queue, pairs](Context& context) { return run_set(context, *queue, *pairs); });
}

}  // namespace millrace::app
