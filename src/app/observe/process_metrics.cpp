#include "app/observe/process_metrics.h"

#include "app/bench/proc.h"
#include "base/version.h"

#include <filesystem>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace millrace::app {
namespace {

constexpr std::chrono::seconds kReadAge{1};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessUse read_process_use() {
  ProcessUse use;
  use.resident_bytes = resident_bytes(::getpid());
  rusage spent{};
  if (::getrusage(RUSAGE_SELF, &spent) == 0) {
    use.cpu_seconds = seconds(spent.ru_utime) + seconds(spent.ru_stime);
  }
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator file("/proc/self/fd", error); !error && file != end;
       file.increment(error)) {
    ++use.open_files;
  }
  return use;
}

ProcessMetrics::ProcessMetrics(MetricRegistry& registry, const Clock& clock)
    : clock_(clock),
      resident_(registry
                    .family({.name = "millrace_process_resident_bytes",
                             .help = "Resident memory of this process.",
                             .kind = MetricKind::gauge})
                    .gauge()),
      cpu_(registry
               .family({.name = "millrace_process_cpu_seconds_total",
                        .help = "User and system time of this process."})
               .counter()),
      files_(registry
                 .family({.name = "millrace_process_open_files",
                          .help = "Open files and sockets of this process.",
                          .kind = MetricKind::gauge})
                 .gauge()) {
  const auto now = std::chrono::duration<double>(clock.wall().time_since_epoch()).count();
  registry
      .family({.name = "millrace_process_start_time_seconds",
               .help = "When this process started, in seconds since 1970.",
               .kind = MetricKind::gauge})
      .gauge()
      .set(now);
  registry
      .family({.name = "millrace_build_info",
               .help = "1, with the version as a label.",
               .kind = MetricKind::gauge,
               .labels = {"version"}})
      .gauge({kVersion})
      .set(1);
}

ProcessUse ProcessMetrics::update() {
  const auto now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (read_at_ && now - *read_at_ < kReadAge) return last_;
  const auto use = read_process_use();
  read_at_ = now;
  last_ = use;
  resident_.set(static_cast<double>(use.resident_bytes));
  files_.set(static_cast<double>(use.open_files));
  if (use.cpu_seconds > counted_cpu_) {
    cpu_.add(use.cpu_seconds - counted_cpu_);
    counted_cpu_ = use.cpu_seconds;
  }
  return use;
}

}  // namespace millrace::app
