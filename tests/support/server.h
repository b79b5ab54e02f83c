// Server: one throw-away PostgreSQL for a whole test run, on a unix socket only, trusting local
// callers.
//
// ctest starts and stops it through the fixture `postgres` (program millrace_testpg). A test
// program run by hand starts it itself and the last one to leave stops it. Users hold a shared
// lock, so a killed run leaves nothing that the next one does not find and clean up. Nothing here
// is durable: fsync is off.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::test {

class Server {
 public:
  // Starts it unless it runs. It keeps running at least until this object goes away.
  static Result<Server> use();

  Server(Server&&) noexcept;
  Server& operator=(Server&&) = delete;
  ~Server();

  // The server of this test program: started at the first call, left when main() ends.
  static Server& get();
  static void leave();  // For main().

  // For the fixture: between start() and stop() by the same parent process the server stays up.
  static Result<void> start_for_parent();
  static Result<void> stop_for_parent();

  // "user" connects without a password as any role that exists.
  std::string url(std::string_view database = "postgres", std::string_view user = "postgres") const;
  std::filesystem::path socket_dir() const;
  std::filesystem::path log_file() const;
  // The database that tests are cloned from.
  const std::string& template_name() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::test
