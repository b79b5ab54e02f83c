// Timing: "twice daily" as numbers, for those ways of writing it that leave no doubt.
//
// English and the Latin of prescriptions. A text with one word that is not understood gives
// nothing: the text itself is always kept beside it, and half of an instruction would be a wrong
// one.
#pragma once

#include "base/json.h"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::output::fhir {

struct Timing {
  int frequency = 0;  // 0: only when, "before meals".
  double period = 0;
  double period_max = 0;               // 0: none. "every 4-6 hours"
  std::string_view unit = {};          // h, d, wk, mo
  std::vector<std::string> when = {};  // HS, MORN, EVE, C, AC, PC
  bool as_needed = false;
  friend bool operator==(const Timing&, const Timing&) = default;
};

std::optional<Timing> parse_timing(std::string_view text);

// "7 days", "for 2 weeks": how many of which unit (h, d, wk, mo, a).
struct TimeSpan {
  double value = 0;
  std::string_view unit = {};
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

std::optional<TimeSpan> parse_time_span(std::string_view text);

// Timing.repeat; empty when neither says anything.
json::Object repeat_of(const std::optional<Timing>& timing, const std::optional<TimeSpan>& span);

}  // namespace millrace::output::fhir
