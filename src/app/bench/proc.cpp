#include "app/bench/proc.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace millrace::app {

void ProcessTable::add(std::string_view stat_line) {
  // "pid (name) state ppid ...": the name may hold blanks and brackets, so it is found from behind.
  const auto close = stat_line.rfind(')');
  if (close == stat_line.npos) return;
  pid_t pid = 0;
  if (std::from_chars(stat_line.data(), stat_line.data() + stat_line.size(), pid).ec !=
      std::errc{}) {
    return;
  }
  std::istringstream rest{std::string(stat_line.substr(close + 1))};
  std::string state;
  Row row;
  rest >> state >> row.parent;
  std::string skipped;
  for (int i = 0; i < 9; ++i) rest >> skipped;  // Up to cmajflt.
  for (int i = 0; i < 4; ++i) {                 // utime, stime, cutime, cstime.
    std::int64_t ticks = 0;
    rest >> ticks;
    row.ticks += ticks;
  }
  if (rest) rows_[pid] = row;
}

ProcessTable ProcessTable::read() {
  ProcessTable table;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (std::getline(file, line)) table.add(line);
  }
  return table;
}

bool ProcessTable::below(pid_t pid, pid_t ancestor) const {
  for (int depth = 0; depth < 64 && pid > 0; ++depth) {
    if (pid == ancestor) return true;
    pid = parent(pid);
  }
  return false;
}

double ProcessTable::cpu_seconds(pid_t root, pid_t except) const {
  std::int64_t ticks = 0;
  for (const auto& [pid, row] : rows_) {
    if (!below(pid, root)) continue;
    if (except != 0 && below(pid, except)) continue;
    ticks += row.ticks;
  }
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::vector<pid_t> ProcessTable::family(pid_t root) const {
  std::vector<pid_t> pids;
  for (const auto& [pid, row] : rows_) {
    if (below(pid, root)) pids.push_back(pid);
  }
  return pids;
}

pid_t ProcessTable::parent(pid_t pid) const {
  const auto found = rows_.find(pid);
  return found == rows_.end() ? 0 : found->second.parent;
}

std::int64_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace millrace::app
