// ServerRequest: one request as its handler sees it.
//
// Flow: the connection fills it from the head and the router; the body is read by the handler, in
// pieces or whole, and never more of it than the route allows. Views point into the connection's
// buffers and hold until the handler returns. Threading: the connection's executor only.
#pragma once

#include "base/cancel.h"
#include "base/log.h"
#include "base/task.h"
#include "http/server_trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::http {

struct HeaderView {
  std::string_view name;
  std::string_view value;
};

struct PathParameter {
  std::string_view name;
  std::string_view value;  // Decoded. A single segment may hold a slash that was encoded.
};

using QueryParameter = std::pair<std::string, std::string>;

struct PeerAddress {
  std::string host;        // "203.0.113.7"; empty for a unix socket.
  std::uint16_t port = 0;  // 0 for a unix socket.
};

// What the connection does for the request it is serving.
class RequestSource {
 public:
  virtual std::optional<std::uint64_t> body_length() const = 0;
  virtual Task<std::size_t> read_body(std::span<char> into) = 0;
  virtual std::size_t read_ready(std::span<char> into) = 0;
  virtual CancelToken cancel_token() = 0;

 protected:
  ~RequestSource() = default;
};

class ServerRequest {
 public:
  std::string_view method;
  std::string_view path;   // As it was sent, checked by RequestPath, still percent-encoded.
  std::string_view query;  // Behind the ?, as it was sent.
  std::string_view host;   // From the target or Host; empty only in HTTP/1.0.
  std::string_view route;  // The pattern of the route: a bounded label for metrics.
  bool secure = false;     // Came over TLS, to us or to a trusted proxy.
  std::span<const HeaderView> headers;
  std::span<const PathParameter> parameters;
  const PeerAddress* peer = nullptr;  // The client, also behind trusted proxies.
  std::string_view correlation_id;
  TraceContext trace;
  RequestSource* source = nullptr;
  std::vector<LogField> log_fields;  // What a handler adds to the access log: tenant_id, job_id.

  // The first header of that name, upper or lower case.
  std::optional<std::string_view> header(std::string_view name) const;
  // The value of a parameter that the route's pattern names.
  std::string_view parameter(std::string_view name) const;
  // All of them in order, decoded. invalid_argument for a bad % or text that is not UTF-8.
  Result<std::vector<QueryParameter>> query_parameters() const;

  // As announced by Content-Length; nothing when the body is chunked.
  std::optional<std::uint64_t> body_length() const { return source->body_length(); }
  // Waits for at least one byte; 0 means the end. An error (the client went away, was too slow, or
  // sent too much) may simply be returned from the handler: the right status is then answered. A
  // client that asked for 100-continue gets it at the first call.
  Task<std::size_t> read_body(std::span<char> into) { return source->read_body(into); }
  // What has come already of a body of known length, without waiting; 0 when that is nothing.
  std::size_t read_ready(std::span<char> into) { return source->read_ready(into); }
  // The whole body; for documents as small as the route's limit says.
  Task<std::string> read_whole_body();

  // Cancelled when the client has gone, the request's time is up, or the server stops and cannot
  // wait (at once for a long-lived route). Asking for it starts the watch on the connection.
  CancelToken cancel_token() { return source->cancel_token(); }
};

// "a=1&b=%C3%BC&a=2" in order.
Result<std::vector<QueryParameter>> parse_query(std::string_view query);

}  // namespace millrace::http
