// What the command line says about a job to enqueue, as the JSON that millrace.enqueue_jobs takes.
// Shared by enqueue, cron set and batch create.
#pragma once

#include "app/cli/command.h"
#include "base/json.h"
#include "base/result.h"
#include "base/uuid.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct JobSpecOptions {
  std::string type;
  std::string payload;
  std::optional<std::string> queue;
  std::optional<std::int64_t> priority;
  std::optional<std::string> delay;
  std::optional<std::string> at;
  std::optional<std::string> name;
  std::optional<std::string> dedupe;
  std::optional<std::string> dedupe_keep;
  std::optional<std::string> serial;
  std::optional<std::string> concurrency;
  std::optional<std::string> idempotency;
  std::optional<std::string> correlation;
  std::optional<std::string> owner;
  std::optional<std::string> batch;
  std::optional<std::string> id;
  std::vector<std::string> after;
  std::optional<std::string> after_mode;
  std::optional<std::string> after_failure;
  std::optional<std::int64_t> max_attempts;
  std::optional<std::string> timeout;
  std::optional<std::string> start_within;
};

// Declares the options that make sense for any job, and with `all` those of one that runs once.
void add_job_spec_options(Command& command, JobSpecOptions& options, bool all);

// Without the payload when `payload` is empty: the database then says what it wants.
Result<json::Object> to_job_spec(const JobSpecOptions& options);

// JSON itself, @FILE, or - for standard input; an object within the size limit.
Result<json::Object> read_json_argument(std::string_view what, const std::string& text);
// The whole of standard input or of a file, up to `max_bytes`.
Result<std::string> read_text_argument(const std::string& text, std::size_t max_bytes);

Result<double> parse_seconds(std::string_view option, const std::string& text);
// "key=value" pairs as a JSON object: numbers, true, false and null as such, the rest as text.
Result<json::Object> parse_assignments(const std::vector<std::string>& pairs);

template <class SomeId>
Result<SomeId> parse_id(std::string_view what, const std::string& text) {
  auto id = SomeId::parse(text);
  if (!id) {
    return fail(ErrorKind::invalid_argument, std::string(what) + ": '" + text + "' is not a uuid");
  }
  return *id;
}

}  // namespace millrace::app
