// Migrator: brings the schema `millrace` of one database to the state this program was built for.
//
// Flow: the embedded SQL files (migration_set.h) and a connection in, a report out. Progress is
// kept in the database: millrace.schema_migration (what was applied, never changed) and
// millrace.schema_function (the files that are applied again when they change).
//
// Safe at any moment: each migration is one transaction, as are all repeatable files together, and
// each begins with the same transaction-scoped advisory lock and looks again at what is there.
// Killed anywhere, the next run goes on; twenty at once do the work once. No session state, so it
// works through a transaction pooler.
//
// Rights: everything is owned by millrace_owner if the connected role may create roles (or may act
// as it), else by the connected role; grants to roles that do not exist are left out and noted.
// Blocking; one thread. Lifetime: the connection, files, clock and log outlive it.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "pg/sync_connection.h"
#include "sql_files.h"
#include "store/migration_set.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

enum class MigrationState {
  applied,
  pending,
  changed,  // Applied, but the file is another one now.
  unknown,  // Applied by a newer program.
};

std::string_view to_string(MigrationState state);

struct MigrationStatus {
  int version = 0;
  std::string name;
  MigrationState state = MigrationState::pending;
  std::optional<std::string> applied_at;  // As PostgreSQL prints it.
  std::optional<std::string> binary_version;
};

struct MigrateProgress {
  std::string step;  // "migrations/0002_jobs.sql"
  std::size_t done = 0;
  std::size_t total = 0;
};

struct MigrateOptions {
  std::optional<std::string> expose_schema;  // Add wrappers there; those present are kept fresh.
  bool create_client_roles = false;          // anon, authenticated, service_role.
  bool engine_login = false;                 // The engine's roles may log in.
  bool install_testing = false;              // sql/testing, for test databases only.
  // A busy table makes a migration wait at most this long before it steps back for others.
  std::chrono::milliseconds lock_timeout{2'000};
  int lock_attempts_max = 60;
  std::function<void(const MigrateProgress&)> progress;
};

struct MigrateReport {
  int version_before = 0;
  int version_after = 0;
  std::vector<std::string> migrations;  // Applied by this run.
  std::size_t files = 0;                // Functions, views, policies applied by this run.
  std::size_t wrappers = 0;             // Made or changed by this run.
  std::string owner;                    // Of the schema.
  std::vector<std::string> notes;       // What was left out, and why.
  std::chrono::milliseconds elapsed{};
};

class Migrator {
 public:
  Migrator(pg::SyncConnection& connection, std::span<const sql::SqlFile> files, const Clock& clock,
           const Logger& log);

  // Every migration known to the program or the database, by version. Changes nothing.
  Result<std::vector<MigrationStatus>> status();
  // What up() would do, one line each; empty if nothing. Changes nothing.
  Result<std::vector<std::string>> plan(const MigrateOptions& options);
  // conflict: a migration was changed after it was applied, the database is newer than this
  // program, or the schema is not ours; the message says which.
  Result<MigrateReport> up(const MigrateOptions& options);

 private:
  struct Server;   // What is known about the server and our rights on it.
  struct Applied;  // What the database says was applied.
  struct Pending;  // What up() would apply.
  enum class Locking { exclusive, none };

  Result<void> in_transaction(Locking locking, const std::function<Result<void>()>& work);
  Result<void> with_lock_retries(const MigrateOptions& options, const std::string& step,
                                 const std::function<Result<void>()>& work);
  Result<void> limit_lock_waits(const MigrateOptions& options);
  Result<Server> inspect();
  Result<void> become_owner(const Server& server);
  Result<Applied> read_applied(const Server& server);
  Result<void> check_applied(const Applied& applied) const;
  Pending find_pending(const Applied& applied, const MigrateOptions& options) const;

  Result<void> prepare(const MigrateOptions& options);
  Result<void> create_schema(const Server& server);
  Result<void> apply_migration(const Migration& migration, const MigrateOptions& options);
  Result<void> apply_files(const MigrateOptions& options);
  Result<void> apply_in_any_order(const Server& server, std::vector<const ScriptFile*> files);
  Result<void> drop_views(const Server& server, const std::set<std::string>& names);
  Result<void> record_files(const std::vector<const ScriptFile*>& files, int version);
  Result<void> expose(const MigrateOptions& options);
  Result<void> run(const ScriptFile& file);
  Result<pg::ResultSet> query(std::string sql, pg::Params params = {});
  void note_missing_roles(const Server& server, const MigrateOptions& options);
  void tell(const MigrateOptions& options, const std::string& step);

  pg::SyncConnection& connection_;
  Result<MigrationSet> set_;
  const Clock& clock_;
  const Logger& log_;

  MigrateReport report_;         // Of the run under way.
  std::set<std::string> roles_;  // That exist on the server.
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace millrace::store
