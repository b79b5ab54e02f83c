#include "api/rest/rest_error.h"

#include "identity/refusal.h"

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::string_view kOwnCodes = "PGRST";

struct CodeStatus {
  std::string_view code;
  int status;
};

// What PostgREST answers, where the class of a SQLSTATE does not say it.
constexpr std::array kStatuses{
    CodeStatus{"PGRST100", 400}, CodeStatus{"PGRST102", 400}, CodeStatus{"PGRST103", 416},
    CodeStatus{"PGRST106", 406}, CodeStatus{"PGRST107", 406}, CodeStatus{"PGRST108", 400},
    CodeStatus{"PGRST116", 406}, CodeStatus{"PGRST122", 400}, CodeStatus{"PGRST123", 400},
    CodeStatus{"PGRST124", 400}, CodeStatus{"PGRST200", 400}, CodeStatus{"PGRST202", 404},
    CodeStatus{"PGRST204", 400}, CodeStatus{"PGRST205", 404}, CodeStatus{"PGRST302", 401},
    CodeStatus{"23503", 409},    CodeStatus{"23505", 409},    CodeStatus{"42501", 403},
    CodeStatus{"42703", 400},    CodeStatus{"42804", 400},    CodeStatus{"42883", 404},
    CodeStatus{"42P01", 404},    CodeStatus{"42P10", 400},    CodeStatus{"P0001", 400}};

// Classes that are about values the client sent.
constexpr std::array<std::string_view, 4> kValueClasses{"21", "22", "23", "54"};

std::optional<int> status_of(const Error& error) {
  const std::string_view code = error.sqlstate;
  // A function that writes, called by GET. Of any other call: a standby, which is not the client's.
  if (code == "25006" && error.kind == ErrorKind::invalid_argument) return 405;
  for (const auto& known : kStatuses) {
    if (known.code == code) return known.status;
  }
  if (code.size() == 5 &&
      std::ranges::find(kValueClasses, code.substr(0, 2)) != kValueClasses.end())
    return 400;
  return std::nullopt;
}

// For what went wrong before anything was asked of the database.
std::string_view code_of(const Fault& fault) {
  switch (fault.status) {
    case 400:
      return fault.code == "invalid_json" || fault.code == "invalid_body" ? "PGRST102" : "PGRST100";
    case 401:
      return "PGRST301";
    case 403:
      return "42501";
    case 404:
      return "PGRST205";
    case 415:
      return "PGRST107";
    case 503:
      return "PGRST001";
    default:
      return fault.code;
  }
}

bool has_code(const std::optional<Error>& cause) {
  return cause && !cause->sqlstate.empty() && !identity::refusal_of(*cause);
}

json::Value text_or_null(std::string_view text) {
  return text.empty() ? json::Value(nullptr) : json::Value(text);
}

// What was wrong, one line per rule.
std::string lines_of(const std::vector<FieldError>& errors) {
  std::string lines;
  for (const auto& error : errors) lines += (lines.empty() ? "" : "\n") + error.detail;
  return lines;
}

}  // namespace

std::unexpected<Error> rest_refuse(std::string_view code, RestWords words) {
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = std::move(words.message),
                    .sqlstate = std::string(code),
                    .hint = std::move(words.hint),
                    .detail = std::move(words.details)});
}

Fault rest_fault(const Error& error) {
  auto fault = fault_of(error);
  if (identity::refusal_of(error)) return fault;
  if (error.sqlstate.starts_with("MR")) {
    fault.detail = error.message;  // The hint has a member of its own.
  } else if (const auto status = status_of(error)) {
    fault = {.status = *status, .code = "refused", .detail = error.message};
  }
  return fault;
}

Reply rest_reply(const ProblemDetails& problem, std::string_view correlation_id) {
  const auto& fault = problem.fault;
  const auto& cause = problem.cause;
  // Details and hints of what the database says on its own account are not for clients.
  const bool told =
      has_code(cause) && (cause->sqlstate.starts_with("MR") ||
                          cause->sqlstate.starts_with(kOwnCodes) || status_of(*cause).has_value());
  const auto details = told ? cause->detail : lines_of(problem.errors);
  return Reply::json(
      json::Object{
          {"code", has_code(cause) ? std::string_view(cause->sqlstate) : code_of(fault)},
          {"message", fault.detail},
          {"details", text_or_null(details)},
          {"hint", text_or_null(told ? std::string_view(cause->hint) : std::string_view())},
          {"cid", correlation_id}},
      fault.status);
}

}  // namespace millrace::api
