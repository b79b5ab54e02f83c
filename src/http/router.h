// Router: a table of routes, compiled once; method and path in, route and parameters out.
//
// Patterns: "/api/v1/jobs/{id}" takes one segment, "/files/{path...}" all that are left (at least
// one). At every segment a literal is tried before {name}, and that before {name...}; the first
// pattern whose whole shape fits decides, and if it has no such method the answer is 405. HEAD is
// served by GET unless it has a route of its own. Immutable and shared by all threads; routes() is
// the table from which documents about the API are generated.
#pragma once

#include "base/task.h"
#include "http/router_path.h"
#include "http/server_request.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::http {

class ResponseWriter;

// Answers through the writer, by a reply or a stream. An error that it returns is turned into an
// answer by ServerOptions::on_error when nothing has been answered yet.
using Handler = std::function<Task<void>(ServerRequest& request, ResponseWriter& response)>;

struct RouteLimits {
  std::uint64_t body_max_bytes = 1024 * 1024;
  std::optional<std::chrono::milliseconds> time_max = {};  // Else ServerLimits::request_time_max.
  bool length_required = false;  // 411 for a body that does not announce its length.
  // Streams and long polls: no memory but the head is kept while the handler waits, and the request
  // is cancelled at once when the server stops.
  bool long_lived = false;
};

struct Route {
  std::string method;   // GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.
  std::string pattern;  // "/api/v1/jobs/{id}"
  Handler handler;
  RouteLimits limits = {};
  // Its path holds what people wrote and is kept out of logs. {name...} always does.
  bool private_path = false;
};

inline constexpr std::size_t kPathParametersMax = 8;

struct RouteMatch {
  const Route* route = nullptr;  // Nothing: 404 without `allow`, 405 with it, 400 with `fault`.
  std::string_view allow;        // "GET, HEAD, OPTIONS": of the path, whatever its method.
  std::string_view fault;        // What is wrong with the path.
  // One of the routes at this path has a private one: also when the method or the path is refused.
  bool private_path = false;
  std::array<PathParameter, kPathParametersMax> parameters;
  std::size_t parameter_count = 0;
};

class Router {
 public:
  // invalid_argument names the route that is malformed or the two that cannot be told apart.
  static Result<Router> make(std::vector<Route> routes);
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;
  ~Router();

  // Parameters point into `path` and this object.
  RouteMatch find(std::string_view method, const RequestPath& path) const;

  std::span<const Route> routes() const;
  // Of all routes together, for OPTIONS *.
  std::string_view allow_all() const;

 private:
  struct Table;
  explicit Router(std::unique_ptr<Table> table);
  std::unique_ptr<Table> table_;
};

}  // namespace millrace::http
