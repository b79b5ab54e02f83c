// PrivateCluster: a PostgreSQL server of our own in a data directory, made when there is none.
//
// Flow: open_or_create() takes the directory and, the first time, runs initdb; start() brings the
// server up and returns when the first query was answered; from then on a supervisor thread watches
// it and starts it again when it dies; stop() ends it. url() is what everybody else connects with.
//
// Who dies when: the postmaster is started by the supervisor thread and gets a fast shutdown from
// the kernel when that thread ends, so no server is left behind by kill -9 of our process. The next
// owner waits for such a shutdown to end. If a server of this directory still runs (that request
// can be lost, or somebody started it by hand) the next owner adopts it. If the postmaster is
// killed, its orphaned backends are ended before a new one is started, because two generations must
// never work on the same files.
//
// Threading: start() and stop() from one thread at a time, the rest from any. `progress` is called
// in open_or_create() by its caller and later by the supervisor. Lifetime: clock and log outlive
// it.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace millrace::cluster {

enum class ClusterStage {
  creating,    // initdb
  starting,    // The server is being started, or recovers after a crash.
  adopted,     // A server of this directory was running already.
  ready,       // Answers queries.
  restarting,  // The server died.
  stopping,
  stopped,
};

std::string_view to_string(ClusterStage stage);

struct ClusterProgress {
  ClusterStage stage = ClusterStage::starting;
  std::string message;                // One line for people.
  std::chrono::milliseconds elapsed;  // Since open_or_create(), or since the server died.
};

struct ClusterOptions {
  std::filesystem::path data_dir = ".millrace";
  std::vector<std::string> app_logins;      // Roles of the application that may connect as well.
  std::optional<uid_t> sudo_uid;            // Root only: the person behind sudo (SUDO_UID).
  std::filesystem::path runtime_directory;  // For the socket if data_dir's path is too long.
  std::vector<std::filesystem::path> bin_dirs;  // Look for PostgreSQL only here, when not empty.
  std::chrono::milliseconds start_timeout{300'000};  // Crash recovery takes its time.
  std::chrono::milliseconds stop_timeout{30'000};    // Then the shutdown is immediate.
  std::function<void(const ClusterProgress&)> progress;
};

class PrivateCluster {
 public:
  struct Started {
    bool created = false;  // There was no cluster before.
    bool adopted = false;
    std::chrono::milliseconds elapsed{};  // From open_or_create() to the first query's answer.
  };

  static Result<PrivateCluster> open_or_create(ClusterOptions options, const Clock& clock,
                                               const Logger& log);

  PrivateCluster(PrivateCluster&&) noexcept;
  PrivateCluster& operator=(PrivateCluster&&) noexcept;
  ~PrivateCluster();  // As stop().

  Result<Started> start();
  // Fast shutdown, immediate after stop_timeout; gives the directory up. Safe twice and before
  // start(). There is no start after it.
  Result<void> stop();

  // Valid after start().
  std::string url(std::string_view user = "millrace") const;
  std::filesystem::path socket_directory() const;
  pid_t postmaster_pid() const;  // Changes when the server is restarted; 0 while there is none.

  std::filesystem::path data_dir() const;
  std::filesystem::path log_path() const;
  std::string version() const;  // Of PostgreSQL: "15.6".

 private:
  class Impl;
  explicit PrivateCluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::cluster
