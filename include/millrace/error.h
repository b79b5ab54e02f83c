// Error and Result of the public interface: every expected failure is a value.
#pragma once

#include <expected>
#include <string>

namespace millrace::client {

enum class ErrorKind {
  invalid_argument,  // Change the request; the message names the field.
  not_found,
  conflict,
  lease_lost,
  throttled,    // Later.
  unavailable,  // Not done; trying again may help.
  cancelled,
  in_doubt,  // Sent, no answer: it may have been done. Repeat with an idempotency key.
  internal,
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string sqlstate;  // See docs/sqlstates.md; empty when PostgreSQL did not report it.
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace millrace::client
