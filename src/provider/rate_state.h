// RateState: what a service says of its limits in the headers of an answer.
//
// Resets are durations from the receipt of the answer, whatever form they had on the wire. A reset
// is the time until the whole limit is free again, not the wait that the next call needs: it lowers
// or raises a shared bucket and is never taken for Retry-After.
#pragma once

#include "provider/wire_time.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::http {
struct Response;
}

namespace millrace::provider {

struct RateBucket {
  std::optional<std::uint64_t> limit = {};
  std::optional<std::uint64_t> remaining = {};
  std::optional<std::chrono::milliseconds> reset = {};
  friend bool operator==(const RateBucket&, const RateBucket&) = default;
};

struct RateState {
  RateBucket requests = {};
  RateBucket tokens = {};
  RateBucket input_tokens = {};   // Anthropic's only.
  RateBucket output_tokens = {};  // Anthropic's only.
  friend bool operator==(const RateState&, const RateState&) = default;
};

// x-ratelimit-{limit,remaining,reset}-{requests,tokens}: Go durations, or bare seconds.
RateState openai_rate_state(const http::Response& response);
// anthropic-ratelimit-{requests,…}-{limit,remaining,reset}: RFC 3339 instants.
RateState anthropic_rate_state(const http::Response& response, Wall now);

// retry-after-ms before retry-after; nothing when neither says anything usable.
std::optional<std::chrono::milliseconds> retry_after_of(const http::Response& response, Wall now);

}  // namespace millrace::provider
