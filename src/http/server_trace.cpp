#include "http/server_trace.h"

#include <algorithm>
#include <span>

namespace millrace::http {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool all_zeros(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

std::uint8_t hex_value(char c) { return static_cast<std::uint8_t>(kDigits.find(c)); }

void write_hex(std::uint64_t value, std::span<char> out) {
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit, value >>= 4U) {
    *digit = kDigits[value & 0xFU];
  }
}

std::uint64_t not_zero(Random& random) {
  for (;;) {
    if (const auto value = random.next(); value != 0) return value;
  }
}

}  // namespace

std::string TraceContext::traceparent() const {
  std::string text = "00-";
  text.append(trace_id.data(), trace_id.size()).append("-");
  text.append(span_id.data(), span_id.size()).append("-");
  text.push_back(kDigits[flags >> 4U]);
  text.push_back(kDigits[flags & 0xFU]);
  return text;
}

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  constexpr std::size_t kSize = 55;  // Of version 00; later ones may only add fields.
  if (text.size() < kSize) return std::nullopt;
  const auto version = text.substr(0, 2);
  const auto trace_id = text.substr(3, 32);
  const auto parent_id = text.substr(36, 16);
  const auto flags = text.substr(53, 2);
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  if (!is_lower_hex(version) || version == "ff") return std::nullopt;
  if (text.size() > kSize && (version == "00" || text[kSize] != '-')) return std::nullopt;
  if (!is_lower_hex(trace_id) || all_zeros(trace_id)) return std::nullopt;
  if (!is_lower_hex(parent_id) || all_zeros(parent_id)) return std::nullopt;
  if (!is_lower_hex(flags)) return std::nullopt;
  TraceContext context;
  std::ranges::copy(trace_id, context.trace_id.begin());
  std::ranges::copy(parent_id, context.parent_id.begin());
  context.flags = static_cast<std::uint8_t>(hex_value(flags[0]) << 4U | hex_value(flags[1]));
  return context;
}

TraceContext make_trace(std::optional<std::string_view> traceparent, Random& random) {
  auto context = traceparent ? parse_traceparent(*traceparent) : std::nullopt;
  if (!context) {
    context.emplace();
    const std::span<char> trace_id(context->trace_id);
    write_hex(not_zero(random), trace_id.first(16));
    write_hex(random.next(), trace_id.last(16));
  }
  write_hex(not_zero(random), context->span_id);
  return *context;
}

bool is_correlation_id(std::string_view text) {
  if (text.empty() || text.size() > kCorrelationIdMaxBytes) return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("-._:~+/=@").contains(c);
  });
}

CorrelationId make_correlation_id(Random& random) {
  const Uuid uuid = random.uuid();
  CorrelationId text;
  auto out = text.begin();
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *out++ = '-';
    *out++ = kDigits[uuid.bytes[i] >> 4U];
    *out++ = kDigits[uuid.bytes[i] & 0xFU];
  }
  return text;
}

}  // namespace millrace::http
