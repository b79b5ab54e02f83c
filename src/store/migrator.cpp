#include "store/migrator.h"

#include "base/version.h"
#include "store/wrappers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace millrace::store {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// Nobody else in a database takes this pair: "mill", "race".
constexpr std::string_view kLock = "pg_advisory_xact_lock(1835625580, 1918985061)";
// A migration takes as long as it takes; the server's own limits are switched off as well.
constexpr milliseconds kPatience = std::chrono::hours(24);

constexpr std::array<std::string_view, 5> kEngineRoles = {
    "millrace_owner", "millrace_api", "millrace_worker", "millrace_keeper", "millrace_reader"};
constexpr std::array<std::string_view, 3> kClientRoles = {"anon", "authenticated", "service_role"};

// lock_not_available, deadlock_detected, serialization_failure; and, because roles belong to the
// whole server, a migrator in another database that changes the same role at the same moment.
bool is_busy(const Error& error) {
  return error.sqlstate == "55P03" || error.sqlstate == "40P01" || error.sqlstate == "40001" ||
         error.message.contains("tuple concurrently");
}

// Something that another file defines is not there yet: function, type or schema, table or column.
bool needs_another_file(const Error& error) {
  return error.sqlstate == "42883" || error.sqlstate == "42704" || error.sqlstate == "42P01" ||
         error.sqlstate == "42703";
}

}  // namespace

std::string_view to_string(MigrationState state) {
  switch (state) {
    case MigrationState::applied:
      return "applied";
    case MigrationState::pending:
      return "pending";
    case MigrationState::changed:
      return "changed";
    case MigrationState::unknown:
      return "unknown";
  }
  return "unknown";
}

struct Migrator::Server {
  std::string me;
  bool may_create_roles = false;
  bool may_create_schemas = false;
  std::optional<std::string> schema_owner;  // Nothing: there is no schema yet.
  bool has_tables = false;                  // Ours, in which we keep what was applied.
  bool foreign = false;                     // The schema holds things, but not ours.
  std::string owner;                        // Who owns, or will own, what we create.
  bool is_owner = false;                    // The connected role is or may become `owner`.
};

struct Migrator::Applied {
  struct Row {
    std::string name;
    std::string checksum;
    std::string applied_at;
    std::string binary_version;
  };
  struct File {
    std::string checksum;
    int version = 0;  // Of the schema when it was applied.
  };
  std::map<int, Row> migrations;
  std::map<std::string, File> files;
  bool new_roles = false;  // There are some who were not there when rights were given.

  int version() const { return migrations.empty() ? 0 : migrations.rbegin()->first; }
};

struct Migrator::Pending {
  std::vector<const Migration*> migrations;
  std::vector<const ScriptFile*> objects;  // Functions and views.
  std::vector<const ScriptFile*> testing;
  std::vector<const ScriptFile*> policies;

  bool files() const { return !objects.empty() || !testing.empty() || !policies.empty(); }
};

Migrator::Migrator(pg::SyncConnection& connection, std::span<const sql::SqlFile> files,
                   const Clock& clock, const Logger& log)
    : connection_(connection), set_(parse_migration_set(files)), clock_(clock), log_(log) {}

Result<std::vector<MigrationStatus>> Migrator::status() {
  if (!set_) return fail(set_.error());
  Applied applied;
  MR_TRY_VOID(in_transaction(Locking::none, [&]() -> Result<void> {
    MR_TRY(const auto server, inspect());
    MR_TRY(applied, read_applied(server));
    return {};
  }));
  std::vector<MigrationStatus> list;
  for (const auto& migration : set_->migrations) {
    MigrationStatus status{.version = migration.version, .name = migration.name};
    if (const auto found = applied.migrations.find(migration.version);
        found != applied.migrations.end()) {
      const auto& row = found->second;
      status.state = row.checksum == migration.file.checksum ? MigrationState::applied
                                                             : MigrationState::changed;
      status.applied_at = row.applied_at;
      status.binary_version = row.binary_version;
      applied.migrations.erase(found);
    }
    list.push_back(std::move(status));
  }
  for (const auto& [version, row] : applied.migrations) {
    list.push_back({.version = version,
                    .name = row.name,
                    .state = MigrationState::unknown,
                    .applied_at = row.applied_at,
                    .binary_version = row.binary_version});
  }
  return list;
}

