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
  // For what is tested, as the superuser or as any role that may log in: url("millrace_worker").
  // Leads through the pooler whose socket folder is in MILLRACE_TEST_POOLER, if there is one.
  std::string url(std::string_view user = "postgres") const;
  // For the eyes and hands of the test itself: always a session of its own.
  pg::SyncConnection connect(std::string_view user = "postgres") const;

 private:
  explicit TestDatabase(std::string_view template_name);
  std::string name_;  // Empty when moved from.
};

}  // namespace millrace::test
