// Path parameters that many operations have.
#pragma once

#include "api/operation.h"

#include <string>
#include <utility>

namespace millrace::api {

inline Parameter id_parameter(std::string description) {
  return {.in = In::path,
          .name = "id",
          .description = std::move(description),
          .schema = R"({"type":"string","format":"uuid"})",
          .required = true};
}

inline Parameter name_parameter(std::string name, std::string description, int length_max = 200) {
  return {
      .in = In::path,
      .name = std::move(name),
      .description = std::move(description),
      .schema = R"({"type":"string","minLength":1,"maxLength":)" + std::to_string(length_max) + "}",
      .required = true};
}

}  // namespace millrace::api
