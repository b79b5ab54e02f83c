#include "provider/rate_state.h"

#include "http/message.h"
#include "http/retry_after.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace millrace::provider {
namespace {

// Figures only: a minus, as some gateways send it, says nothing.
std::optional<std::uint64_t> count_of(std::optional<std::string_view> text) {
  if (!text || text->empty()) return std::nullopt;
  std::uint64_t count = 0;
  const auto [last, error] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (error != std::errc() || last != text->data() + text->size()) return std::nullopt;
  return count;
}

std::chrono::milliseconds hold_of(const RateBucket& bucket, std::uint64_t need) {
  using std::chrono::milliseconds;
  if (!bucket.remaining || !bucket.reset || *bucket.reset <= milliseconds::zero()) return {};
  const auto left = *bucket.remaining;
  const auto whole = std::min(*bucket.reset, kWaitMax);
  if (!bucket.limit || *bucket.limit <= left) return left == 0 ? whole : milliseconds();
  // More than the bucket holds there will never be.
  const auto wanted = std::min(need, *bucket.limit);
  if (wanted <= left) return {};
  const auto share = static_cast<double>(wanted - left) / static_cast<double>(*bucket.limit - left);
  return milliseconds(std::llround(std::ceil(static_cast<double>(whole.count()) * share)));
}

}  // namespace

RateState openai_rate_state(const http::Response& response) {
  const auto bucket = [&](std::string_view what) {
    RateBucket out;
    out.limit = count_of(response.header(fmt::format("x-ratelimit-limit-{}", what)));
    out.remaining = count_of(response.header(fmt::format("x-ratelimit-remaining-{}", what)));
    if (const auto reset = response.header(fmt::format("x-ratelimit-reset-{}", what))) {
      out.reset = parse_go_duration(*reset);
      if (!out.reset) out.reset = parse_seconds(*reset);
    }
    return out;
  };
  return {.requests = bucket("requests"), .tokens = bucket("tokens")};
}

RateState anthropic_rate_state(const http::Response& response, Wall now) {
  const auto bucket = [&](std::string_view what) {
    const auto name = [&](std::string_view part) {
      return fmt::format("anthropic-ratelimit-{}-{}", what, part);
    };
    RateBucket out;
    out.limit = count_of(response.header(name("limit")));
    out.remaining = count_of(response.header(name("remaining")));
    if (const auto reset = response.header(name("reset"))) {
      if (const auto instant = parse_rfc3339(*reset)) out.reset = wait_until(*instant, now);
    }
    return out;
  };
  return {.requests = bucket("requests"),
          .tokens = bucket("tokens"),
          .input_tokens = bucket("input-tokens"),
          .output_tokens = bucket("output-tokens")};
}

std::chrono::milliseconds hold_of(const RateState& rate, const Usage& next) {
  return std::max({hold_of(rate.requests, 1), hold_of(rate.tokens, next.total()),
                   hold_of(rate.input_tokens, next.input),
                   hold_of(rate.output_tokens, next.output)});
}

std::optional<std::chrono::milliseconds> retry_after_of(const http::Response& response, Wall now) {
  if (const auto ms = response.header("retry-after-ms")) {
    if (const auto wait = parse_milliseconds(*ms)) return wait;
  }
  const auto header = response.header("retry-after");
  if (!header) return std::nullopt;
  return http::parse_retry_after(*header, now);
}

}  // namespace millrace::provider
