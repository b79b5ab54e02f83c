#include "worker/handlers/exec_outcome.h"

#include "base/json.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

namespace millrace::worker {
namespace {

std::string with_line(std::string message, const ExecNotes& notes) {
  if (!notes.last_line.empty()) message += ": " + notes.last_line;
  return message;
}

Outcome result_of(std::string_view text, std::size_t max_bytes) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return Outcome::ok();
  const auto end = text.find_last_not_of(" \t\r\n");
  text = text.substr(start, end - start + 1);
  const auto parsed = parse_json(text, {.max_bytes = max_bytes});
  if (!parsed.has_value()) {
    return Outcome::permanent(
        "invalid_result", "stdout must be one JSON value or nothing: " + parsed.error().message);
  }
  return Outcome::ok(std::string(text));
}

Outcome outcome_of_signal(int signal, const ExecNotes& notes) {
  const char* name = ::sigabbrev_np(signal);
  auto outcome = Outcome::retry("signal", with_line(fmt::format("the program was killed by SIG{}",
                                                                name == nullptr ? "?" : name),
                                                    notes));
  outcome.crash = true;
  return outcome;
}

}  // namespace

Outcome exec_outcome(const sandbox::ChildResult& result, const ExecNotes& notes,
                     std::size_t result_max_bytes) {
  // First what we did to it: then its code or signal says nothing of its own.
  if (result.timed_out)
    return Outcome::retry("timeout", with_line("the program ran too long", notes));
  if (result.cancelled) return Outcome::cancelled("the program was stopped");
  if (result.output_overflow) {
    return Outcome::permanent("result_too_large",
                              fmt::format("the program wrote more than {} bytes to stdout; store "
                                          "large results elsewhere and return their key",
                                          result_max_bytes));
  }
  if (result.signal) return outcome_of_signal(*result.signal, notes);
  const int code = result.exit_code.value_or(-1);
  const auto message = with_line(fmt::format("the program ended with exit code {}", code), notes);
  switch (code) {
    case kExitOk:
      return result_of(result.stdout_text, result_max_bytes);
    case kExitThrottled:
      return Outcome::throttled(message, notes.retry_after);
    case kExitPermanent:
      return Outcome::permanent("exit_code", message);
    case kExitRetry:
    default:
      return Outcome::retry("exit_code", message, notes.retry_after);
  }
}

}  // namespace millrace::worker
