// Request and Response of the outbound client, as plain values; bodies too large to hold come from
// a BodySource.
#pragma once

#include "base/task.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::http {

using Header = std::pair<std::string, std::string>;

// Header names are the same in upper and lower case.
bool same_name(std::string_view a, std::string_view b);

// Gives the body of a request piece by piece, as fast as the network takes it. Used by one request
// at a time. A source that waits holds up its request: cancelling takes effect when it returns.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Fills the front of `buffer` and says how much of it, 0 when there is no more. An error ends the
  // request and is what send() answers.
  virtual Task<std::size_t> read(std::span<std::byte> buffer) = 0;
};

struct Request {
  std::string method = "GET";
  std::string url;  // http or https. Only scheme, host and port ever get into error messages.
  std::vector<Header> headers;
  std::string body;
  // In place of `body`: exactly body_source_bytes are taken from it. Shared because a Request is a
  // value; a copy of it cannot be sent while the first is under way.
  std::shared_ptr<BodySource> body_source = {};
  std::uint64_t body_source_bytes = 0;
  std::chrono::milliseconds connect_timeout{10'000};  // Name look-up, TCP and TLS together.
  // From send() to the last byte of the answer; from open() to the end of its headers.
  std::chrono::milliseconds total_timeout{60'000};
  std::chrono::milliseconds idle_timeout{60'000};  // After open(): for each piece of the body.
  std::size_t response_max_bytes = 1024 * 1024;    // Of the body, for send().
  std::string service = {};  // What the client's watch counts it as; empty: not at all.
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
