// Source: a definition as JSON values, and where in the file each of them stands.
//
// Flow: read from TOML, or taken from the database without places; the readers ask it by path
// ("stage.2.timeout"). The only file here that includes toml++ is source.cpp.
#pragma once

#include "base/json.h"
#include "pipeline/definition/problem.h"

#include <map>
#include <string>
#include <string_view>

namespace millrace::pipeline {

inline constexpr std::size_t kPipelineFileMaxBytes = 256 * 1024;

struct Source {
  json::Object root = {};  // Whole floats are integers, dates their text.
  std::map<std::string, Place, std::less<>> places = {};

  // Of the key, or of what holds it when there is no such key.
  Place place(std::string_view path) const;
};

// One problem when it is no TOML: there is nothing to go on with behind it.
Source read_toml(std::string_view text, Problems& problems);

}  // namespace millrace::pipeline
