#include "app/schema.h"

#include "sql_files.h"

namespace millrace::app {

Result<pg::SyncConnection> connect_plain(const Database& database) {
  auto connection = pg::SyncConnection::connect(connect_as(database, "", "millrace-cli"));
  if (!connection) return fail(cannot_connect(database, connection.error()));
  return connection;
}

store::MigrateOptions private_migrate_options() {
  store::MigrateOptions options;
  options.expose_schema = "public";
  options.create_client_roles = true;
  options.engine_login = true;
  return options;
}

Result<std::vector<store::MigrationStatus>> migration_status(Context& context,
                                                             pg::SyncConnection& connection) {
  return store::Migrator(connection, sql::embedded_sql(), context.clock, context.log).status();
}

Result<std::vector<std::string>> migration_plan(Context& context, pg::SyncConnection& connection,
                                                const store::MigrateOptions& options) {
  return store::Migrator(connection, sql::embedded_sql(), context.clock, context.log).plan(options);
}

Result<store::MigrateReport> migrate_up(Context& context, pg::SyncConnection& connection,
                                        const store::MigrateOptions& options) {
  return store::Migrator(connection, sql::embedded_sql(), context.clock, context.log).up(options);
}

}  // namespace millrace::app
