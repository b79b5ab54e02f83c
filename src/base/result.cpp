#include "base/result.h"

#include <fmt/format.h>

namespace millrace {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "invalid_argument";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::lease_lost:
      return "lease_lost";
    case ErrorKind::throttled:
      return "throttled";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::cancelled:
      return "cancelled";
    case ErrorKind::in_doubt:
      return "in_doubt";
    case ErrorKind::internal:
      return "internal";
  }
  return "unknown";
}

std::string Error::describe() const {
  std::string text = message;
  if (!sqlstate.empty()) text += fmt::format(" (SQLSTATE {})", sqlstate);
  if (!detail.empty()) text += fmt::format("; {}", detail);
  if (!hint.empty()) text += fmt::format("; hint: {}", hint);
  for (auto& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{.kind = kind, .message = std::move(message)});
}

std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

std::unexpected<Error> fail_with_context(std::string_view context, Error error) {
  error.message = fmt::format("{}: {}", context, error.message);
  return std::unexpected(std::move(error));
}

}  // namespace millrace
