// Fault points: named places in the program where a test can make something go wrong, and
// properties: what must always hold there, or must have been seen at least once.
//
//   MR_FAULT("exec.started");              a place; off, it costs one relaxed load
//   options.point = MR_POINT("claim");     a call to the database: claim.before, claim.after_send
//                                          and claim.after are places inside pg
//   MR_ALWAYS(sent <= asked, "claim_within_limit");
//   MR_SOMETIMES(answer == lost, "lease_lost_seen");
//
// Armed by a plan such as "claim.after=kill@3;settle.after_send=drop": at the third time, at the
// first time. The name may end in * to mean all that begin so, counted together. Actions:
//   kill    SIGKILL to this process       stop    SIGSTOP: somebody else continues it
//   error   the place fails               drop    the database connection is cut
//   delay:N the thread stands still for N ms, as after a page fault or a paused machine
// Each action is written into the history before it is taken. tools/fault_points lists all names.
#pragma once

#include "base/assert.h"
#include "base/result.h"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::fault {

enum class Effect { none, error, drop };

// The name of a database call; none for calls of tests and tools.
struct Point {
  const char* name = nullptr;
};

namespace detail {
inline constinit std::atomic<bool> armed = false;
Effect reach(std::string_view name, std::string_view stage);
void note_reached(const char* property) noexcept;
[[noreturn]] void note_broken(const char* property, const char* file, int line) noexcept;
}  // namespace detail

// invalid_argument names what is wrong with the plan. Replaces the plan before.
Result<void> arm(std::string_view plan);
void disarm();
// The points at which the plan's traps have gone off so far, in that order.
std::vector<std::string> sprung();

inline Effect reach(const char* name, std::string_view stage = {}) {
  if (!detail::armed.load(std::memory_order_relaxed)) [[likely]]
    return Effect::none;
  return detail::reach(name, stage);
}
inline Effect reach(Point point, std::string_view stage) {
  return point.name == nullptr ? Effect::none : reach(point.name, stage);
}

Error injected(std::string_view name, std::string_view stage = {});

}  // namespace millrace::fault

#define MR_POINT(name) (::millrace::fault::Point{name})

#define MR_FAULT(name) static_cast<void>(::millrace::fault::reach(name))

#define MR_ALWAYS(condition, name) \
  (static_cast<bool>(condition)    \
       ? static_cast<void>(0)      \
       : ::millrace::fault::detail::note_broken(name, __FILE__, __LINE__))

// Tells the history, once per process, that the condition was true here.
#define MR_SOMETIMES(condition, name)                                                       \
  do {                                                                                      \
    static constinit std::atomic<bool> mr_seen = false;                                     \
    if ((condition) && !mr_seen.load(std::memory_order_relaxed) && !mr_seen.exchange(true)) \
      ::millrace::fault::detail::note_reached(name);                                        \
  } while (false)
