// Session: one connection in the hands of a test that speaks SQL, in the role of a client.
//
// A role is taken as PostgREST takes it, by SET ROLE on a login that may; millrace.caller() then
// names it. value() and rows() fail the test on an SQL error, refused() on success.
#pragma once

#include "pg/sync_connection.h"
#include "support/database.h"
#include "support/must.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::test {

class Session {
 public:
  explicit Session(const TestDatabase& database, std::string_view role = {},
                   std::string_view login = "postgres")
      : connection_(database.connect(login)) {
    if (!role.empty()) must(connection_.query(fmt::format("set role {}", role)));
  }

  pg::ResultSet rows(std::string sql, pg::Params params = {}) {
    auto result = connection_.query(sql, std::move(params));
    if (!result) throw std::runtime_error(fmt::format("{}: {}", sql, result.error().describe()));
    return *std::move(result);
  }
  // The first column of the first row; "(none)" without a row, "(null)" for null.
  std::string value(std::string sql, pg::Params params = {}) {
    const auto result = rows(std::move(sql), std::move(params));
    if (result.empty()) return "(none)";
    return result[0].opt_text(0).value_or("(null)");
  }
  bool yes(std::string sql, pg::Params params = {}) {
    return value(std::move(sql), std::move(params)) == "t";
  }
  std::int64_t number(std::string sql, pg::Params params = {}) {
    return std::stoll(value(std::move(sql), std::move(params)));
  }
  void run(std::string sql, pg::Params params = {}) {
    static_cast<void>(rows(std::move(sql), std::move(params)));
  }
  void script(std::string sql) { must(connection_.script(std::move(sql))); }

  // The error of a statement that must fail.
  Error refused(std::string sql, pg::Params params = {}) {
    auto result = connection_.query(sql, std::move(params));
    if (result) {
      ADD_FAILURE() << "was not refused: " << sql;
      return {};
    }
    return std::move(result).error();
  }

  pg::SyncConnection& connection() { return connection_; }

 private:
  pg::SyncConnection connection_;
};

}  // namespace millrace::test
