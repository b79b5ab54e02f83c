// Cors: which pages of other origins may use the server, as a list (T-06).
//
// Flow: the connection asks with the request's Origin; an origin on the list gets the headers that
// let its page read the answer, any other gets none, and the browser refuses. Pure, immutable.
#pragma once

#include "base/result.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::http {

struct CorsOptions {
  std::vector<std::string> origins;  // "https://app.example"; "*" means every one.
  bool credentials = false;          // Cookies and HTTP authentication; not together with "*".
  std::vector<std::string> request_headers = {"authorization", "content-type", "idempotency-key",
                                              "last-event-id", "traceparent",  "x-correlation-id"};
  std::vector<std::string> response_headers = {"location", "retry-after", "ratelimit",
                                               "ratelimit-policy", "x-correlation-id"};
  std::chrono::seconds preflight_age{600};
};

class Cors {
 public:
  // invalid_argument names the origin or header that cannot be right.
  static Result<Cors> make(CorsOptions options);

  bool enabled() const { return any_ || !origins_.empty(); }
  // Header lines, each with its CRLF, for an answer to a request with this Origin; empty when no
  // origin is allowed at all, "Vary: Origin" alone when this one is not.
  std::string answer_lines(std::string_view origin) const;
  // The same for the answer to a preflight, where `allow` is the list of methods.
  std::string preflight_lines(std::string_view origin, std::string_view allow) const;

 private:
  Cors() = default;
  bool allows(std::string_view origin) const;
  std::string origin_lines(std::string_view origin) const;

  bool any_ = false;
  bool credentials_ = false;
  std::vector<std::string> origins_;
  std::string preflight_tail_;
  std::string expose_;
};

}  // namespace millrace::http
