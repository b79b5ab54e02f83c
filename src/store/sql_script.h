// SQL scripts as the migrator sees them: single statements with their line, so that an error names
// the place, and grants without the roles a server does not have.
//
// Reads PostgreSQL's lexical rules (quotes, dollar quotes, nested comments, BEGIN ATOMIC bodies)
// and nothing of its grammar beyond that. No I/O.
#pragma once

#include "base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

struct SqlStatement {
  std::string text;  // Without the final semicolon.
  int line = 0;      // Of its first word, counted from 1.
};

// Statements end at semicolons. Refuses a quote or comment that does not end, psql's backslash
// commands, and begin, commit and the like: the migrator owns the transaction.
Result<std::vector<SqlStatement>> split_statements(std::string_view script);

// The statement without those recipients of GRANT, REVOKE, ALTER DEFAULT PRIVILEGES or CREATE
// POLICY that `exists` denies, which are appended to `missing`. Nothing if no recipient is left;
// other statements are returned as they are.
std::optional<std::string> without_missing_roles(
    const std::string& statement, const std::function<bool(std::string_view role)>& exists,
    std::vector<std::string>& missing);

// The name after CREATE [OR REPLACE] VIEW, as written; nothing for other statements.
std::optional<std::string> created_view(const std::string& statement);

// `text` as an SQL identifier, always quoted.
std::string quote_identifier(std::string_view text);

}  // namespace millrace::store
