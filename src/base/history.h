// History: what a process did and was told, one JSON line per event, for an offline checker.
//
// Off unless open_history() was called. A line is one write(2) to a file opened for appending, so
// lines of a killed process are whole and nothing waits in memory. Times are the monotonic clock of
// the machine in nanoseconds: comparable between processes, untouched by steps of the wall clock.
// Thread-safe.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::history {

namespace detail {
inline constinit std::atomic<bool> on = false;
}

inline bool enabled() { return detail::on.load(std::memory_order_relaxed); }

// Makes `<directory>/<role>-<pid>-<random>.jsonl` and begins it. Once per process.
Result<void> open_history(const std::string& directory, std::string_view role);

// Adds the time and `op` in front of `fields`.
void record(std::string_view op, const json::Object& fields);

// A call to the database: a line when it is made, one when its answer is known. `detail` goes into
// the first, what ok() is given into the second. Without an end the call's fate is unknown.
class Call {
 public:
  Call(std::string_view op, json::Object detail);
  void ok(json::Object answer) const;
  void failed(const Error& error) const;  // in_doubt: unknown. Else: certainly not done.

 private:
  void finish(std::string_view phase, json::Object fields) const;

  std::string op_;
  std::uint64_t number_;
};

}  // namespace millrace::history
