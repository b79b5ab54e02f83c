// TestDatabase: a database of its own for one test, cloned in some ten milliseconds, dropped at the
// end.
#pragma once

#include "pg/sync_connection.h"
#include "support/must.h"
#include "support/server.h"

#include <string>
#include <string_view>

namespace millrace::test {

class TestDatabase {
 public:
  TestDatabase();               // With Millrace's schema.
  static TestDatabase empty();  // As PostgreSQL makes it.
  ~TestDatabase();
  TestDatabase(TestDatabase&& other) noexcept;
  TestDatabase& operator=(TestDatabase&&) = delete;

  const std::string& name() const { return name_; }
  // As the superuser, or as any role: url("millrace_worker"). The role must be allowed to log in.
  std::string url(std::string_view user = "postgres") const;
  pg::SyncConnection connect(std::string_view user = "postgres") const;

 private:
  explicit TestDatabase(std::string_view template_name);
  std::string name_;  // Empty when moved from.
};

}  // namespace millrace::test
