// Classification: what a refusal of a service means, by one table per service.
//
// Flow: a client reads the error's words out of the answer into a Refusal; the first of those words
// that the table knows decides, whatever the status; then a known part of the message; then the
// status; then its class. Words come before statuses because services use one status (429) both for
// "wait a moment" and for "your money is gone". The tables are data, so a test can go over all
// rows.
#pragma once

#include "provider/call.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::provider {

// `parser`: LlamaCloud and all parsers outside.
enum class Service { openai, anthropic, vision, parser };

// "openai": what messages and metrics call it.
std::string_view to_string(Service service);

struct Refusal {
  int status = 0;
  std::vector<std::string> words = {};  // Codes and types, the most particular first.
  std::string message = {};             // The service's, as it came.
  std::optional<std::chrono::milliseconds> retry_after = {};
  std::optional<bool> should_retry = {};  // x-should-retry, an advice for statuses.
};

struct Rule {
  std::string_view word = {};          // In Refusal::words.
  std::string_view message_part = {};  // In Refusal::message, where services have no word for it.
  int status = 0;
  CallFailure::Kind kind = CallFailure::Kind::permanent;
  std::string_view error_type = {};
  bool maybe_charged = false;
  bool throttled_if_told = false;  // With a Retry-After it is a limit, not a failure.
};

std::span<const Rule> rules_of(Service service);

// Without message and usage, which are the client's to add.
CallFailure classify(Service service, const Refusal& refusal);

// google.rpc.Code as a word: 8 is "RESOURCE_EXHAUSTED". Errors of single images have numbers only.
std::string_view rpc_code_name(int code);

}  // namespace millrace::provider
