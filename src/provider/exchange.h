// exchange: one request to a service and its whole answer, within four timeouts and a size.
//
// Flow: a client makes the request, exchange() sends it and reads the answer, with any status. No
// answer, or a good one that was cut, is a CallFailure by the transport's table below; a refusal
// whose body was cut is still that refusal. Redirects are answers, certificates are checked,
// nothing is sent twice (http/client.h).
//
//   nothing was sent (refused, no name, no TLS, too slow to connect)   retry
//   sent, and the connection ended or the time was up                  unknown, maybe charged
//   the answer is longer than its bound                                permanent, maybe charged
//   the URL or a header cannot be sent, or the body is too long        permanent
//   we cancelled                                                       cancelled
#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "http/client.h"
#include "http/message.h"
#include "provider/call.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::provider {

struct CallTimeouts {
  std::chrono::milliseconds connect{10'000};
  // From the start to the end of the answer's headers: sending and the model's thinking are in it.
  std::chrono::milliseconds first_byte{120'000};
  std::chrono::milliseconds idle{30'000};  // Between two pieces of the answer.
  std::chrono::milliseconds total{180'000};
};

struct ExchangeOptions {
  CallTimeouts timeouts = {};
  std::chrono::milliseconds call_timeout{0};  // Of this call: shortens `total`; 0 does not.
  std::size_t request_max_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t response_max_bytes = std::size_t{16} * 1024 * 1024;
};

// `client` outlives the call. Of `request` the timeouts and sizes are set here.
awaitable<Answer<http::Response>> exchange(http::Client* client, http::Request request,
                                           ExchangeOptions options, CancelToken cancel);

// What an error of the HTTP client means.
CallFailure transport_failure(const Error& error);

// invalid_argument unless `url` is https, or http that never leaves this machine, or `allow_http`.
Result<void> check_base_url(std::string_view key, const std::string& url, bool allow_http);
Result<void> check_timeouts(std::string_view key, const CallTimeouts& timeouts);

}  // namespace millrace::provider
