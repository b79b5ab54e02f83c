// What an HTTP answer, or the lack of one, means for a job. One table; a test per row.
#pragma once

#include "base/result.h"
#include "http/message.h"
#include "model/outcome.h"

#include <chrono>

namespace millrace::worker {

inline constexpr std::size_t kHttpResultMaxBytes = 256 * 1024;

enum class StatusClass {
  ok,         // 2xx
  throttled,  // 429, 529; 503 only when it says for how long
  retry,      // 408, 409, 425, other 5xx
  permanent,  // Other 4xx; 3xx, because redirects are not followed
};

StatusClass classify_status(int status, bool has_retry_after);

// `result_max_bytes`: what the answer may have.
Outcome http_outcome(const http::Response& response, std::chrono::system_clock::time_point now,
                     std::size_t result_max_bytes = kHttpResultMaxBytes);
Outcome http_outcome(const Error& error);

}  // namespace millrace::worker
