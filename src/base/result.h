// Result<T> and Error: every expected failure in this program is a value.
//
// Result<T> is std::expected<T, Error> that may not be ignored. An Error says how to react (kind),
// what happened (message, one line) and, when PostgreSQL said so, its SQLSTATE, detail and hint.
// MR_TRY and MR_CO_TRY pass an error up:
//
//   MR_TRY(auto text, read_file(path));
//   MR_CO_TRY(auto jobs, co_await store.claim_jobs({.queue = queue}));
//   MR_CO_TRY_VOID(co_await connection.begin());
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace millrace {

// Chosen by the reaction, not by the cause; detail belongs in the message.
enum class ErrorKind {
  invalid_argument,  // The caller must change the request.
  not_found,
  conflict,
  lease_lost,
  throttled,    // Later, by the limit's rules.
  unavailable,  // Not done; trying again may help.
  cancelled,
  in_doubt,  // Sent, no answer: it may have been done.
  internal,  // A bug or a broken installation.
};

std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message = {};
  std::string sqlstate = {};    // Five characters, empty unless PostgreSQL reported the failure.
  std::string hint = {};        // What to do about it.
  std::string detail = {};      // What PostgreSQL said in DETAIL.
  std::string constraint = {};  // The constraint that was violated.

  // "message (SQLSTATE 23505) detail hint" on one line, for people.
  std::string describe() const;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

// The way to return an error from a function: `return fail(ErrorKind::not_found, "no such queue")`.
[[nodiscard]] std::unexpected<Error> fail(ErrorKind kind, std::string message);
[[nodiscard]] std::unexpected<Error> fail(Error error);

// The same error with context in front of its message: "cannot read config.toml: no such file".
[[nodiscard]] std::unexpected<Error> fail_with_context(std::string_view context, Error error);

// Success without a value; `co_return ok();` because an awaitable cannot take `{}`.
[[nodiscard]] inline Result<void> ok() { return {}; }

}  // namespace millrace

#define MR_CONCAT_INNER_(a, b) a##b
#define MR_CONCAT_(a, b) MR_CONCAT_INNER_(a, b)

#define MR_TRY_INNER_(leave, tmp, decl, ...)                               \
  auto tmp = (__VA_ARGS__);                                                \
  if (!tmp.has_value()) leave ::std::unexpected(::std::move(tmp).error()); \
  decl = *::std::move(tmp)

#define MR_TRY_VOID_INNER_(leave, tmp, ...)                                  \
  do {                                                                       \
    auto tmp = (__VA_ARGS__);                                                \
    if (!tmp.has_value()) leave ::std::unexpected(::std::move(tmp).error()); \
  } while (false)

// Declares `decl` from the value of a Result, or returns its error.
#define MR_TRY(decl, ...) MR_TRY_INNER_(return, MR_CONCAT_(mr_try_, __COUNTER__), decl, __VA_ARGS__)
#define MR_CO_TRY(decl, ...) \
  MR_TRY_INNER_(co_return, MR_CONCAT_(mr_try_, __COUNTER__), decl, __VA_ARGS__)
// Returns the error of a Result whose value does not matter.
#define MR_TRY_VOID(...) MR_TRY_VOID_INNER_(return, MR_CONCAT_(mr_try_, __COUNTER__), __VA_ARGS__)
#define MR_CO_TRY_VOID(...) \
  MR_TRY_VOID_INNER_(co_return, MR_CONCAT_(mr_try_, __COUNTER__), __VA_ARGS__)
