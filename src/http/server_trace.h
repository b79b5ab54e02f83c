// The two ids that follow a request through systems: the W3C trace context and the correlation id.
//
// Both come from the client when they are well-formed and are made fresh otherwise; a malformed one
// is never repeated, neither in an answer nor in a log.
#pragma once

#include "base/random.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::http {

struct TraceContext {
  std::array<char, 32> trace_id{};   // Lower-case hexadecimal, never all zeros.
  std::array<char, 16> parent_id{};  // The caller's span; zero bytes when the trace begins here.
  std::array<char, 16> span_id{};    // This request's own span.
  std::uint8_t flags = 0;

  bool sampled() const { return (flags & 1U) != 0; }
  void set_sampled(bool wanted) {
    flags = static_cast<std::uint8_t>(wanted ? flags | 1U : flags & ~1U);
  }
  bool from_caller() const { return parent_id[0] != '\0'; }
  // "00-<trace_id>-<span_id>-<flags>": what calls made on behalf of this request send on.
  std::string traceparent() const;
};

// A valid `traceparent` header; of versions after 00 the fields that 00 has. span_id stays unset.
std::optional<TraceContext> parse_traceparent(std::string_view text);

// The caller's context with a span of our own, or a trace that begins here.
TraceContext make_trace(std::optional<std::string_view> traceparent, Random& random);

inline constexpr std::size_t kCorrelationIdMaxBytes = 128;

// 1 to 128 letters, digits and -._:~+/=@
bool is_correlation_id(std::string_view text);

using CorrelationId = std::array<char, 36>;

// A UUID as text.
CorrelationId make_correlation_id(Random& random);

}  // namespace millrace::http
