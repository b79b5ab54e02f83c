#include "app/commands/commands.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "app/schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

struct Options {
  std::optional<std::string> expose;
  bool no_expose = false;
  bool client_roles = false;
};

store::MigrateOptions to_migrate_options(const Options& options, const Database& database) {
  auto out = database.is_private ? private_migrate_options() : store::MigrateOptions();
  if (options.expose) out.expose_schema = *options.expose;
  if (options.no_expose) out.expose_schema.reset();
  if (options.client_roles) out.create_client_roles = true;
  return out;
}

void add_options(Command& command, Options& options) {
  command.option("--expose", "SCHEMA", options.expose,
                 "Offer the source-named functions and views there, such as public");
  command.flag("--no-expose", options.no_expose, "Not even on the private cluster");
  command.flag("--create-client-roles", options.client_roles,
               "Create anon, authenticated and service_role");
}

Result<int> run_status(Context& context) {
  MR_TRY(const auto database, find_database(context.settings));
  MR_TRY(auto connection, connect_plain(database));
  MR_TRY(const auto all, migration_status(context, connection));
  json::Array rows;
  for (const auto& row : all) {
    const auto optional = [](const std::optional<std::string>& text) {
      return text ? json::Value(*text) : json::Value();
    };
    rows.emplace_back(json::Object{{"version", row.version},
                                   {"name", row.name},
                                   {"state", std::string(to_string(row.state))},
                                   {"applied_at", optional(row.applied_at)},
                                   {"applied_by_version", optional(row.binary_version)}});
  }
  const auto state = [](const json::Value& value, const json::Object&) -> Cell {
    auto cell = show_value(value);
    cell.style = cell.text == "applied"   ? Style::green
                 : cell.text == "pending" ? Style::yellow
                                          : Style::red;
    return cell;
  };
  print_rows(context, rows,
             {{"VERSION", "version", true},
              {"NAME", "name"},
              {"STATE", "state", false, state},
              {"APPLIED", "applied_at"},
              {"BY", "applied_by_version"}},
             "no migrations");
  return kExitOk;
}

Result<int> run_plan(Context& context, const Options& options) {
  MR_TRY(const auto database, find_database(context.settings));
  MR_TRY(auto connection, connect_plain(database));
  MR_TRY(auto steps, migration_plan(context, connection, to_migrate_options(options, database)));
  std::erase_if(steps, [](const std::string& step) { return step.starts_with("keep "); });
  if (context.json()) {
    json::Array out;
    for (const auto& step : steps) out.emplace_back(step);
    context.print_json(json::Value(out));
    return kExitOk;
  }
  for (const auto& step : steps) context.print(fmt::format("{}\n", step));
  if (steps.empty()) context.print("nothing to do\n");
  return kExitOk;
}

Result<int> run_up(Context& context, const Options& options) {
  MR_TRY(const auto database, find_database(context.settings));
  MR_TRY(auto connection, connect_plain(database));
  auto migrate = to_migrate_options(options, database);
  if (!context.json() && context.terminal.err_tty) {
    migrate.progress = [&](const store::MigrateProgress& progress) {
      fmt::print(stderr, "\r\x1b[K{}/{} {}", progress.done, progress.total, progress.step);
      if (progress.done == progress.total) fmt::print(stderr, "\r\x1b[K");
    };
  }
  auto report = migrate_up(context, connection, migrate);
  if (migrate.progress) fmt::print(stderr, "\r\x1b[K");
  if (!report) return fail(report.error());
  if (context.json()) {
    json::Array applied;
    for (const auto& name : report->migrations) applied.emplace_back(name);
    json::Array notes;
    for (const auto& note : report->notes) notes.emplace_back(note);
    context.print_json(json::Object{{"version_before", report->version_before},
                                    {"version_after", report->version_after},
                                    {"migrations", std::move(applied)},
                                    {"files", report->files},
                                    {"wrappers", report->wrappers},
                                    {"owner", report->owner},
                                    {"notes", std::move(notes)},
                                    {"elapsed_ms", report->elapsed.count()}});
    return kExitOk;
  }
  for (const auto& name : report->migrations) context.print(fmt::format("applied {}\n", name));
  if (report->files > 0) {
    context.print(fmt::format("applied {} functions, views and policies\n", report->files));
  }
  if (report->wrappers > 0) {
    context.print(fmt::format("wrote {} wrappers in schema {}\n", report->wrappers,
                              migrate.expose_schema.value_or("")));
  }
  for (const auto& note : report->notes) context.note("note: " + note);
  context.print(fmt::format("schema is at version {}, owned by {} ({} ms)\n", report->version_after,
                            report->owner, report->elapsed.count()));
  return kExitOk;
}

}  // namespace

void add_migrate_commands(Command& root) {
  auto& migrate = root.add("migrate", "Create or update the schema").group("Running");
  migrate.add("status", "Migrations and their state").action(run_status);
  {
    auto options = std::make_shared<Options>();
    auto& command = migrate.add("plan", "What 'up' would do");
    add_options(command, *options);
    command.action([options](Context& context) { return run_plan(context, *options); });
  }
  auto options = std::make_shared<Options>();
  auto& command = migrate.add("up", "Bring the schema to this program's version");
  add_options(command, *options);
  command.action([options](Context& context) { return run_up(context, *options); });
}

}  // namespace millrace::app
