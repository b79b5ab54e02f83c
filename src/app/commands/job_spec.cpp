#include "app/commands/job_spec.h"

#include "base/duration.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cstdio>

namespace millrace::app {
namespace {

// The database refuses more than 256 KiB; a little more is read so that it can say so itself.
constexpr std::size_t kPayloadMaxBytes = 16 * 1024 * 1024;

}  // namespace

void add_job_spec_options(Command& command, JobSpecOptions& options, bool all) {
  command.option("--payload", "JSON|@FILE|-", options.payload, "Payload, a JSON object");
  command.option("--queue", "NAME", options.queue, "Queue (default: the job type's)");
  command.option("--priority", "N", options.priority, "0 to 1000, higher first");
  command.option("--name", "TEXT", options.name, "Name for people");
  command.option("--serial", "KEY", options.serial, "Jobs of one key run one after the other");
  command.option("--concurrency-key", "KEY", options.concurrency,
                 "Jobs of one key share the queue's key_concurrency_max");
  command.option("--max-attempts", "N", options.max_attempts, "Instead of the queue's");
  command.option("--timeout", "TIME", options.timeout, "Longest run, such as 30s");
  command.option("--start-within", "TIME", options.start_within,
                 "Cancel it when it has not started by then");
  command.option("--correlation-id", "TEXT", options.correlation, "Ties log lines together");
  command.option("--owner", "UUID", options.owner, "User the job belongs to");
  if (!all) return;
  command.option("--delay", "TIME", options.delay, "Due after this time, such as 5m");
  command.option("--at", "TIMESTAMP", options.at, "Due then, such as 2030-01-01T08:00:00Z");
  command.option("--dedupe", "KEY", options.dedupe, "At most one live job of the type and key");
  command.option("--dedupe-keep", "TIME", options.dedupe_keep, "Keep the key this long afterwards");
  command.option("--idempotency-key", "KEY", options.idempotency,
                 "Repeat of the same request finds its job");
  command.option("--after", "ID", options.after, "Run after this job; repeatable");
  command.option("--after-mode", "MODE", options.after_mode, "Wait for all of them or for any")
      .choices({"all", "any"});
  command.option("--after-failure", "WHAT", options.after_failure, "When one of them failed")
      .choices({"cancel", "run"});
  command.option("--batch", "ID", options.batch, "Add it to this open batch");
  command.option("--id", "UUID", options.id, "Use this job id");
}

Result<std::string> read_text_argument(const std::string& text, std::size_t max_bytes) {
  if (text != "-") return read_file(text, max_bytes);
  std::string out;
  char buffer[65536];
  while (const auto got = std::fread(buffer, 1, sizeof buffer, stdin)) {
    out.append(buffer, got);
    if (out.size() > max_bytes) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("standard input has more than {} bytes", max_bytes));
    }
  }
  return out;
}

Result<json::Object> read_json_argument(std::string_view what, const std::string& text) {
  std::string content = text;
  if (text == "-" || text.starts_with('@')) {
    auto read = read_text_argument(text == "-" ? text : text.substr(1), kPayloadMaxBytes);
    if (!read) {
      auto error = read.error();
      error.kind = ErrorKind::invalid_argument;
      return fail_with_context(what, std::move(error));
    }
    content = std::move(*read);
  }
  auto parsed = parse_json_object(content, {.max_bytes = kPayloadMaxBytes});
  if (!parsed) return fail_with_context(what, parsed.error());
  return std::move(*parsed);
}

Result<double> parse_seconds(std::string_view option, const std::string& text) {
  if (text.starts_with('-')) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: '{}' is negative; a time such as 30s is wanted", option, text));
  }
  auto time = parse_duration(text);
  if (!time) return fail_with_context(option, time.error());
  return static_cast<double>(time->count()) / 1000;
}

Result<json::Object> to_job_spec(const JobSpecOptions& options) {
  json::Object spec;
  spec["job_type"] = options.type;
  if (!options.payload.empty()) {
    MR_TRY(spec["payload"], read_json_argument("--payload", options.payload));
  }
  const auto text = [&](const char* key, const std::optional<std::string>& value) {
    if (value) spec[key] = *value;
  };
  const auto seconds = [&](const char* key, std::string_view option,
                           const std::optional<std::string>& value) -> Result<void> {
    if (!value) return {};
    MR_TRY(spec[key], parse_seconds(option, *value));
    return {};
  };
  text("queue", options.queue);
  if (options.priority) spec["priority"] = *options.priority;
  text("job_name", options.name);
  text("scheduled_at", options.at);
  text("dedupe_key", options.dedupe);
  text("serial_key", options.serial);
  text("concurrency_key", options.concurrency);
  text("idempotency_key", options.idempotency);
  text("correlation_id", options.correlation);
  text("owner_id", options.owner);
  text("batch_id", options.batch);
  text("id", options.id);
  if (options.max_attempts) spec["max_attempts"] = *options.max_attempts;
  MR_TRY_VOID(seconds("delay_seconds", "--delay", options.delay));
  MR_TRY_VOID(seconds("dedupe_keep_seconds", "--dedupe-keep", options.dedupe_keep));
  MR_TRY_VOID(seconds("run_timeout_seconds", "--timeout", options.timeout));
  MR_TRY_VOID(seconds("start_within_seconds", "--start-within", options.start_within));
  if (!options.after.empty()) {
    json::Array jobs;
    for (const auto& id : options.after) {
      MR_TRY(const auto parsed, parse_id<JobId>("--after", id));
      jobs.emplace_back(parsed.to_string());
    }
    json::Object after{{"jobs", std::move(jobs)}};
    if (options.after_mode) after["mode"] = *options.after_mode;
    if (options.after_failure) after["on_failure"] = *options.after_failure;
    spec["after"] = std::move(after);
  }
  return spec;
}

Result<json::Object> parse_assignments(const std::vector<std::string>& pairs) {
  json::Object values;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == pair.npos || equals == 0) {
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not KEY=VALUE", pair));
    }
    const auto key = pair.substr(0, equals);
    const auto text = pair.substr(equals + 1);
    const auto parsed = parse_json(text);
    const bool literal = parsed && (parsed->is_number() || parsed->is_bool() || parsed->is_null());
    if (values.contains(key)) {
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is given twice", key));
    }
    values[key] = literal ? *parsed : json::Value(text);
  }
  return values;
}

}  // namespace millrace::app
