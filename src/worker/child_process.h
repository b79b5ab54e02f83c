// ChildProcess: a worker process that a supervisor has started.
//
// It leads a process group of its own, so that Ctrl-C in a terminal reaches only the supervisor. On
// descriptor 3 it reports lines to us (SupervisorLink is its end). Threading: one strand. Lifetime:
// the destructor kills a process that still runs and collects it.
#pragma once

#include "base/task.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::worker {

struct ChildEnding {
  std::optional<int> exit_code;  // One of the two is set.
  std::optional<int> signal;

  std::string describe() const;  // "exit code 1", "killed by SIGSEGV".
};

class ChildProcess {
 public:
  static Result<ChildProcess> start(Executor executor, const std::vector<std::string>& argv,
                                    const std::map<std::string, std::string>& env);
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  int pid() const;
  void send_signal(int signal);  // Nothing happens once it has been collected.
  // Hands out the lines it reports until it has ended, then says how. Once.
  awaitable<ChildEnding> wait(std::function<void(std::string_view line)> on_line);

 private:
  struct Impl;
  explicit ChildProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::worker
