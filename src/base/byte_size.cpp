#include "base/byte_size.h"

#include <fmt/format.h>

#include <charconv>

namespace millrace {
namespace {

constexpr std::string_view kUnits = "KMGT";

}  // namespace

Result<std::uint64_t> parse_byte_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  auto unit = text.substr(static_cast<std::size_t>(stopped - text.data()));
  if (unit.ends_with("iB")) {
    unit.remove_suffix(2);
  } else if (unit.size() > 1 && unit.ends_with('B')) {
    unit.remove_suffix(1);
  }
  unsigned shift = 0;
  if (unit.size() == 1 && kUnits.find(unit[0]) != kUnits.npos) {
    shift = 10 * static_cast<unsigned>(kUnits.find(unit[0]) + 1);
  }
  const bool unit_known = unit.empty() || unit == "B" || shift > 0;
  if (error != std::errc{} || !unit_known || number == 0 || number > (UINT64_MAX >> shift)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is not a size such as 512M or 64KiB", text));
  }
  return number << shift;
}

std::string format_byte_size(std::uint64_t bytes) {
  std::size_t units = 0;
  while (bytes != 0 && bytes % 1024 == 0 && units < kUnits.size()) {
    bytes /= 1024;
    ++units;
  }
  return units == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, kUnits[units - 1]);
}

}  // namespace millrace
