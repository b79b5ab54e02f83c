// WakeSource: hints that there may be work. Polling is the guarantee; a hint that never comes costs
// one polling interval.
#pragma once

#include "base/task.h"

#include <chrono>
#include <string_view>

namespace millrace::store {

inline constexpr std::string_view kWakeChannel = "millrace_wake";

class WakeSource {
 public:
  virtual ~WakeSource() = default;

  // True when a hint came, false when `timeout` passed first. An error means that no hints come at
  // present; the next call tries to connect again. `invalid_argument` means that none ever will.
  // Several hints at once are one.
  virtual Task<bool> wait(std::chrono::milliseconds timeout) = 0;
};

}  // namespace millrace::store
