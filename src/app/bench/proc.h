// What the kernel says of processes: whose time a measurement took, and their memory.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace millrace::app {

// All processes at one moment. A process's time includes that of its children that have ended.
class ProcessTable {
 public:
  static ProcessTable read();
  // One line of /proc/<pid>/stat; for tests, too.
  void add(std::string_view stat_line);

  // User and system time of `root` and everything below it, leaving out `except` and what is below
  // that. Zero when there is no such process.
  double cpu_seconds(pid_t root, pid_t except = 0) const;
  // `root` and everything below it.
  std::vector<pid_t> family(pid_t root) const;
  pid_t parent(pid_t pid) const;  // 0 when it is not there.
  std::size_t size() const { return rows_.size(); }

 private:
  struct Row {
    pid_t parent = 0;
    std::int64_t ticks = 0;
  };
  bool below(pid_t pid, pid_t ancestor) const;  // Or the same.
  std::map<pid_t, Row> rows_;
};

// Resident memory in bytes; 0 when the process is gone.
std::int64_t resident_bytes(pid_t pid);

}  // namespace millrace::app
