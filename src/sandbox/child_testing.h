// What the tests of Child share: real programs, run to their end. They are /bin/sh scripts that
// show one behaviour each; where a test needs to know that a script has come to some point, the
// script says so on fd 3.
#pragma once

#include "base/run.h"
#include "sandbox/child.h"
#include "sandbox/unique_fd.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::sandbox {

inline ChildSpec shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)},
          .env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}},
          .timeout = std::chrono::minutes(5)};
}

struct Outcome {
  Result<ChildResult> result;
  std::vector<std::string> stderr_lines;
  std::vector<std::string> control_lines;
};

// Runs it here and now; `on_control` sees each control line while the program runs.
inline Outcome run(ChildSpec spec, CancelToken cancel = {},
                   std::function<void(std::string_view)> on_control = {}) {
  boost::asio::io_context io(1);
  Outcome outcome;
  outcome.result =
      run_blocking(io, Child::run(
                           io.get_executor(), std::move(spec),
                           [&](std::string_view line) { outcome.stderr_lines.emplace_back(line); },
                           [&](std::string_view line) {
                             outcome.control_lines.emplace_back(line);
                             if (on_control) on_control(line);
                           },
                           std::move(cancel)));
  return outcome;
}

inline ChildResult run_ok(ChildSpec spec) {
  auto outcome = run(std::move(spec));
  if (!outcome.result.has_value()) {
    ADD_FAILURE() << outcome.result.error().message;
    return {};
  }
  return *outcome.result;
}

// Opened while the process lives; tells later whether it has ended, zombie or not.
class Watched {
 public:
  explicit Watched(pid_t pid) : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

  // Waits for the kernel to finish a kill. False only if the process lives on.
  bool ended() const {
    if (!pidfd_.valid()) return true;
    pollfd poll_for{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll_for, 1, 60'000) == 1;
  }

  void kill() const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0); }

 private:
  UniqueFd pidfd_;
};

inline pid_t to_pid(std::string_view text) { return std::stoi(std::string(text)); }

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace_child_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode) const {
    const auto file = path_ / name;
    std::ofstream(file) << text;
    ::chmod(file.c_str(), mode);
    return file.string();
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace millrace::sandbox
