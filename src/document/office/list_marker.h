// What stands before an item of a list: "•", "3.", "c.", "iv.".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::document {

enum class NumberFormat : std::uint8_t {
  none,
  bullet,
  decimal,
  lower_letter,
  upper_letter,
  lower_roman,
  upper_roman,
};

inline constexpr std::string_view kBulletMarker = "•";

// Without a point behind it; nothing for bullets. Numbers that letters or Roman ones do not reach
// are decimal.
std::string number_text(NumberFormat format, std::int64_t number);

}  // namespace millrace::document
