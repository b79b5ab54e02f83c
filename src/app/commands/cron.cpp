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

Result<int> run_list(Context& context) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_cron());
  const auto job_type = [](const json::Value& value, const json::Object&) -> Cell {
    return value.is_object() ? text_member(value.as_object(), "job_type") : std::string("-");
  };
  print_rows(context, rows,
             {{"NAME", "name"},
              {"SCHEDULE", "schedule"},
              {"ZONE", "time_zone"},
              {"JOB", "job", false, job_type},
              {"ON", "enabled"},
              {"NEXT", "next_due_at", false, show_age},
              {"LAST", "last_due_at", false, show_age},
              {"ERROR", "last_error"}},
             "no schedules");
  return kExitOk;
}

struct SetOptions {
  std::string name;
  std::string schedule;
  JobSpecOptions job;
  std::optional<std::string> zone;
  std::optional<std::string> missed;
  bool disabled = false;
};

Result<int> run_set(Context& context, const SetOptions& options) {
  MR_TRY(const auto job, to_job_spec(options.job));
  json::Object extra{{"enabled", !options.disabled}};
  if (options.zone) extra["time_zone"] = *options.zone;
  if (options.missed) extra["missed"] = *options.missed;
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto id, store.set_cron(options.name, options.schedule, job, extra));
  MR_TRY(const auto all, store.list_cron());
  std::string next;
  for (const auto& row : all) {
    const auto& cron = row.as_object();
    if (text_member(cron, "name") == options.name) next = text_member(cron, "next_due_at");
  }
  if (context.json()) {
    context.print_json(json::Object{{"cron_id", id.to_string()}, {"next_due_at", next}});
  } else {
    context.print(fmt::format("{}: next run {} ({})\n", options.name,
                              show_age(json::Value(next), {}).text, next));
  }
  return kExitOk;
}

}  // namespace

void add_cron_commands(Command& root) {
  auto& cron = root.add("cron", "Jobs on a schedule").group("Jobs");
  cron.add("list", "Schedules and their next runs").action(run_list);
  {
    auto options = std::make_shared<SetOptions>();
    auto& command = cron.add("set", "Create or change a schedule");
    command.argument("NAME", options->name, "Name of the schedule");
    command.argument("SCHEDULE", options->schedule,
                     "Five fields, six with seconds first, or @hourly, @daily ...");
    command.argument("TYPE", options->job.type, "Job type to enqueue");
    add_job_spec_options(command, options->job, false);
    command.option("--zone", "NAME", options->zone, "Time zone (default UTC)");
    command.option("--missed", "WHAT", options->missed, "Runs missed: one late run, or none")
        .choices({"one", "skip"});
    command.flag("--disabled", options->disabled, "Do not run it for now");
    command.footer(
        "Example:\n"
        "  millrace cron set nightly '15 3 * * *' noop --payload '{\"n\": 1}' --zone "
        "Europe/Berlin");
    command.action([options](Context& context) { return run_set(context, *options); });
  }
  {
    auto name = std::make_shared<std::string>();
    auto& command = cron.add("delete", "Remove a schedule; its jobs stay");
    command.argument("NAME", *name, "Schedule");
    command.action([name](Context& context) -> Result<int> {
      MR_TRY(auto store, context.connect());
      MR_TRY_VOID(store.delete_cron(*name));
      context.note(fmt::format("{} is gone", *name));
      return kExitOk;
    });
  }
  auto name = std::make_shared<std::string>();
  auto& command = cron.add("run", "Enqueue its job once, now");
  command.argument("NAME", *name, "Schedule");
  command.action([name](Context& context) -> Result<int> {
    MR_TRY(auto store, context.connect());
    MR_TRY(const auto id, store.cron_now(*name));
    if (context.json()) {
      context.print_json(json::Object{{"job_id", id.to_string()}});
    } else {
      context.print(fmt::format("{}\n", id));
    }
    return kExitOk;
  });
}

}  // namespace millrace::app
