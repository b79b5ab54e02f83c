#include "app/private_database.h"

#include "app/schema.h"
#include "base/file.h"

#include <fmt/format.h>

#include <charconv>

namespace millrace::app {
namespace {

std::string lookup(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

// The same server's maintenance database: a database cannot be dropped from within.
Database maintenance(const Database& database) {
  auto out = database;
  out.url = cluster_database_url(database.url, "postgres");
  return out;
}

Result<void> recreate(const Database& database) {
  MR_TRY(auto connection, connect_plain(maintenance(database)));
  MR_TRY_VOID(connection.query("drop database if exists millrace with (force)", {},
                               MR_POINT("private_drop")));
  MR_TRY_VOID(connection.query("create database millrace", {}, MR_POINT("private_create")));
  return {};
}

// The server reads it as another user, who may enter the folder but not what we create by default.
Result<void> write_local_settings(const std::filesystem::path& data_dir, const std::string& text) {
  return write_file_atomically(data_dir / "pg" / "local.conf", text, 0644);
}

}  // namespace

Result<void> recreate_database(Context& context, const Database& database) {
  MR_TRY_VOID(recreate(database));
  MR_TRY(auto connection, connect_plain(database));
  auto migrated = migrate_up(context, connection, private_migrate_options());
  if (!migrated) return fail_with_context("cannot prepare the schema", migrated.error());
  return {};
}

std::string cluster_database_url(const std::string& url, const std::string& name) {
  // postgresql://user@/millrace?host=...
  auto out = url;
  const auto slash = out.find('/', out.find("://") + 3);
  const auto query = out.find('?', slash);
  if (slash != out.npos && query != out.npos) out.replace(slash + 1, query - slash - 1, name);
  return out;
}

Result<PrivateDatabase> PrivateDatabase::open(Context& context, const Options& options) {
  cluster::ClusterOptions cluster_options;
  cluster_options.data_dir = options.data_dir;
  cluster_options.runtime_directory = lookup(context.environment, "XDG_RUNTIME_DIR");
  const auto sudo = lookup(context.environment, "SUDO_UID");
  uid_t uid = 0;
  if (std::from_chars(sudo.data(), sudo.data() + sudo.size(), uid).ec == std::errc{} && uid != 0) {
    cluster_options.sudo_uid = uid;
  }
  if (options.tell) {
    cluster_options.progress = [tell = options.tell](const cluster::ClusterProgress& progress) {
      tell(progress.message);
    };
  }
  MR_TRY(auto cluster, cluster::PrivateCluster::open_or_create(std::move(cluster_options),
                                                               context.clock, context.log));
  if (!options.local_settings.empty()) {
    MR_TRY_VOID(write_local_settings(cluster.data_dir(), options.local_settings));
  }
  MR_TRY(const auto started, cluster.start());
  Database database{.url = cluster.url(),
                    .origin = fmt::format("private cluster in {}", options.data_dir.string()),
                    .is_private = true};
  const auto before = context.clock.now();
  if (options.fresh) MR_TRY_VOID(recreate(database));
  MR_TRY(auto connection, connect_plain(database));
  auto migrated = migrate_up(context, connection, private_migrate_options());
  if (!migrated) return fail_with_context("cannot prepare the schema", migrated.error());
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(context.clock.now() - before);
  return PrivateDatabase{.cluster = std::move(cluster),
                         .database = std::move(database),
                         .started = started,
                         .migrated = took};
}

}  // namespace millrace::app
