// What stands before an item of a list: "•", "3.", "c.", "iv.".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::document {

enum class NumberFormat : std::uint8_t {
  none,
  bullet,
  decimal,
  decimal_zero,  // "01" to "09", "10".
  lower_letter,  // Behind "z" comes "aa", then "bb".
  upper_letter,
  lower_column,  // Behind "z" comes "aa", then "ab", like the columns of a sheet.
  upper_column,
  lower_roman,
  upper_roman,
};

inline constexpr std::string_view kBulletMarker = "•";

// Without a point behind it; nothing for bullets. Numbers that letters or Roman ones do not reach
// are decimal.
std::string number_text(NumberFormat format, std::int64_t number);

// Ids of styles and lists are copied for every element that has one. Programs write a few
// characters; an id that is much longer is none.
inline constexpr std::size_t kIdBytesMax = 256;
inline std::string_view short_id(std::string_view id) {
  return id.size() > kIdBytesMax ? std::string_view() : id;
}

}  // namespace millrace::document
