// serve_tasks: the program's side of a TaskPool: warm up once, then one confined child per task.
//
// Flow: main() of the program fills a TaskServer and returns serve_tasks(server). It prepares the
// jail, runs warm_up, says so on descriptor 3, and from then on forks a child for every task that
// comes through descriptor 3. The child takes the jail, and only then `run` is called, once.
// What `run` returns is the result; an Error of it is a refusal. Then the child is gone.
//
// The parent of the children (the zygote) is single threaded, never reads from a file of a task,
// and exits when the worker does. warm_up must leave no second thread behind: a child would inherit
// locks that nobody opens. Descriptors and memory that warm_up leaves are shared with no child
// but by copy: descriptors are closed, memory is copied on write.
//
// `run` may compute, allocate, read its files and, under read_paths, open files for reading. It has
// no threads, no network, no environment to speak of, and 0, 1 and 2 are /dev/null.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::sandbox {

// TaskChannel: what a task in its child has of the world. Valid while `run` runs.
class TaskChannel {
 public:
  virtual ~TaskChannel() = default;

  virtual std::string_view request() const = 0;
  virtual std::size_t file_count() const = 0;
  virtual int file(std::size_t i) const = 0;  // Open for reading, at its start; i < file_count().
  // Waits while the worker is slow. An error: the worker does not listen any more.
  virtual Result<void> output(std::span<const std::byte> bytes) = 0;
  virtual void progress(int done, int total) = 0;
};

struct TaskServer {
  std::function<Result<void>()> warm_up = {};
  std::function<Result<std::string>(TaskChannel&)> run;
  std::vector<std::string> read_paths =
      {};  // Files and folders; those that do not exist are skipped.
};

// The exit code of the program. It ends when descriptor 3 does.
int serve_tasks(const TaskServer& server);

}  // namespace millrace::sandbox
