// EmbeddedFile: a file that lies inside the program, put there by cmake/embed.cmake.
#pragma once

#include <string_view>

namespace millrace {

struct EmbeddedFile {
  std::string_view name;  // "guardian.toml"
  std::string_view text;
};

}  // namespace millrace
