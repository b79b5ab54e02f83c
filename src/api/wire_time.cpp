#include "api/wire_time.h"

#include <fmt/format.h>

namespace millrace::api {

std::string wire_time(identity::Instant time) {
  using std::chrono::floor;
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string wire_time(Clock::Wall time) { return wire_time(identity::instant_of(time)); }

}  // namespace millrace::api
