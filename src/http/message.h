// Request and Response of the outbound client, as plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::http {

using Header = std::pair<std::string, std::string>;

// Header names are the same in upper and lower case.
bool same_name(std::string_view a, std::string_view b);

struct Request {
  std::string method = "GET";
  std::string url;  // http or https. Only scheme, host and port ever get into error messages.
  std::vector<Header> headers;
  std::string body;
  std::chrono::milliseconds connect_timeout{10'000};  // Name look-up, TCP and TLS together.
  std::chrono::milliseconds total_timeout{60'000};    // From send() to the last byte of the answer.
  std::size_t response_max_bytes = 1024 * 1024;       // Of the body.
};

struct Response {
  int status = 0;  // Any number from 200 to 599 and beyond: servers invent some.
  std::vector<Header> headers;
  std::string body;
  bool body_truncated = false;  // It was longer than response_max_bytes; reading stopped there.

  // The first header of that name, upper or lower case.
  std::optional<std::string_view> header(std::string_view name) const;
};

}  // namespace millrace::http
