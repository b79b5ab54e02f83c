#include "base/log.h"

#include "base/json.h"

#include <fmt/chrono.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <unistd.h>

namespace millrace {
namespace {

std::string timestamp(Clock::Wall wall) {
  const auto ms = std::chrono::time_point_cast<std::chrono::milliseconds>(wall);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(ms);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (ms - seconds).count());
}

std::string json_value(const LogValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        if constexpr (std::is_same_v<T, std::int64_t>) return fmt::format("{}", v);
        if constexpr (std::is_same_v<T, double>) return json_number(v);
        if constexpr (std::is_same_v<T, std::string>) return json_quote(v);
      },
      value.get());
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == 0x7f) return true;
  }
  return false;
}

// As JSON, but words stay plain: readable, and control characters cannot reach the terminal.
std::string text_value(const LogValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.get()); text && !needs_quotes(*text)) {
    return *text;
  }
  return json_value(value);
}

void write_stderr(std::string_view line) {
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {  // Usually one write, so that lines of several processes do not mix.
    const auto written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // Nowhere left to complain.
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
      return "error";
  }
  return "unknown";
}

Result<LogLevel> parse_log_level(std::string_view text) {
  for (const auto level : {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error}) {
    if (text == to_string(level)) return level;
  }
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("'{}' is not a log level (debug, info, warn, error)", text.substr(0, 40)));
}

struct Logger::Output {
  const Clock* clock = nullptr;  // Null: silent.
  Sink sink;
  Format format = Format::json;
  std::atomic<LogLevel> level{LogLevel::info};
  std::mutex mutex;  // Guards calls of sink.
};

Logger::Logger(std::shared_ptr<Output> output, std::vector<LogField> fields)
    : output_(std::move(output)), fields_(std::move(fields)) {}

Logger::Logger(const Clock& clock, Sink sink, Format format, LogLevel level)
    : output_(std::make_shared<Output>()) {
  output_->clock = &clock;
  output_->sink = std::move(sink);
  output_->format = format;
  output_->level = level;
}

Logger Logger::to_stderr(const Clock& clock, LogLevel level) {
  return to_stderr(clock, ::isatty(STDERR_FILENO) == 1 ? Format::text : Format::json, level);
}

Logger Logger::to_stderr(const Clock& clock, Format format, LogLevel level) {
  return {clock, write_stderr, format, level};
}

Logger Logger::silent() { return {std::make_shared<Output>(), {}}; }

bool Logger::enabled(LogLevel level) const {
  return output_->clock != nullptr && level >= output_->level.load(std::memory_order_relaxed);
}

void Logger::set_level(LogLevel level) { output_->level = level; }

Logger Logger::with(std::vector<LogField> fields) const {
  auto all = fields_;
  for (auto& field : fields) all.push_back(std::move(field));
  return {output_, std::move(all)};
}

void Logger::log(LogLevel level, std::string_view event,
                 std::initializer_list<LogField> fields) const {
  write(level, event, fields.begin(), fields.size());
}

void Logger::log(LogLevel level, std::string_view event,
                 const std::vector<LogField>& fields) const {
  write(level, event, fields.data(), fields.size());
}

void Logger::debug(std::string_view event, std::initializer_list<LogField> fields) const {
  log(LogLevel::debug, event, fields);
}
void Logger::info(std::string_view event, std::initializer_list<LogField> fields) const {
  log(LogLevel::info, event, fields);
}
void Logger::warn(std::string_view event, std::initializer_list<LogField> fields) const {
  log(LogLevel::warn, event, fields);
}
void Logger::error(std::string_view event, std::initializer_list<LogField> fields) const {
  log(LogLevel::error, event, fields);
}

void Logger::write(LogLevel level, std::string_view event, const LogField* fields,
                   std::size_t count) const {
  if (!enabled(level)) return;
  const auto time = timestamp(output_->clock->wall());
  std::string line;
  const auto each_field = [&](const auto& append) {
    for (const auto& field : fields_) append(field);
    for (std::size_t i = 0; i < count; ++i) append(fields[i]);
  };
  if (output_->format == Format::json) {
    line = fmt::format(R"({{"time":"{}","level":"{}","event":{})", time, to_string(level),
                       json_quote(event));
    each_field([&](const LogField& field) {
      line += fmt::format(",{}:{}", json_quote(field.key), json_value(field.value));
    });
    line += '}';
  } else {
    line = fmt::format("{} {:<5} {}", time.substr(11, 12), to_string(level), text_value(event));
    each_field([&](const LogField& field) {
      line += fmt::format(" {}={}", field.key, text_value(field.value));
    });
  }
  const std::lock_guard lock(output_->mutex);
  output_->sink(line);
}

}  // namespace millrace
