// Health: what /livez, /readyz and /health say.
//
// /livez depends on nothing but this process. /readyz says whether requests should come here: the
// database answers and the server is not draining. /health lists checks; a failed one makes it
// `degraded` (200), the database's makes it `unavailable` (503), and of an error only its class is
// told (H-18, K04). Checks run side by side, each for its time at most, and /readyz asks those only
// that nothing works without: a part that is slow, or a crowd of requests, sends nobody away. The
// pages are open to everybody, so checks are asked at most once a second, whoever asks. Threading:
// any. Lifetime: the clock outlives it.
#pragma once

#include "api/keyed_cache.h"
#include "api/operation.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/task.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::api {

struct CheckResult {
  bool ok = true;
  std::optional<std::int64_t> value = {};  // Of a check that measures: queue_depth.
};

struct HealthCheck {
  std::string name;
  bool essential = false;  // Nothing works without it.
  std::chrono::milliseconds time_max{2'000};
  std::function<Task<CheckResult>()> run;
};

class Health {
 public:
  Health(Clock& clock, std::string version, std::vector<HealthCheck> checks);

  // From now on /readyz says no, so that nothing new is sent here.
  void drain() { draining_ = true; }

  // GET /livez, /readyz, /health.
  std::vector<Operation> operations();

 private:
  struct Report {
    bool essential_ok = true;
    bool all_ok = true;
    json::Object checks;
  };

  struct Asked {
    const HealthCheck* check = nullptr;
    bool good = false;
    json::Object entry;
  };
  enum class Which { all, essential };

  Task<Report> examine(Which which);
  awaitable<void> ask(Asked& asked);
  awaitable<void> ask_all(std::span<Asked> asked);
  Task<Reply> livez() const;
  Task<Reply> readyz();
  Task<Reply> health();

  Clock& clock_;
  std::string version_;
  std::vector<HealthCheck> checks_;
  KeyedCache<Which, Report> reports_;
  std::atomic<bool> draining_ = false;
};

}  // namespace millrace::api
