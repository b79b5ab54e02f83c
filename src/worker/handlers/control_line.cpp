#include "worker/handlers/control_line.h"

#include "base/json.h"

#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace millrace::worker {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr auto kRetryAfterMax = 24h;

LogLevel level_of(const json::Object& line) {
  const auto* level = line.if_contains("level");
  if (level == nullptr || !level->is_string()) return LogLevel::info;
  return parse_log_level(level->as_string()).value_or(LogLevel::info);
}

std::string text_of(const json::Object& line, const char* name) {
  const auto* value = line.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::optional<double> number_of(const json::Object& line, const char* name) {
  const auto* value = line.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

void take_progress(const json::Object& line, double percent, JobContext& context) {
  const auto* data = line.if_contains("data");
  context.progress(static_cast<int>(std::clamp(percent, 0.0, 100.0)), text_of(line, "message"),
                   data == nullptr ? std::string() : to_json(*data));
}

}  // namespace

void take_control_line(std::string_view line, JobContext& context, ExecNotes& notes) {
  const auto parsed = parse_json_object(line);
  if (!parsed.has_value()) {
    context.log(LogLevel::warn, "fd 3: " + parsed.error().message);
    return;
  }
  bool known = false;
  if (const auto percent = number_of(*parsed, "progress")) {
    take_progress(*parsed, *percent, context);
    known = true;
  }
  if (const auto text = text_of(*parsed, "log"); !text.empty()) {
    context.log(level_of(*parsed), text);
    known = true;
  }
  if (const auto seconds = number_of(*parsed, "retry_after")) {
    known = true;
    if (*seconds >= 0) {
      const auto limit = std::chrono::duration<double>(kRetryAfterMax).count();
      notes.retry_after = milliseconds(std::llround(std::min(*seconds, limit) * 1000));
    }
  }
  if (!known) context.log(LogLevel::warn, "fd 3: a line without progress, log or retry_after");
}

}  // namespace millrace::worker
