// What the mock app server can compute: the two contracts of examples/contracts, for real.
//
// Pure functions over inputs that keep to their contract. A question may keep to its schema and
// still make no sense: then the answer says which rule of the domain it breaks (422).
#pragma once

#include "base/json.h"

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::app {

inline constexpr std::string_view kMockSolver = "millrace appserver (mock)";

struct DomainError {
  std::string pointer;  // Into the inputs.
  std::string detail;
};

struct Solution {
  json::Object outputs;
  std::string drawing_svg = {};  // Empty: none was asked for.
};

using Solver = std::expected<Solution, DomainError> (*)(const json::Object& inputs);

// Null: the mock cannot compute that.
Solver find_solver(std::string_view definition, std::string_view version);

std::expected<Solution, DomainError> solve_beam(const json::Object& inputs);
std::expected<Solution, DomainError> solve_tour(const json::Object& inputs);

}  // namespace millrace::app
