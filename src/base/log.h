// Logger: one event per line on stderr, JSON for machines or readable text on a terminal.
//
// A line names an event and carries fields: log.info("job_settled", {{"job_id", id}, {"ms", 12}}).
// with() gives a logger that adds fields to every line (cid, job_id, tenant_id). A Logger is a
// cheap handle and is thread-safe; main() makes one and hands it down as Logger&. There is no
// global logger.
#pragma once

#include "base/clock.h"
#include "base/uuid.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace millrace {

enum class LogLevel { debug, info, warn, error };

std::string_view to_string(LogLevel level);
Result<LogLevel> parse_log_level(std::string_view text);

class LogValue {
 public:
  LogValue(bool value) : value_(value) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogValue(T value) : value_(static_cast<std::int64_t>(value)) {}
  LogValue(double value) : value_(value) {}
  LogValue(std::string value) : value_(std::move(value)) {}
  LogValue(std::string_view value) : value_(std::string(value)) {}
  LogValue(const char* value) : value_(std::string(value)) {}
  LogValue(const Uuid& value) : value_(value.to_string()) {}
  template <class Tag>
  LogValue(const Id<Tag>& value) : value_(value.to_string()) {}
  template <class Rep, class Period>
  LogValue(std::chrono::duration<Rep, Period> value)
      : value_(std::chrono::duration<double, std::milli>(value).count()) {}  // Milliseconds.

  const std::variant<bool, std::int64_t, double, std::string>& get() const { return value_; }

 private:
  std::variant<bool, std::int64_t, double, std::string> value_;
};

struct LogField {
  std::string key;
  LogValue value;
};

class Logger {
 public:
  enum class Format { json, text };
  // Gets one finished line without its newline; called by one thread at a time.
  using Sink = std::function<void(std::string_view line)>;

  // `clock` gives the time stamps and must outlive the logger and all its copies.
  Logger(const Clock& clock, Sink sink, Format format, LogLevel level = LogLevel::info);

  // Standard error: text when it is a terminal, else JSON.
  static Logger to_stderr(const Clock& clock, LogLevel level = LogLevel::info);
  static Logger to_stderr(const Clock& clock, Format format, LogLevel level);
  static Logger silent();

  void log(LogLevel level, std::string_view event,
           std::initializer_list<LogField> fields = {}) const;
  void log(LogLevel level, std::string_view event, const std::vector<LogField>& fields) const;
  void debug(std::string_view event, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view event, std::initializer_list<LogField> fields = {}) const;
  void warn(std::string_view event, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view event, std::initializer_list<LogField> fields = {}) const;

  Logger with(std::vector<LogField> fields) const;
  bool enabled(LogLevel level) const;
  void set_level(LogLevel level);  // For this logger and all that share its output.

 private:
  struct Output;
  Logger(std::shared_ptr<Output> output, std::vector<LogField> fields);
  void write(LogLevel level, std::string_view event, const LogField* fields,
             std::size_t count) const;

  std::shared_ptr<Output> output_;  // Shared by all copies: they write to one place.
  std::vector<LogField> fields_;
};

}  // namespace millrace
