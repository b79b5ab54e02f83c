// MigrationSet: the SQL files of this program in the order in which they are applied.
//
//   roles.sql                       first, every time
//   migrations/0001_name.sql        each once, in order; frozen once applied
//   functions/**, views/**          again whenever they change
//   testing/**                      the same, only in test databases
//   policies/**                     the same, last
// Other files are not for the migrator. No I/O.
#pragma once

#include "base/result.h"
#include "sql_files.h"
#include "store/sql_script.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

// One file, cut into statements, with the checksum it is remembered by.
struct ScriptFile {
  std::string path;      // "functions/job/claim_jobs.sql"
  std::string checksum;  // SHA-256 of its bytes, hexadecimal.
  std::vector<SqlStatement> statements;
};

struct Migration {
  int version = 0;
  std::string name;    // "0001_policy"
  std::string compat;  // "rolling", "drain" or empty: from the file's header.
  ScriptFile file;
};

struct MigrationSet {
  std::vector<ScriptFile> roles;      // roles.sql or nothing.
  std::vector<Migration> migrations;  // Version n at index n - 1.
  std::vector<ScriptFile> functions;  // Each kind sorted by path.
  std::vector<ScriptFile> views;
  std::vector<ScriptFile> testing;
  std::vector<ScriptFile> policies;

  int version() const { return static_cast<int>(migrations.size()); }
};

// invalid_argument for a misnamed migration, a gap or a double number, or a file that is not a
// script.
Result<MigrationSet> parse_migration_set(std::span<const sql::SqlFile> files);

std::string sha256_hex(std::string_view bytes);

}  // namespace millrace::store
