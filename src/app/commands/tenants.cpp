#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/config/wiring.h"
#include "app/context.h"
#include "app/exit_code.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

struct QuotaOptions {
  std::optional<std::string> bytes;
  std::optional<std::string> files;
};

void add_quota_options(Command& command, QuotaOptions& options) {
  command.option("--quota-bytes", "SIZE", options.bytes,
                 "What it may store, such as 10G; default: as all tenants");
  command.option("--quota-files", "N", options.files, "How many objects; default: as all tenants");
}

// "default" takes a quota of its own away again.
Result<json::Object> read_quota(const QuotaOptions& options) {
  json::Object quota;
  for (const auto& [name, text] :
       {std::pair{"quota_bytes", &options.bytes}, std::pair{"quota_files", &options.files}}) {
    if (!*text) continue;
    if (**text == "default") {
      quota[name] = nullptr;
      continue;
    }
    auto value = parse_bytes(**text);
    if (!value && **text == "0") value = 0;
    if (!value) return fail_with_context(name, value.error());
    quota[name] = *value;
  }
  return quota;
}

Cell show_bytes(const json::Value& value, const json::Object&) {
  if (!value.is_int64()) return show_value(value);
  const auto bytes = static_cast<double>(value.as_int64());
  const char* unit = "";
  double shown = bytes;
  for (const char* next : {"K", "M", "G", "T"}) {
    if (shown < 1024) break;
    shown /= 1024;
    unit = next;
  }
  return *unit == '\0' ? fmt::format("{}", value.as_int64()) : fmt::format("{:.1f}{}", shown, unit);
}

void add_create(Command& tenants) {
  auto name = std::make_shared<std::string>();
  auto id = std::make_shared<std::optional<std::string>>();
  auto quota = std::make_shared<QuotaOptions>();
  auto& command = tenants.add("create", "Give a tenant a name and a quota; prints its id");
  command.argument("NAME", *name, "For people; unique");
  command.option("--id", "UUID", *id, "Of a tenant that tokens name already");
  add_quota_options(command, *quota);
  command.action([name, id, quota](Context& context) -> Result<int> {
    std::optional<Uuid> chosen;
    if (*id) {
      MR_TRY(chosen, parse_id<Uuid>("--id", **id));
    }
    MR_TRY(const auto values, read_quota(*quota));
    MR_TRY(auto store, context.connect());
    MR_TRY(const auto tenant, store.create_tenant(*name, chosen, values));
    if (context.json()) {
      context.print_json(json::Object{{"tenant_id", tenant.to_string()}, {"name", *name}});
    } else {
      context.print(tenant.to_string() + "\n");
    }
    return kExitOk;
  });
}

Result<int> run_list(Context& context) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_tenants());
  print_rows(context, rows,
             {{"ID", "tenant_id"},
              {"NAME", "name"},
              {"USED", "used_bytes", true, show_bytes},
              {"QUOTA", "quota_bytes", true, show_bytes},
              {"FILES", "used_files", true, show_count},
              {"DISABLED", "disabled_at", false, show_age},
              {"REASON", "disabled_reason"},
              {"CREATED", "created_at", false, show_age}},
             "no tenants have a name yet");
  return kExitOk;
}

void add_switch(Command& tenants, bool disable) {
  auto id = std::make_shared<std::string>();
  auto reason = std::make_shared<std::optional<std::string>>();
  auto& command =
      tenants.add(disable ? "disable" : "enable",
                  disable ? "Refuse its requests and tokens; jobs go on" : "Take it back");
  command.argument("ID", *id, "Tenant");
  if (disable) command.option("--reason", "TEXT", *reason, "For people and the audit");
  command.action([id, reason, disable](Context& context) -> Result<int> {
    MR_TRY(const auto tenant, parse_id<Uuid>("ID", *id));
    MR_TRY(auto store, context.connect());
    if (disable) {
      MR_TRY_VOID(store.disable_tenant(tenant, *reason));
    } else {
      MR_TRY_VOID(store.enable_tenant(tenant));
    }
    context.note(fmt::format("tenant {} is {}", tenant, disable ? "disabled" : "enabled"));
    return kExitOk;
  });
}

void add_quota(Command& tenants) {
  auto id = std::make_shared<std::string>();
  auto quota = std::make_shared<QuotaOptions>();
  auto& command = tenants.add("quota", "Change what a tenant may store");
  command.argument("ID", *id, "Tenant");
  add_quota_options(command, *quota);
  command.footer("'default' instead of a number goes back to what holds for all tenants.");
  command.action([id, quota](Context& context) -> Result<int> {
    MR_TRY(const auto tenant, parse_id<Uuid>("ID", *id));
    MR_TRY(const auto values, read_quota(*quota));
    if (values.empty()) {
      return fail(ErrorKind::invalid_argument, "give --quota-bytes, --quota-files or both");
    }
    MR_TRY(auto store, context.connect());
    MR_TRY_VOID(store.set_tenant_quota(tenant, values));
    context.note(fmt::format("tenant {} has a new quota", tenant));
    return kExitOk;
  });
}

}  // namespace

void add_tenants_commands(Command& root) {
  auto& tenants = root.add("tenants", "Tenants: names, quotas, switches").group("Operation");
  add_create(tenants);
  tenants.add("list", "Tenants and what they store").action(run_list);
  add_switch(tenants, true);
  add_switch(tenants, false);
  add_quota(tenants);
}

}  // namespace millrace::app
