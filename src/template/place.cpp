#include "template/place.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::templates {

Place place_of(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, std::min(offset, text.size()));
  const auto line_begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const auto letters = std::ranges::count_if(before.substr(line_begin), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return {.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
          .column = static_cast<std::size_t>(letters) + 1};
}

std::string at(std::string_view file, Place place, std::string_view message) {
  return fmt::format("{}:{}:{}: {}", file, place.line, place.column, message);
}

std::unexpected<Error> fail_at(std::string_view file, Place place, std::string_view message) {
  return fail(ErrorKind::invalid_argument, at(file, place, message));
}

}  // namespace millrace::templates