Result<std::vector<std::string>> Migrator::plan(const MigrateOptions& options) {
  if (!set_) return fail(set_.error());
  std::vector<std::string> lines;
  MR_TRY_VOID(in_transaction(Locking::none, [&]() -> Result<void> {
    MR_TRY(const auto server, inspect());
    if (!set_->roles.empty()) {
      std::vector<std::string_view> wanted(kEngineRoles.begin(), kEngineRoles.end());
      if (options.create_client_roles) {
        wanted.insert(wanted.end(), kClientRoles.begin(), kClientRoles.end());
      }
      for (const auto role : wanted) {
        if (roles_.contains(std::string(role)) || !server.may_create_roles) continue;
        lines.push_back(fmt::format("create role {}", role));
      }
    }
    if (!server.schema_owner) lines.emplace_back("create schema millrace");
    MR_TRY(const auto applied, read_applied(server));
    MR_TRY_VOID(check_applied(applied));
    const auto pending = find_pending(applied, options);
    for (const auto* migration : pending.migrations) {
      lines.push_back(fmt::format(
          "apply {}{}", migration->file.path,
          migration->compat.empty() ? "" : fmt::format(" (compat: {})", migration->compat)));
    }
    for (const auto* files : {&pending.objects, &pending.testing, &pending.policies}) {
      for (const auto* file : *files) {
        const auto found = applied.files.find(file->path);
        lines.push_back(fmt::format("apply {} ({})", file->path,
                                    found == applied.files.end()               ? "new"
                                    : found->second.checksum != file->checksum ? "changed"
                                                                               : "again"));
      }
    }
    if (options.expose_schema) {
      lines.push_back(fmt::format("keep wrappers in schema {}", *options.expose_schema));
    }
    return {};
  }));
  return lines;
}

Result<MigrateReport> Migrator::up(const MigrateOptions& options) {
  if (!set_) return fail(set_.error());
  const auto started = clock_.now();
  report_ = {};
  done_ = 0;
  total_ = 1;
  MR_TRY_VOID(with_lock_retries(options, "roles and schema", [&] { return prepare(options); }));

  Applied applied;
  MR_TRY_VOID(in_transaction(Locking::none, [&]() -> Result<void> {
    MR_TRY(const auto server, inspect());
    report_.owner = server.owner;
    note_missing_roles(server, options);
    MR_TRY(applied, read_applied(server));
    return check_applied(applied);
  }));
  report_.version_before = applied.version();
  const auto pending = find_pending(applied, options);
  total_ = pending.migrations.size() + pending.objects.size() + pending.testing.size() +
           pending.policies.size() + 1;
  for (const auto* migration : pending.migrations) {
    tell(options, migration->file.path);
    MR_TRY_VOID(with_lock_retries(options, migration->file.path,
                                  [&] { return apply_migration(*migration, options); }));
    ++done_;
  }
  MR_TRY_VOID(with_lock_retries(options, "functions, views and policies",
                                [&] { return apply_files(options); }));
  tell(options, "wrappers");
  MR_TRY_VOID(with_lock_retries(options, "wrappers", [&] { return expose(options); }));
  report_.version_after = set_->version();
  report_.elapsed = duration_cast<milliseconds>(clock_.now() - started);
  std::ranges::sort(report_.notes);
  const auto twice = std::ranges::unique(report_.notes);
  report_.notes.erase(twice.begin(), twice.end());
  log_.info("migrated", {{"version_before", report_.version_before},
                         {"version_after", report_.version_after},
                         {"files", report_.files},
                         {"wrappers", report_.wrappers},
                         {"ms", report_.elapsed}});
  return report_;
}

