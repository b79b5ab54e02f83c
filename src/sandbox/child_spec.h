// ChildSpec and ChildResult: what to run and how it ended, as plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::sandbox {

struct ChildSpec {
  // argv[0] with a slash is a path (a relative one is taken from cwd); without, it is looked up in
  // env's PATH, or in /usr/local/bin:/usr/bin:/bin when env has none.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // The whole environment; nothing is inherited.
  std::string cwd;                         // Empty: the parent's.
  std::string stdin_data;
  bool own_session = false;  // Else it leads a process group in ours.

  std::chrono::milliseconds timeout{0};        // Required, above zero.
  std::chrono::milliseconds kill_grace{2000};  // From SIGTERM to SIGKILL.

  std::size_t stdout_max_bytes = 256 * 1024;
  std::size_t stderr_max_bytes = 64 * 1024;
  std::size_t stderr_line_max_bytes = 4 * 1024;
  std::size_t control_max_bytes = 256 * 1024;
  std::size_t control_line_max_bytes = 16 * 1024;

  // A limit above the parent's own hard limit becomes that hard limit.
  struct Limits {
    std::optional<std::uint64_t> memory_bytes;  // Address space.
    std::optional<std::uint64_t> cpu_seconds;   // SIGXCPU, and SIGKILL five seconds later.
    std::optional<std::uint64_t> file_bytes;    // Largest file it may write; SIGXFSZ.
    std::optional<std::uint64_t> open_files;
    std::optional<std::uint64_t> processes;  // Counted per user; the kernel exempts root.
    bool core = false;
  } limits;
};

struct ChildResult {
  std::optional<int> exit_code;  // One of exit_code and signal is set, unless it never started.
  std::optional<int> signal;
  bool timed_out = false;
  bool cancelled = false;         // With neither exit_code nor signal: cancelled before the start.
  bool output_overflow = false;   // Wrote more than stdout_max_bytes and was stopped for it.
  bool stderr_truncated = false;  // Lines beyond stderr_max_bytes were dropped.
  bool control_truncated =
      false;                // Control lines too long or beyond control_max_bytes were dropped.
  std::string stdout_text;  // At most stdout_max_bytes, any bytes.
};

}  // namespace millrace::sandbox
