#include "sandbox/run_delay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace millrace::sandbox {

std::chrono::milliseconds run_delay(int pidfd) {
  std::ifstream info(fmt::format("/proc/self/fdinfo/{}", pidfd));
  for (std::string word; info >> word;) {
    if (word != "Pid:") continue;
    long pid = -1;
    if (!(info >> pid) || pid <= 0) break;  // Reaped.
    std::ifstream times(fmt::format("/proc/{}/schedstat", pid));
    std::uint64_t ran_ns = 0;
    std::uint64_t waited_ns = 0;
    if (times >> ran_ns >> waited_ns) {
      return std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::nanoseconds(waited_ns));
    }
    break;
  }
  return std::chrono::milliseconds::zero();
}

std::chrono::milliseconds wall_with_delay(std::chrono::milliseconds wall,
                                          std::chrono::milliseconds delay) {
  return wall + std::clamp(delay, std::chrono::milliseconds::zero(), 4 * wall);
}

}  // namespace millrace::sandbox