// One transaction, rolled back unless `work` succeeds. The lock comes first: what is read under it
// cannot be changed by another migrator before the commit.
Result<void> Migrator::in_transaction(Locking locking, const std::function<Result<void>()>& work) {
  MR_TRY_VOID(connection_.begin(MR_POINT("migrate_begin")));
  const auto body = [&]() -> Result<void> {
    MR_TRY_VOID(
        query("select set_config('statement_timeout', '0', true), "
              "set_config('lock_timeout', '0', true), "
              "set_config('idle_in_transaction_session_timeout', '0', true), "
              "set_config('search_path', 'pg_catalog, pg_temp', true), "
              "set_config('check_function_bodies', 'off', true), "
              "set_config('client_min_messages', 'warning', true)"));
    if (locking == Locking::exclusive) MR_TRY_VOID(query(fmt::format("select {}", kLock)));
    return work();
  };
  auto done = body();
  if (done) done = connection_.commit(MR_POINT("migrate_commit"));
  if (!done && connection_.healthy() && connection_.in_transaction()) {
    static_cast<void>(connection_.rollback(
        MR_POINT("migrate_rollback")));  // The first error is the one that matters.
  }
  return done;
}

Result<void> Migrator::limit_lock_waits(const MigrateOptions& options) {
  MR_TRY_VOID(query("select set_config('lock_timeout', $1, true)",
                    pg::params(fmt::format("{}ms", options.lock_timeout.count()))));
  return {};
}

// Tables in use: better to fail after two seconds and let waiting traffic through than to queue
// everybody behind our lock request.
Result<void> Migrator::with_lock_retries(const MigrateOptions& options, const std::string& step,
                                         const std::function<Result<void>()>& work) {
  for (int attempt = 1;; ++attempt) {
    auto done = work();
    if (done || !is_busy(done.error())) return done;
    if (attempt >= options.lock_attempts_max) {
      auto error = std::move(done).error();
      error.message = fmt::format("gave up after {} attempts: {}", attempt, error.message);
      return fail(std::move(error));
    }
    log_.warn("migrate_lock_busy",
              {{"step", step}, {"attempt", attempt}, {"error", done.error().message}});
    tell(options, fmt::format("{}: waiting for a lock, attempt {}", step, attempt + 1));
    // The pause between attempts; it ends early, with an error, if the connection is lost.
    MR_TRY_VOID(
        connection_.wait_notification(std::min(attempt * milliseconds(50), milliseconds(1000))));
  }
}

Result<Migrator::Server> Migrator::inspect() {
  MR_TRY(const auto roles, query("select r.rolname from pg_roles r"));
  roles_.clear();
  for (const auto row : roles) roles_.emplace(row.text(0));

  // PostgreSQL 16 tells apart membership from the right to act as a role.
  const std::string_view right = connection_.server_version() >= 160000 ? "SET" : "MEMBER";
  MR_TRY(const auto answer,
         query(fmt::format(
             "select current_user as me, r.rolsuper or r.rolcreaterole as may_create_roles, "
             "has_database_privilege(current_database(), 'create') as may_create_schemas, "
             "n.nspowner::regrole::text as schema_owner, "
             "coalesce(pg_has_role(n.nspowner, '{0}'), false) as is_schema_owner, "
             "coalesce((select pg_has_role(o.oid, '{0}') from pg_roles o "
             "where o.rolname = 'millrace_owner'), false) as may_become_owner, "
             "exists (select from pg_class c where c.relnamespace = n.oid "
             "and c.relname = 'schema_migration') as has_tables, "
             "exists (select from pg_class c where c.relnamespace = n.oid) or "
             "exists (select from pg_proc p where p.pronamespace = n.oid) as has_content "
             "from pg_roles r left join pg_namespace n on n.nspname = 'millrace' "
             "where r.rolname = current_user",
             right)));
  const auto row = answer[0];
  Server server{.me = std::string(row.text("me")),
                .may_create_roles = row.boolean("may_create_roles"),
                .may_create_schemas = row.boolean("may_create_schemas"),
                .schema_owner = row.opt_text("schema_owner"),
                .has_tables = row.boolean("has_tables"),
                .foreign = row.boolean("has_content") && !row.boolean("has_tables")};
  if (server.schema_owner) {
    server.owner = *server.schema_owner;
    server.is_owner = row.boolean("is_schema_owner");
  } else {
    server.owner = row.boolean("may_become_owner") ? "millrace_owner" : server.me;
    server.is_owner = true;
  }
  return server;
}

