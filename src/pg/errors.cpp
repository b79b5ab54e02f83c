#include "pg/errors.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>

namespace millrace::pg {
namespace {

std::string field(const pg_result* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string() : std::string(text);
}

template <std::size_t N>
bool one_of(std::string_view sqlstate, const std::array<std::string_view, N>& codes) {
  return std::ranges::find(codes, sqlstate) != codes.end();
}

}  // namespace

ErrorKind kind_of_sqlstate(std::string_view sqlstate) {
  // Later, or elsewhere, the same request may succeed.
  static constexpr std::array<std::string_view, 13> kUnavailable{
      "25006",  // read_only_sql_transaction: we are on a standby, a failover is under way.
      "25P03",  // idle_in_transaction_session_timeout
      "40001",  // serialization_failure
      "40P01",  // deadlock_detected
      "53000", "53100", "53200", "53300", "53400",  // No disk, memory, connections.
      "55P03",                                      // lock_not_available
      "55006",                                      // object_in_use
      "57014",  // query_canceled, which is also statement_timeout
      "57000",
  };
  static constexpr std::array<std::string_view, 3> kConflict{
      "23505",  // unique_violation
      "23P01",  // exclusion_violation
      "23503",  // foreign_key_violation
  };
  if (sqlstate.size() != 5) return ErrorKind::internal;
  const auto group = sqlstate.substr(0, 2);
  if (group == "08" || sqlstate.starts_with("57P") || one_of(sqlstate, kUnavailable)) {
    return ErrorKind::unavailable;
  }
  if (one_of(sqlstate, kConflict)) return ErrorKind::conflict;
  if (group == "22" || group == "23" || group == "42" || group == "3D" || group == "3F" ||
      group == "28" || group == "0A" || group == "54") {
    return ErrorKind::invalid_argument;
  }
  return ErrorKind::internal;
}

Error error_of_result(const pg_result* result) {
  Error error;
  error.sqlstate = field(result, PG_DIAG_SQLSTATE);
  error.message = field(result, PG_DIAG_MESSAGE_PRIMARY);
  error.detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  error.hint = field(result, PG_DIAG_MESSAGE_HINT);
  error.constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
  if (error.message.empty()) error.message = first_line(PQresultErrorMessage(result));
  if (error.message.empty()) error.message = "PostgreSQL reported an error without a message";
  error.kind = kind_of_sqlstate(error.sqlstate);
  return error;
}

bool ends_session(const pg_result* result) {
  const auto severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity == "FATAL" || severity == "PANIC";
}

std::string first_line(std::string_view message) {
  const auto start = message.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  message.remove_prefix(start);
  message = message.substr(0, message.find('\n'));
  for (const std::string_view severity : {"ERROR:", "FATAL:", "PANIC:"}) {
    if (message.starts_with(severity)) message.remove_prefix(severity.size());
  }
  const auto text = message.find_first_not_of(' ');
  if (text == std::string_view::npos) return {};
  message.remove_prefix(text);
  while (!message.empty() && (message.back() == ' ' || message.back() == '\r'))
    message.remove_suffix(1);
  return std::string(message);
}

}  // namespace millrace::pg
