// ProcessMetrics: memory, time and files of this process, as the kernel counts them.
//
// ProcessMetrics is read anew for every page; whoever serves the pages has the only one.
// Threading: any. Lifetime: the registry outlives it.
#pragma once

#include "base/clock.h"
#include "base/metrics.h"

#include <cstdint>
#include <mutex>

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
  Gauge& resident_;
  Counter& cpu_;
  Gauge& files_;
  std::mutex mutex_;  // Guards counted_cpu_.
  double counted_cpu_ = 0;
};

}  // namespace millrace::app
