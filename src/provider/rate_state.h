// RateState: what a service says of its limits in the headers of an answer.
//
// Resets are durations from the receipt of the answer, whatever form they had on the wire. A reset
// is the time until the whole limit is free again, not the wait that the next call needs: hold_of()
// computes that, and everybody who shares the limit waits so long, as after a Retry-After.
#pragma once

#include "provider/usage.h"
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

// How long the service would refuse a call that takes as much as this one: the longest of its
// buckets that have less left. They fill evenly, so of the time until one is full again only that
// share counts which fills up what is missing; all of it where nothing is left and nobody says how
// large the bucket is. Zero: it would not refuse, or says nothing that can be believed. At most
// kWaitMax.
std::chrono::milliseconds hold_of(const RateState& rate, const Usage& next);

// retry-after-ms before retry-after; nothing when neither says anything usable.
std::optional<std::chrono::milliseconds> retry_after_of(const http::Response& response, Wall now);

}  // namespace millrace::provider