Result<void> Migrator::become_owner(const Server& server) {
  if (!server.is_owner) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("schema millrace belongs to role {}; role {} may not change it",
                            server.owner, server.me));
  }
  if (server.owner == server.me) return {};
  // regrole prints a name that needs quotes with its quotes.
  MR_TRY_VOID(query(fmt::format("set local role {}", server.owner)));
  return {};
}

Result<Migrator::Applied> Migrator::read_applied(const Server& server) {
  Applied applied;
  if (!server.has_tables) return applied;
  if (server.is_owner) MR_TRY_VOID(become_owner(server));
  MR_TRY(const auto migrations,
         query("select m.version, m.name, m.checksum, m.applied_at::text, m.binary_version "
               "from millrace.schema_migration m order by m.version"));
  for (const auto row : migrations) {
    applied.migrations.emplace(
        row.i32("version"),
        Applied::Row{.name = std::string(row.text("name")),
                     .checksum = std::string(row.text("checksum")),
                     .applied_at = std::string(row.text("applied_at")),
                     .binary_version = std::string(row.text("binary_version"))});
  }
  MR_TRY(const auto files,
         query("select f.path, f.checksum, f.version from millrace.schema_function f"));
  for (const auto row : files) {
    applied.files.emplace(std::string(row.text("path")),
                          Applied::File{.checksum = std::string(row.text("checksum")),
                                        .version = row.i32("version")});
  }
  MR_TRY(const auto roles,
         query("select exists (select from pg_roles r where r.rolname in ('authenticated', "
               "'service_role', 'millrace_api', 'millrace_worker', 'millrace_keeper', "
               "'millrace_reader') and not has_schema_privilege(r.oid, 'millrace', 'usage'))"));
  applied.new_roles = !set_->roles.empty() && roles[0].boolean(0);
  return applied;
}

// Whether we may go on from what the database says.
Result<void> Migrator::check_applied(const Applied& applied) const {
  int expected = 1;
  for (const auto& [version, row] : applied.migrations) {
    if (version > set_->version()) {
      return fail(ErrorKind::conflict,
                  fmt::format("the database is newer than this program: it has migration {} "
                              "(applied by millrace {}), this is millrace {} and knows {:04}; use "
                              "the newer program",
                              row.name, row.binary_version, kVersion, set_->version()));
    }
    const auto& migration = set_->migrations[static_cast<std::size_t>(version - 1)];
    if (row.checksum != migration.file.checksum) {
      return fail(
          ErrorKind::conflict,
          fmt::format("{} was changed after it was applied on {} (checksum {:.12}, now "
                      "{:.12}); migrations are frozen, write a new one",
                      migration.file.path, row.applied_at, row.checksum, migration.file.checksum));
    }
    if (version != expected) {
      return fail(
          ErrorKind::conflict,
          fmt::format("the database has migration {} but not {:04} before it", row.name, expected));
    }
    ++expected;
  }
  return {};
}

Migrator::Pending Migrator::find_pending(const Applied& applied,
                                         const MigrateOptions& options) const {
  Pending pending;
  for (const auto& migration : set_->migrations) {
    if (!applied.migrations.contains(migration.version)) pending.migrations.push_back(&migration);
  }
  // A migration may drop what a file defines, so all files follow each migration.
  const auto stale = [&](const ScriptFile& file) {
    const auto found = applied.files.find(file.path);
    return found == applied.files.end() || found->second.checksum != file.checksum ||
           found->second.version != set_->version();
  };
  for (const auto* kind : {&set_->functions, &set_->views}) {
    for (const auto& file : *kind) {
      if (stale(file)) pending.objects.push_back(&file);
    }
  }
  // Test versions replace the real ones, and rights are given on what exists: both come again
  // whenever anything before them does.
  if (options.install_testing &&
      (!pending.objects.empty() || std::ranges::any_of(set_->testing, stale))) {
    for (const auto& file : set_->testing) pending.testing.push_back(&file);
  }
  if (!pending.objects.empty() || !pending.testing.empty() || applied.new_roles ||
      std::ranges::any_of(set_->policies, stale)) {
    for (const auto& file : set_->policies) pending.policies.push_back(&file);
  }
  return pending;
}

