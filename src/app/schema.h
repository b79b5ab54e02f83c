// Schema: the migrator with the files of this program, for migrate, up, demo, bench and doctor.
#pragma once

#include "app/context.h"
#include "app/database.h"
#include "store/migrator.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

// A connection that does not ask for the schema to be there.
Result<pg::SyncConnection> connect_plain(const Database& database);

// What the private cluster gets without being asked: wrappers in public, Supabase's roles, and
// logins for the engine's roles.
store::MigrateOptions private_migrate_options();

Result<std::vector<store::MigrationStatus>> migration_status(Context& context,
                                                             pg::SyncConnection& connection);
Result<std::vector<std::string>> migration_plan(Context& context, pg::SyncConnection& connection,
                                                const store::MigrateOptions& options);
Result<store::MigrateReport> migrate_up(Context& context, pg::SyncConnection& connection,
                                        const store::MigrateOptions& options);

}  // namespace millrace::app
