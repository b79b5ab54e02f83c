#include "side.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::test {

std::string_view to_string(Action action) {
  return std::ranges::find(kActions, action, &ActionName::action)->name;
}

std::optional<Action> parse_action(std::string_view name) {
  const auto* const at = std::ranges::find(kActions, name, &ActionName::name);
  if (at == kActions.end()) return std::nullopt;
  return at->action;
}

std::string rfc3339(Clock::Wall time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - days));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string go_duration(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms < 1'000) return fmt::format("{}ms", ms);
  std::string out;
  if (ms >= 3'600'000) out += fmt::format("{}h", ms / 3'600'000);
  if (ms >= 60'000) out += fmt::format("{}m", ms / 60'000 % 60);
  return out + fmt::format("{}s", static_cast<double>(ms % 60'000) / 1'000);
}

WireReply json_reply(int status, const json::Value& body) {
  return {
      .status = status, .headers = {{"Content-Type", "application/json"}}, .body = to_json(body)};
}

namespace {
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j <= bytes.size() ? kLetters[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  while (text.ends_with('=')) text.remove_suffix(1);
  std::array<int, 256> values;
  values.fill(-1);
  for (int i = 0; i < 64; ++i) values[static_cast<unsigned char>(kLetters[i])] = i;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const unsigned char c : text) {
    if (values[c] < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(values[c]);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

std::string member(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace millrace::test
