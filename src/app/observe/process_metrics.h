// ProcessMetrics: memory, time and files of this process, as the kernel counts them.
//
// ProcessMetrics is read anew for a page, once a second at most: the pages are open to everybody,
// and counting the open files of a busy server takes a while. Whoever serves the pages has the only
// one.
// Threading: any. Lifetime: registry and clock outlive it.
#pragma once

#include "base/clock.h"
#include "base/metrics.h"

#include <cstdint>
#include <mutex>
#include <optional>

namespace millrace::app {

struct ProcessUse {
  std::int64_t resident_bytes = 0;
  double cpu_seconds = 0;
  std::int64_t open_files = 0;
};

// Zeros where the kernel does not say.
ProcessUse read_process_use();

class ProcessMetrics {
 public:
  ProcessMetrics(MetricRegistry& registry, const Clock& clock);
  ProcessUse update();

 private:
  const Clock& clock_;
  Gauge& resident_;
  Counter& cpu_;
  Gauge& files_;
  std::mutex mutex_;  // Guards all below.
  double counted_cpu_ = 0;
  std::optional<Clock::Steady> read_at_;
  ProcessUse last_;
};

}  // namespace millrace::app
