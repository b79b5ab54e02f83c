// Place: where in a template's file something stands; messages begin with it: "page.html:3:7: …".
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::templates {

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;  // In code points.

  friend bool operator==(const Place&, const Place&) = default;
};

// The place of a byte of `text`.
Place place_of(std::string_view text, std::size_t offset);

std::string at(std::string_view file, Place place, std::string_view message);
[[nodiscard]] std::unexpected<Error> fail_at(std::string_view file, Place place,
                                             std::string_view message);

}  // namespace millrace::templates
