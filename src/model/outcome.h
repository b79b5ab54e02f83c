// Outcome: what a handler made of one delivery. The database, not the handler, decides what that
// means for the schedule, the retry budget and the provider's limits.
//
//   return Outcome::ok(R"({"pages": 3})");
//   return Outcome::retry("connection_reset", "the server closed the connection");
//   return Outcome::throttled("rate limit", 30s);
#pragma once

#include "base/json.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

struct Outcome {
  // Spelled like the outcomes of millrace.settle_jobs. `rescheduled`: the job waits for what it has
  // asked for outside; nothing is charged, and nothing is said of the provider. `handback` is the
  // runtime's own: the job was not done and nobody is to blame.
  enum class Kind {
    ok,
    retry,
    throttled,
    blocked,
    permanent,
    partial,
    cancelled,
    rescheduled,
    handback
  };

  Kind kind = Kind::ok;
  std::string result_json;  // Empty means null.
  std::string error_json;   // An object with "error_type" and "message", or empty.
  std::optional<std::chrono::milliseconds> retry_after;
  std::string provider;
  std::optional<std::int64_t> actual_tokens;
  std::string parts_json;     // Of `partial`: what is done; the next delivery gets it as carry.
  bool crash = false;         // The job's own process died: counts towards poison.
  bool asked_nobody = false;  // The delivery never asked the provider of its type.
  std::string effects_json;   // {"jobs": [...], "events": [...]}, committed with the fence.

  static Outcome ok(std::string result = {});
  static Outcome ok_value(const json::Value& result);
  static Outcome retry(std::string_view error_type, std::string_view message,
                       std::optional<std::chrono::milliseconds> after = std::nullopt);
  static Outcome throttled(std::string_view message,
                           std::optional<std::chrono::milliseconds> after = std::nullopt);
  static Outcome blocked(std::string_view provider, std::string_view message);
  // For reasons of our own: the provider, if the job has one, was not asked, and nothing is said of
  // it (the error has "asked": false, by which the database knows). `not_here`: this worker cannot,
  // another may; `held_up`: not now.
  static Outcome not_asked(Kind kind, std::string_view error_type, std::string_view message,
                           std::chrono::milliseconds after);
  static Outcome not_here(std::string_view provider, std::string_view message);
  static Outcome held_up(std::string_view message, std::chrono::milliseconds after);
  static Outcome permanent(std::string_view error_type, std::string_view message);
  static Outcome partial(std::string parts, std::string_view message);
  static Outcome cancelled(std::string_view reason);
  static Outcome rescheduled(std::string_view reason, std::chrono::milliseconds after);
  static Outcome handback(std::string_view reason);

  bool succeeded() const { return kind == Kind::ok || kind == Kind::partial; }
  // Nothing but success, so that the short way (complete_jobs) can record it.
  bool plain() const {
    return kind == Kind::ok && !actual_tokens && effects_json.empty() && !asked_nobody;
  }
};

std::string_view to_string(Outcome::Kind kind);
Result<Outcome::Kind> parse_outcome_kind(std::string_view text);

// {"error_type": ..., "message": ...}; text that PostgreSQL cannot store is made storable.
std::string error_json(std::string_view error_type, std::string_view message);

// Text that may go into jsonb: valid UTF-8 without NUL, at most `max_bytes` of it.
std::string storable_text(std::string_view text, std::size_t max_bytes = 8 * 1024);

// A statement that a handler wants in the transaction that settles its job. $1, $2 ... in text
// form.
struct SqlStatement {
  std::string sql;
  std::vector<std::optional<std::string>> params;
};

}  // namespace millrace
