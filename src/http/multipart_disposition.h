// Header values of the form `value; name=token; name="quoted"`.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::http {

struct HeaderParameters {
  std::string value;
  std::vector<std::pair<std::string, std::string>> parameters;

  const std::string* parameter(std::string_view name) const;  // Upper or lower case.
};

// invalid_argument for bad syntax and for a parameter that comes twice: readers would differ in
// which one they take.
Result<HeaderParameters> parse_parameters(std::string_view text);

}  // namespace millrace::http
