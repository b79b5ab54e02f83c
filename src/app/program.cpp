#include "app/program.h"

#include "app/cli/command.h"
#include "app/commands/commands.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/fault.h"
#include "base/history.h"

#include <fmt/format.h>

#include <clocale>
#include <cstdio>
#include <exception>
#include <unistd.h>

extern char** environ;

namespace millrace::app {
namespace {

Environment read_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == text.npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

void declare(CommandLine& line, GlobalOptions& global) {
  auto& root = line.root();
  root.option("--database-url", "URL", global.database_url,
              "PostgreSQL to use (default: DATABASE_URL, millrace.toml, private cluster)");
  root.option("--data-dir", "DIR", global.data_dir, "Private cluster (default: .millrace)").files();
  root.option("--config", "FILE", global.config_file, "Instead of ./millrace.toml").files();
  root.option("--tenant", "UUID", global.tenant, "Act for, and show, one tenant only");
  root.option("--log-level", "LEVEL", global.log_level, "debug, info, warn or error")
      .choices({"debug", "info", "warn", "error"});
  root.flag("--json", global.json, "JSON on standard output");
  root.flag("--no-color", global.no_color, "No colours (also: NO_COLOR)");

  add_up_command(root);
  add_serve_command(root);
  add_worker_command(root);
  add_appserver_command(root);
  add_migrate_commands(root);
  add_psql_command(root);
  add_restore_check_command(root);
  add_enqueue_command(root);
  add_jobs_commands(root);
  add_documents_commands(root);
  add_export_commands(root);
  add_search_command(root);
  add_dlq_commands(root);
  add_batch_commands(root);
  add_cron_commands(root);
  add_queues_commands(root);
  add_limits_commands(root);
  add_pipeline_commands(root);
  add_workers_command(root);
  add_audit_commands(root);
  add_token_commands(root);
  add_tenants_commands(root);
  add_import_command(root);
  add_config_commands(root);
  add_doctor_command(root);
  add_demo_command(root);
  add_bench_commands(root);
  add_openapi_command(root);
  add_completion_command(root);
  add_version_command(root);
}

Result<Settings> load_settings(const Context& context) {
  Settings::Sources sources;
  if (context.global.config_file) sources.file = *context.global.config_file;
  sources.environment = context.environment;
  MR_TRY(auto settings, Settings::load(sources));
  if (context.global.database_url) {
    MR_TRY_VOID(settings.set_flag("database.url", *context.global.database_url, "--database-url"));
  }
  if (context.global.data_dir) {
    MR_TRY_VOID(settings.set_flag("database.data_dir", *context.global.data_dir, "--data-dir"));
  }
  if (context.global.log_level) {
    MR_TRY_VOID(settings.set_flag("log.level", *context.global.log_level, "--log-level"));
  }
  return settings;
}

Logger make_log(const Context& context, bool service) {
  const bool chosen = service || context.settings.is_set("log.level");
  const auto level =
      chosen ? parse_log_level(context.settings.text("log.level")).value() : LogLevel::warn;
  const auto& format = context.settings.text("log.format");
  if (format == "auto") return Logger::to_stderr(context.clock, level);
  const auto fixed = format == "json" ? Logger::Format::json : Logger::Format::text;
  return Logger::to_stderr(context.clock, fixed, level);
}

// What chaos runs ask for: a history of all calls, and faults at named points.
Result<void> begin_experiment(const Environment& environment, const std::string& command) {
  if (const auto found = environment.find("MILLRACE_HISTORY"); found != environment.end()) {
    MR_TRY_VOID(history::open_history(found->second, command));
  }
  if (const auto found = environment.find("MILLRACE_FAULT"); found != environment.end()) {
    MR_TRY_VOID(fault::arm(found->second));
  }
  return {};
}

int report(const Error& error, int code) {
  fmt::print(stderr, "{}\n", error_line(error));
  return code;
}

int run(int argc, const char* const* argv) {
  Context context;
  context.environment = read_environment();
  CommandLine line("millrace", "Durable jobs on PostgreSQL.");
  declare(line, context.global);
  auto parsed = line.parse(argc, argv);
  if (!parsed) return report(parsed.error(), kExitUsage);
  if (parsed->command == nullptr) {
    fmt::print(parsed->help_asked ? stdout : stderr, "{}", parsed->help);
    return parsed->help_asked ? kExitOk : kExitUsage;
  }
  context.terminal = Terminal::detect(context.environment);
  if (context.global.no_color) context.terminal.color = false;
  if (parsed->needs_config) {
    auto settings = load_settings(context);
    if (!settings) return report(settings.error(), kExitConfiguration);
    context.settings = std::move(*settings);
    context.log = make_log(context, parsed->service);
  }
  if (auto begun = begin_experiment(context.environment, parsed->command->name()); !begun) {
    return report(begun.error(), kExitConfiguration);
  }
  const auto code = parsed->action(context);
  if (!code) return report(code.error(), exit_code_of(code.error()));
  return *code;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return report(
        {.kind = ErrorKind::internal, .message = fmt::format("internal error: {}", error.what())},
        kExitInternal);
  }
}

}  // namespace millrace::app
