#include "support/database.h"

#include "base/random.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace millrace::test {

TestDatabase::TestDatabase() : TestDatabase(Server::get().template_name()) {}

TestDatabase TestDatabase::empty() { return TestDatabase("template0"); }

TestDatabase::TestDatabase(std::string_view template_name)
    : name_(fmt::format("t_{:016x}", SystemRandom().next())) {
  auto admin = must(pg::SyncConnection::connect(Server::get().url()));
  must(admin.query(fmt::format("create database {} template {}", name_, template_name)));
}

TestDatabase::TestDatabase(TestDatabase&& other) noexcept : name_(std::exchange(other.name_, {})) {}

TestDatabase::~TestDatabase() {
  if (name_.empty()) return;
  auto admin = pg::SyncConnection::connect(Server::get().url());
  if (!admin) return;  // A test may have stopped the server; it is thrown away anyhow.
  const auto dropped = admin->query(fmt::format("drop database if exists {} with (force)", name_));
  if (!dropped) std::fprintf(stderr, "%s\n", dropped.error().describe().c_str());
}

std::string TestDatabase::url(std::string_view user) const {
  const char* pooler = std::getenv("MILLRACE_TEST_POOLER");
  if (pooler == nullptr) return Server::get().url(name_, user);
  return fmt::format("postgresql://{}@/{}?host={}&port=6543", user, name_, pooler);
}

pg::SyncConnection TestDatabase::connect(std::string_view user) const {
  return must(pg::SyncConnection::connect(Server::get().url(name_, user)));
}

}  // namespace millrace::test
