#include "store/api/values.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace millrace::store {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const auto byte : bytes) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0x0FU];
  }
  return out;
}

std::optional<std::vector<std::uint8_t>> read_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> out;
  out.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]);
    const int low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return out;
}

std::string bytea(std::span<const std::uint8_t> bytes) { return "\\x" + hex(bytes); }

std::string bytea(std::string_view bytes) {
  return bytea(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

Result<std::vector<std::uint8_t>> read_bytea(std::string_view text) {
  if (text.starts_with("\\x")) {
    if (auto bytes = read_hex(text.substr(2))) return *std::move(bytes);
  }
  return fail(ErrorKind::internal, "the database sent bytes in a form that is not known");
}

Result<std::string> read_bytea_text(std::string_view text) {
  MR_TRY(const auto bytes, read_bytea(text));
  return std::string(bytes.begin(), bytes.end());
}

std::string bytea_array(std::span<const std::vector<std::uint8_t>> values) {
  std::string out = "{";
  for (bool first = true; const auto& value : values) {
    if (!first) out += ',';
    first = false;
    // In an array literal a backslash stands before what is to be taken as it is.
    out += "\"\\\\x" + hex(value) + '"';
  }
  return out + '}';
}

Clock::Wall wall_from_micros(std::int64_t micros) {
  using Reach = Clock::Wall::duration;
  constexpr auto kFirst = std::chrono::ceil<std::chrono::microseconds>(Reach::min());
  constexpr auto kLast = std::chrono::floor<std::chrono::microseconds>(Reach::max());
  const auto within = std::clamp(std::chrono::microseconds(micros), kFirst, kLast);
  return Clock::Wall(std::chrono::duration_cast<Reach>(within));
}

std::string iso_time(Clock::Wall time) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(micros);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (micros - seconds).count());
}

}  // namespace millrace::store
