// workers, audit, config, version.
#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/config/mask_url.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/version.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

Result<int> run_workers(Context& context) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_workers());
  const auto state = [](const json::Value& value, const json::Object& row) -> Cell {
    if (!value.is_bool() || !value.as_bool()) return {"dead", Style::red};
    if (bool_member(row, "draining")) return {"draining", Style::yellow};
    return {"alive", Style::green};
  };
  const auto seconds = [](const json::Value& value, const json::Object&) -> Cell {
    return show_value(value).text + "s ago";
  };
  print_rows(context, rows,
             {{"WORKER", "worker_id"},
              {"STATE", "alive", false, state},
              {"VERSION", "version"},
              {"RUNNING", "running", true, show_count},
              {"SLOTS", "slots", true},
              {"BEAT", "beat_age_seconds", true, seconds},
              {"STARTED", "started_at", false, show_age},
              {"QUEUES", "queues"},
              {"TYPES", "job_types"}},
             "no workers; start one with 'millrace worker'");
  return kExitOk;
}

Result<int> run_audit_show(Context& context, const std::string& id_text, std::int64_t limit) {
  MR_TRY(auto store, context.connect());
  if (!id_text.empty()) {
    MR_TRY(const auto id, parse_id<JobId>("job id", id_text));
    MR_TRY(const auto rows, store.job_audit(id));
    print_rows(context, rows,
               {{"AT", "at"},
                {"ACTION", "action"},
                {"STATUS", "status", false, show_status},
                {"ACTOR", "actor"},
                {"WORKER", "worker_id"},
                {"REASON", "reason"}},
               "no audit rows");
    return kExitOk;
  }
  MR_TRY(const auto rows, store.list_audit(limit));
  print_rows(context, rows,
             {{"AT", "at"},
              {"ACTION", "action"},
              {"OBJECT", "table_name"},
              {"RECORD", "record_id"},
              {"JOBS", "jobs", true, show_count},
              {"ACTOR", "actor"},
              {"REASON", "reason"}},
             "no audit rows");
  return kExitOk;
}

Result<int> run_audit_verify(Context& context) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.verify_audit());
  print_rows(context, rows,
             {{"TENANT", "tenant_id"},
              {"POSITION", "chain_seq", true},
              {"AUDIT ROW", "audit_id", true},
              {"PROBLEM", "problem"}},
             "the audit chain is whole");
  return rows.empty() ? kExitOk : kExitProblems;
}

std::string shown_value(const SettingSpec& spec, const Setting& setting) {
  if (!spec.secret || setting.value.empty()) return setting.value;
  const auto masked = mask_url(setting.value);
  return masked.find("://") == masked.npos && masked.find('=') == masked.npos ? "***" : masked;
}

Result<int> run_config(Context& context) {
  json::Array rows;
  for (const auto& spec : setting_specs()) {
    const auto& setting = context.settings.get(spec.name());
    rows.emplace_back(json::Object{{"key", spec.name()},
                                   {"value", shown_value(spec, setting)},
                                   {"origin", setting.origin},
                                   {"variable", spec.variable()},
                                   {"description", std::string(spec.description)}});
  }
  for (const auto& handler : context.settings.handlers()) {
    std::string run = handler.url;
    if (handler.kind == HandlerConfig::Kind::noop) run = "noop";
    if (handler.kind == HandlerConfig::Kind::sleep) run = "sleep";
    if (handler.kind == HandlerConfig::Kind::exec) {
      run = "exec:";
      for (const auto& word : handler.argv) run += (run.ends_with(':') ? "" : " ") + word;
    }
    rows.emplace_back(json::Object{
        {"key", "handler." + handler.type},
        {"value", run},
        {"origin", fmt::format("{}:{}", context.settings.file()->string(), handler.line)}});
  }
  for (const auto& queue : context.settings.queues()) {
    rows.emplace_back(json::Object{{"key", "queue." + queue.name},
                                   {"value", to_json(queue.policy)},
                                   {"origin", context.settings.file()->string()}});
  }
  const auto origin = [](const json::Value& value, const json::Object&) -> Cell {
    auto cell = show_value(value);
    if (cell.text == "default") cell.style = Style::dim;
    return cell;
  };
  const auto text = [](const json::Value& value, const json::Object&) -> Cell {
    const auto shown = show_value(value);
    return shown.text.empty() ? Cell("(not set)", Style::dim) : shown;
  };
  print_rows(context, rows,
             {{"KEY", "key"}, {"VALUE", "value", false, text}, {"ORIGIN", "origin", false, origin}},
             "no settings");
  return kExitOk;
}

}  // namespace

void add_workers_command(Command& root) {
  root.add("workers", "Worker processes and their liveness").group("Operation").action(run_workers);
}

void add_audit_commands(Command& root) {
  auto& audit =
      root.add("audit", "Who did what, and proof that nobody changed it").group("Operation");
  {
    auto id = std::make_shared<std::string>();
    auto limit = std::make_shared<std::int64_t>(50);
    auto& command = audit.add("show", "Newest audit rows, or the history of one job");
    command.argument("ID", *id, "Job", false);
    command.option("--limit", "N", *limit, "At most so many (default 50)");
    command.action([id, limit](Context& context) { return run_audit_show(context, *id, *limit); });
  }
  audit.add("verify", "Check the hash chain; exit 7 if it is broken").action(run_audit_verify);
}

void add_config_commands(Command& root) {
  auto& config = root.add("config", "Every setting, its value and where it came from")
                     .group("Operation")
                     .action(run_config);
  config.add("system", "Settings that lie in the database")
      .action([](Context& context) -> Result<int> {
        MR_TRY(auto store, context.connect());
        MR_TRY(const auto rows, store.list_configuration());
        print_rows(
            context, rows,
            {{"KEY", "config_key"}, {"VALUE", "config_value"}, {"DESCRIPTION", "description"}},
            "no settings");
        return kExitOk;
      });
  auto key = std::make_shared<std::string>();
  auto value = std::make_shared<std::string>();
  auto& command = config.add("set", "Change a setting that lies in the database");
  command.argument("KEY", *key, "Key, as 'config system' shows it");
  command.argument("VALUE", *value, "New value");
  command.action([key, value](Context& context) -> Result<int> {
    MR_TRY(auto store, context.connect());
    MR_TRY_VOID(store.set_configuration(*key, *value));
    context.note(fmt::format("{} is now {}", *key, *value));
    return kExitOk;
  });
}

void add_version_command(Command& root) {
  root.add("version", "Version of this program")
      .group("Help")
      .without_config()
      .action([](Context& context) -> Result<int> {
        if (context.json()) {
          context.print_json(json::Object{{"version", std::string(kVersion)}});
        } else {
          context.print(fmt::format("millrace {}\n", kVersion));
        }
        return kExitOk;
      });
}

}  // namespace millrace::app
