// Server: one server process of the private cluster: create the files, start, adopt, shut down.
//
// The blocking steps that PrivateCluster's supervisor is made of. A start can be given up through
// `give_up`, a descriptor that becomes readable. All on one thread: the postmaster receives its
// death signal when the thread that started it ends.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "cluster/binaries.h"
#include "cluster/data_dir.h"
#include "cluster/process.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::cluster {

class Server {
 public:
  using Report = std::function<void(std::string message)>;

  struct Options {
    Binaries binaries;
    std::vector<std::string> app_logins;
  };
  Server(DataDir& data, Options options, const Clock& clock, const Logger& log);

  // initdb into pg.new, which becomes pg when it is complete. Clears away what an earlier attempt
  // left. Does nothing if pg exists. True if it made a cluster.
  Result<bool> create_if_missing(const Report& report);

  struct Running {
    Process postmaster;
    std::filesystem::path socket_directory;
    bool adopted = false;
  };
  // Adopts the server that runs in the directory, or makes sure that none does and starts one.
  // Returns when it has answered a query and has proved to be the cluster of this directory.
  Result<Running> start_or_adopt(std::chrono::milliseconds timeout, int give_up,
                                 const Report& report);

  // Fast, then immediate, then kill.
  void shut_down(Process& postmaster, std::chrono::milliseconds patience);

  // Keeps the log from growing for ever; called now and then.
  void trim_log();

 private:
  Result<void> run_initdb();
  Result<void> configure(const std::filesystem::path& socket_directory);
  Result<std::optional<Running>> adopt(std::chrono::milliseconds timeout, int give_up,
                                       const Report& report);
  Result<Running> launch(std::chrono::milliseconds timeout, int give_up, const Report& report);
  Result<void> wait_until_ready(Running& running, std::size_t log_from,
                                std::chrono::milliseconds timeout, int give_up,
                                const Report& report);
  Result<void> first_query(const std::filesystem::path& socket_directory);
  void end_orphans();
  void remove_stale_files(const std::filesystem::path& socket_directory);
  Error start_error(std::string_view what, std::size_t log_from) const;
  std::size_t log_size() const;

  DataDir& data_;
  Options options_;
  const Clock& clock_;
  const Logger& log_;
};

// Waits up to `timeout` for `give_up` to become readable; true if it did.
bool wait_for_give_up(int give_up, std::chrono::milliseconds timeout);

}  // namespace millrace::cluster