// Roles, schema, and the two tables in which we keep what was applied.
Result<void> Migrator::prepare(const MigrateOptions& options) {
  return in_transaction(Locking::exclusive, [&]() -> Result<void> {
    const auto flag = [](bool on) { return on ? "on" : "off"; };
    MR_TRY_VOID(
        query("select set_config('millrace_migrator.client_roles', $1, true), "
              "set_config('millrace_migrator.engine_login', $2, true)",
              pg::params(flag(options.create_client_roles), flag(options.engine_login))));
    for (const auto& file : set_->roles) MR_TRY_VOID(run(file));
    MR_TRY(const auto server, inspect());
    if (server.has_tables) return {};
    return create_schema(server);
  });
}

Result<void> Migrator::create_schema(const Server& server) {
  if (server.foreign) {
    return fail(ErrorKind::conflict,
                "this database has a schema millrace that the migrator did not make; nothing was "
                "changed");
  }
  if (!server.schema_owner) {
    if (!server.may_create_schemas) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("role {} may not create a schema in this database (grant create on "
                              "database ... to {})",
                              server.me, server.me));
    }
    // As ourselves: the owner needs no right on the database.
    MR_TRY_VOID(query(
        fmt::format("create schema millrace authorization {}", quote_identifier(server.owner))));
  }
  MR_TRY_VOID(become_owner(server));
  MR_TRY_VOID(
      query("create table millrace.schema_migration ("
            "version integer not null, name text not null, checksum text not null, "
            "applied_at timestamptz not null default clock_timestamp(), "
            "duration_ms bigint not null, applied_by text not null, "
            "binary_version text not null, "
            "constraint schema_migration_pkey primary key (version))"));
  MR_TRY_VOID(
      query("create table millrace.schema_function ("
            "path text not null, checksum text not null, version integer not null, "
            "applied_at timestamptz not null default clock_timestamp(), "
            "constraint schema_function_pkey primary key (path))"));
  return {};
}

Result<void> Migrator::apply_migration(const Migration& migration, const MigrateOptions& options) {
  const auto started = clock_.now();
  bool ours = false;
  MR_TRY_VOID(in_transaction(Locking::exclusive, [&]() -> Result<void> {
    MR_TRY(const auto server, inspect());
    MR_TRY(const auto applied, read_applied(server));
    MR_TRY_VOID(check_applied(applied));
    if (applied.migrations.contains(migration.version)) return {};  // Another process was faster.
    MR_TRY_VOID(become_owner(server));
    MR_TRY_VOID(limit_lock_waits(options));
    MR_TRY_VOID(run(migration.file));
    const auto took = duration_cast<milliseconds>(clock_.now() - started);
    MR_TRY_VOID(
        query("insert into millrace.schema_migration "
              "(version, name, checksum, duration_ms, applied_by, binary_version) "
              "values ($1, $2, $3, $4, session_user, $5)",
              pg::params(migration.version, migration.name, migration.file.checksum, took.count(),
                         kVersion)));
    ours = true;
    return {};
  }));
  if (ours) report_.migrations.push_back(migration.name);
  return {};
}

