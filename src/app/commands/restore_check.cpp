#include "app/commands/commands.h"
#include "app/context.h"
#include "app/exit_code.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

Result<int> run_restore_check(Context& context, bool dry_run) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto foreign, store.foreign_lanes());
  store::Restamped done;
  if (foreign > 0 && !dry_run) {
    MR_TRY(done, store.restamp_lanes());
  }
  if (context.json()) {
    context.print_json(
        json::Object{{"foreign_lanes", foreign}, {"lanes", done.lanes}, {"jobs", done.jobs}});
  } else if (foreign == 0) {
    context.note("nothing to do: the lanes carry transaction ids of this server");
  } else if (dry_run) {
    context.note(
        fmt::format("{} lanes carry transaction ids of another server; without --dry-run "
                    "their waiting jobs are lined up anew",
                    group_digits(foreign)));
  } else {
    context.note(fmt::format("{} lanes are given up, {} waiting jobs are lined up anew",
                             group_digits(done.lanes), group_digits(done.jobs)));
  }
  return foreign > 0 && dry_run ? kExitProblems : kExitOk;
}

}  // namespace

void add_restore_check_command(Command& root) {
  auto dry_run = std::make_shared<bool>(false);
  auto& command = root.add("restore-check", "Put right what a restore from another server breaks")
                      .group("Running");
  command.flag("--dry-run", *dry_run, "Only say whether there is something to put right");
  command.footer(
      "After a logical restore (pg_dump) the order of waiting jobs refers to transactions of the\n"
      "old server. Workers refuse to start until this was run. Physical backups need it not.");
  command.action([dry_run](Context& context) { return run_restore_check(context, *dry_run); });
}

}  // namespace millrace::app
