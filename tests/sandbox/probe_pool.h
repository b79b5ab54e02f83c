// ProbePool: a TaskPool of jail_probe, and one task after the other on this thread.
#pragma once

#include "base/run.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::test {

using sandbox::PoolSpec;
using sandbox::TaskLimits;
using sandbox::TaskPool;
using sandbox::TaskResult;
using sandbox::TaskSpec;
using sandbox::UniqueFd;
using End = TaskResult::End;

// Deadlines only keep a broken test from hanging.
inline constexpr auto kLong = std::chrono::seconds(60);

inline PoolSpec probe_spec(std::vector<std::string> args = {}) {
  return {.program = MILLRACE_JAIL_PROBE,
          .args = std::move(args),
          .env = {{"OMP_THREAD_LIMIT", "1"}, {"LANG", "C.UTF-8"}},
          .warm_up_timeout = kLong};
}

inline TaskLimits small_limits() {
  return {.memory_bytes = 64ULL << 20U,
          .cpu = std::chrono::seconds(20),
          .wall = kLong,
          .result_max_bytes = 1ULL << 20U,
          .output_max_bytes = 4ULL << 20U};
}

// What a task left behind in the test.
struct Seen {
  pid_t child = -1;
  std::string output = {};
  std::vector<int> progress = {};
};

inline TaskSpec probe_task(std::string request, TaskLimits limits, Seen& seen) {
  return {.request = std::move(request),
          .limits = limits,
          .on_output = [&seen](std::span<const std::byte> bytes) -> Task<void> {
            seen.output.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            co_return ok();
          },
          .on_progress =
              [&seen](int done, int) {
                if (seen.child < 0) {
                  seen.child = done;  // The first word of every task of the probe is its pid.
                } else {
                  seen.progress.push_back(done);
                }
              }};
}

class ProbePool {
 public:
  explicit ProbePool(PoolSpec spec = probe_spec()) {
    auto started = TaskPool::start(io_.get_executor(), std::move(spec));
    EXPECT_TRUE(started.has_value()) << started.error().message;
    if (started.has_value()) pool_ = *std::move(started);
  }
  ~ProbePool() {
    if (pool_) run_blocking(io_, pool_->stop());
  }

  boost::asio::io_context& io() { return io_; }
  TaskPool& pool() { return *pool_; }
  const Seen& seen() const { return seen_; }

  Result<TaskResult> run(std::string request, TaskLimits limits = small_limits(),
                         std::vector<UniqueFd> files = {}, CancelToken cancel = {}) {
    seen_ = {};
    auto spec = probe_task(std::move(request), limits, seen_);
    spec.files = std::move(files);
    return run_blocking(io_, pool_->run(std::move(spec), std::move(cancel)));
  }

  TaskResult result(std::string request, TaskLimits limits = small_limits(),
                    std::vector<UniqueFd> files = {}) {
    auto answer = run(std::move(request), limits, std::move(files));
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer.has_value() ? *std::move(answer) : TaskResult{};
  }

 private:
  boost::asio::io_context io_{1};
  std::unique_ptr<TaskPool> pool_;
  Seen seen_;
};

inline std::string describe(const TaskResult& result) {
  return std::string(sandbox::to_string(result.end)) + " code=" + result.code +
         " message=" + result.message + " result=" + result.result.substr(0, 200);
}

// Reaped, so that not even a zombie is left.
inline bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

// Opened while the process lives; tells later whether it has ended, zombie or not.
class Watch {
 public:
  explicit Watch(pid_t pid) : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  bool ended() const {
    if (!pidfd_.valid()) return true;
    pollfd wait_for{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&wait_for, 1, 60'000) == 1;
  }

 private:
  UniqueFd pidfd_;
};

// A folder that everybody may read and write: what is denied is denied by the jail.
class OpenFolder {
 public:
  OpenFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace_jail_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    ::chmod(path_.c_str(), 0777);
  }
  ~OpenFolder() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    const auto file = path_ / name;
    std::ofstream(file) << text;
    ::chmod(file.c_str(), 0666);
    return file.string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline UniqueFd open_file(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace millrace::test