// All files that changed, in one transaction: nobody sees a mixture of old and new functions.
Result<void> Migrator::apply_files(const MigrateOptions& options) {
  const auto done_before = done_;
  std::size_t count = 0;
  auto done = in_transaction(Locking::exclusive, [&]() -> Result<void> {
    count = 0;
    done_ = done_before;
    MR_TRY(const auto server, inspect());
    MR_TRY(const auto applied, read_applied(server));
    MR_TRY_VOID(check_applied(applied));
    const auto pending = find_pending(applied, options);
    if (!pending.files()) return {};
    MR_TRY_VOID(become_owner(server));
    MR_TRY_VOID(limit_lock_waits(options));
    tell(options, "functions and views");
    MR_TRY_VOID(apply_in_any_order(server, pending.objects));
    done_ += pending.objects.size();
    for (const auto* kind : {&pending.testing, &pending.policies}) {
      for (const auto* file : *kind) {
        tell(options, file->path);
        MR_TRY_VOID(run(*file));
        ++done_;
      }
      MR_TRY_VOID(record_files(*kind, set_->version()));
    }
    MR_TRY_VOID(record_files(pending.objects, set_->version()));
    count = pending.objects.size() + pending.testing.size() + pending.policies.size();

    std::vector<std::string> known;
    for (const auto* kind : {&set_->functions, &set_->views, &set_->testing, &set_->policies}) {
      for (const auto& file : *kind) known.push_back(file.path);
    }
    pg::Params params;
    params.add_array(known);
    MR_TRY_VOID(query("delete from millrace.schema_function f where f.path <> all ($1::text[])",
                      std::move(params)));
    return {};
  });
  if (done) report_.files += count;
  return done;
}

// Functions and views may need each other in any order. A file that misses something waits for the
// next round; when a round brings nothing new, its first error is the answer.
Result<void> Migrator::apply_in_any_order(const Server& server,
                                          std::vector<const ScriptFile*> files) {
  std::set<std::string> dropped_views;
  while (!files.empty()) {
    std::vector<const ScriptFile*> waiting;
    std::optional<Error> first_error;
    bool start_over = false;
    for (const auto* file : files) {
      MR_TRY_VOID(query("savepoint one_file"));
      auto done = run(*file);
      if (done) {
        MR_TRY_VOID(query("release savepoint one_file"));
        continue;
      }
      if (!connection_.healthy()) return done;
      MR_TRY_VOID(query("rollback to savepoint one_file"));
      // invalid_table_definition: a view's columns may only be added to. All views are made anew.
      if (done.error().sqlstate == "42P16" && dropped_views.empty()) {
        for (const auto& view : set_->views) {
          for (const auto& statement : view.statements) {
            if (auto name = created_view(statement.text)) dropped_views.insert(*std::move(name));
          }
        }
        MR_TRY_VOID(drop_views(server, dropped_views));
        start_over = true;
        break;
      }
      if (!needs_another_file(done.error())) return done;
      if (!first_error) first_error = done.error();
      waiting.push_back(file);
    }
    if (start_over) {  // Functions that used the views' row types went with them.
      files.clear();
      for (const auto* kind : {&set_->functions, &set_->views}) {
        for (const auto& file : *kind) files.push_back(&file);
      }
      continue;
    }
    if (waiting.size() == files.size()) return fail(*std::move(first_error));
    files = std::move(waiting);
  }
  return {};
}

// Not with CASCADE: a view that somebody built on ours is not ours to drop, and PostgreSQL names
// it.
Result<void> Migrator::drop_views(const Server& server, const std::set<std::string>& names) {
  const std::vector<std::string> list(names.begin(), names.end());
  // Wrappers belong to the role that exposed them. They come back at the end of this run.
  MR_TRY_VOID(query("set local role none"));
  MR_TRY_VOID(drop_view_wrappers(connection_, list));
  MR_TRY_VOID(become_owner(server));
  pg::Params params;
  params.add_array(list);
  MR_TRY(const auto functions,
         query("select distinct p.oid::regprocedure::text as signature "
               "from unnest($1::text[]) n(name) join pg_class c on c.oid = to_regclass(n.name) "
               "join pg_type t on t.oid = c.reltype "
               "join pg_proc p on p.pronamespace = 'millrace'::regnamespace and (p.prorettype in "
               "(t.oid, t.typarray) or t.oid = any (p.proargtypes) "
               "or t.typarray = any (p.proargtypes))",
               params));
  for (const auto row : functions) {
    MR_TRY_VOID(query(fmt::format("drop function {}", row.text("signature"))));
  }
  MR_TRY_VOID(query(fmt::format("drop view if exists {}", fmt::join(list, ", "))));
  return {};
}

