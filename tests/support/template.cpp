#include "support/template.h"

#include "base/clock.h"
#include "base/log.h"
#include "pg/sync_connection.h"
#include "store/migrator.h"
#include "support/sql_source.h"

#include <fmt/format.h>

namespace millrace::test {
namespace {

// Changed SQL needs another template: servers outlive builds when tests are run by hand.
std::string template_name() {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a.
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash = (hash ^ 0xffU) * 0x100000001b3ULL;
  };
  for (const auto& file : sql_files()) {
    mix(file.path);
    mix(file.text);
  }
  return fmt::format("millrace_template_{:016x}", hash);
}

}  // namespace

Result<std::string> ensure_template(const std::function<std::string(std::string_view)>& url_of) {
  const auto name = template_name();
  MR_TRY(auto admin, pg::SyncConnection::connect(url_of("postgres")));
  MR_TRY(auto found, admin.query("select from pg_database where datname = $1", pg::params(name)));
  if (!found.empty()) return name;

  // Under another name until it is complete, so that a killed process leaves no half template.
  const std::string unfinished = "millrace_template_unfinished";
  MR_TRY_VOID(admin.query(fmt::format("drop database if exists {} with (force)", unfinished)));
  MR_TRY_VOID(admin.query(fmt::format("create database {} template template0", unfinished)));
  MR_TRY_VOID(prepare_template(url_of(unfinished)));
  MR_TRY_VOID(admin.query(
      fmt::format("alter database {} with is_template true allow_connections false", unfinished)));
  MR_TRY_VOID(admin.query(fmt::format("alter database {} rename to {}", unfinished, name)));
  return name;
}

Result<void> prepare_template(const std::string& url) {
  MR_TRY(auto connection, pg::SyncConnection::connect(url));
  const SystemClock clock;
  const auto log = Logger::silent();
  store::MigrateOptions options;
  options.create_client_roles = true;
  options.engine_login = true;
  options.install_testing = true;
  MR_TRY_VOID(store::Migrator(connection, sql_files(), clock, log).up(options));
  return {};
}

}  // namespace millrace::test
