// What a PostgreSQL server leaves to be read: its pid file, its log, its processes, its identity.
#pragma once

#include "base/result.h"
#include "cluster/os_user.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace millrace::cluster {

struct PostmasterPid {
  pid_t pid = 0;
  std::filesystem::path socket_directory;
  std::string status;  // "starting", "ready", "stopping", "standby"; empty very early.

  bool ready() const { return status == "ready"; }
};

// Nothing when the text is cut short: PostgreSQL writes the file in place.
std::optional<PostmasterPid> parse_postmaster_pid(std::string_view text);
std::optional<PostmasterPid> read_postmaster_pid(const std::filesystem::path& pgdata);

// The line of a log or of initdb's output that says what went wrong: the last that PostgreSQL
// marked as an error, without its time stamp; else the last line.
std::string telling_line(std::string_view log);

// The server processes that work in `pgdata`: postmaster and backends, orphaned ones too. Needs the
// rights of the user they run as, or root's.
std::vector<pid_t> processes_in(const std::filesystem::path& pgdata);
bool works_in(pid_t pid, const std::filesystem::path& pgdata);

// The cluster's identity, from global/pg_control.
Result<std::string> read_system_identifier(const std::filesystem::path& pgdata);

// When a process was started, in the kernel's ticks since boot: with its number an identity that is
// not reused. Nothing when there is no such process.
std::optional<std::uint64_t> process_start_ticks(pid_t pid);

}  // namespace millrace::cluster