Result<void> Migrator::record_files(const std::vector<const ScriptFile*>& files, int version) {
  std::vector<std::string> paths;
  std::vector<std::string> checksums;
  for (const auto* file : files) {
    paths.push_back(file->path);
    checksums.push_back(file->checksum);
  }
  pg::Params params;
  params.add_array(paths).add_array(checksums).add(version);
  MR_TRY_VOID(
      query("insert into millrace.schema_function (path, checksum, version) "
            "select n.path, n.checksum, $3 from unnest($1::text[], $2::text[]) "
            "n(path, checksum) on conflict (path) do update set "
            "checksum = excluded.checksum, version = excluded.version, "
            "applied_at = clock_timestamp()",
            std::move(params)));
  return {};
}

// The originals are read as their owner; the wrappers belong to the connected role, which has
// rights in the schema they go to.
Result<void> Migrator::expose(const MigrateOptions& options) {
  std::size_t changed = 0;
  auto done = in_transaction(Locking::exclusive, [&]() -> Result<void> {
    changed = 0;
    MR_TRY(const auto server, inspect());
    MR_TRY_VOID(limit_lock_waits(options));
    MR_TRY_VOID(become_owner(server));
    MR_TRY(const auto exposed, read_exposed(connection_));
    if (!exposed) {
      if (!options.expose_schema) return {};
      return fail(ErrorKind::not_found,
                  "there is nothing to expose: millrace.exposed_names() does not exist");
    }
    // A role that does not inherit its owner's rights must still be able to name what it wraps.
    MR_TRY(const auto usage, query("select has_schema_privilege($1, 'millrace', 'usage') as has",
                                   pg::params(server.me)));
    if (!usage[0].boolean("has")) {
      MR_TRY_VOID(
          query(fmt::format("grant usage on schema millrace to {}", quote_identifier(server.me))));
    }
    MR_TRY_VOID(query("set local role none"));
    MR_TRY(changed, update_wrappers(connection_, *exposed, options.expose_schema));
    return {};
  });
  if (done) report_.wrappers += changed;
  return done;
}

Result<void> Migrator::run(const ScriptFile& file) {
  for (const auto& statement : file.statements) {
    std::vector<std::string> missing;
    const auto text = without_missing_roles(
        statement.text, [&](std::string_view role) { return roles_.contains(std::string(role)); },
        missing);
    for (const auto& role : missing) {
      report_.notes.push_back(
          fmt::format("role {} does not exist: its grants were left out", role));
    }
    if (!text) continue;
    auto done = query(*text);
    if (!done) {
      auto error = std::move(done).error();
      error.message = fmt::format("sql/{}:{}: {}", file.path, statement.line, error.message);
      return fail(std::move(error));
    }
  }
  return {};
}

Result<pg::ResultSet> Migrator::query(std::string sql, pg::Params params) {
  return connection_.query(std::move(sql), std::move(params), {kPatience, MR_POINT("migrate")});
}

void Migrator::note_missing_roles(const Server& server, const MigrateOptions& options) {
  if (set_->roles.empty()) return;
  if (server.owner != "millrace_owner") {
    report_.notes.push_back(
        fmt::format("everything is owned by role {}, not by millrace_owner", server.owner));
  }
  const auto note = [&](std::string_view role) {
    if (roles_.contains(std::string(role))) return;
    report_.notes.push_back(
        fmt::format("role {} does not exist, and role {} may not create it", role, server.me));
  };
  std::ranges::for_each(kEngineRoles, note);
  if (options.create_client_roles) std::ranges::for_each(kClientRoles, note);
}

void Migrator::tell(const MigrateOptions& options, const std::string& step) {
  if (options.progress) options.progress({.step = step, .done = done_, .total = total_});
}

}  // namespace millrace::store
