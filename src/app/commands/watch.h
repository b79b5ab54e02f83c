// Watching jobs and queues: a line that is rewritten on a terminal, or lines on change elsewhere.
#pragma once

#include "app/context.h"
#include "base/uuid.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

struct WatchOptions {
  std::optional<std::chrono::milliseconds> timeout;
  std::chrono::milliseconds interval{200};
};

// Until all are final. Exit code 0 when all completed, kExitJobFailed otherwise; unavailable when
// the timeout passed first.
Result<int> watch_jobs(Context& context, store::AdminStore& store, std::vector<JobId> ids,
                       const WatchOptions& options);

// Until interrupted, or until the queue (or all of them) has no live jobs with `until_empty`.
Result<int> watch_queue(Context& context, store::AdminStore& store,
                        std::optional<std::string> queue, bool until_empty,
                        const WatchOptions& options);

// "[#####-----]  50 %": `width` columns in all.
std::string bar(double share, std::size_t width, bool unicode);

// Ctrl-C while watching ends the watching, not the job.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  static bool requested();
  // Sleeps up to `time`, less when interrupted; true when interrupted.
  static bool wait(std::chrono::milliseconds time);
};

}  // namespace millrace::app
