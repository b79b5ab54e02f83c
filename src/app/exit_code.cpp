#include "app/exit_code.h"

#include "app/terminal.h"

#include <fmt/format.h>

namespace millrace::app {

int exit_code_of(const Error& error) {
  const auto& state = error.sqlstate;
  if (state == "42501" || state == "MR015" || state == "28P01" || state == "28000") {
    return kExitPermission;
  }
  if (state == "3F000" || state == "42P01" || state == "42883" || state == "42703") {
    return kExitConfiguration;  // The schema is missing or of another version.
  }
  switch (error.kind) {
    case ErrorKind::invalid_argument:
      return kExitUsage;
    case ErrorKind::not_found:
      return kExitNotFound;
    case ErrorKind::conflict:
    case ErrorKind::lease_lost:
      return kExitConflict;
    case ErrorKind::throttled:
    case ErrorKind::unavailable:
    case ErrorKind::in_doubt:
      return kExitUnavailable;
    case ErrorKind::cancelled:
      return kExitInterrupted;
    case ErrorKind::internal:
      return kExitInternal;
  }
  return kExitInternal;
}

std::string error_line(const Error& error) {
  auto line = fmt::format("millrace: {}", printable(error.message));
  while (line.ends_with('.') || line.ends_with(' ')) line.pop_back();
  if (!error.hint.empty()) {
    line += fmt::format("{} {}", line.ends_with('?') ? "" : ";", printable(error.hint));
  }
  while (line.ends_with('.') || line.ends_with(' ')) line.pop_back();
  if (!error.sqlstate.empty()) line += fmt::format(" [{}]", error.sqlstate);
  return line;
}

}  // namespace millrace::app
