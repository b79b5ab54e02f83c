// HttpLoad: many connections to one HTTP server, each asking again as soon as it was answered.
//
// The same program measures Millrace and other servers: plain keep-alive HTTP/1.1 over loopback,
// requests whose bytes are made beforehand, one thread that shares the machine with what it
// measures and takes as little of it as it can. Every answer is looked at: its status, its length,
// and that it speaks of the job that was asked for. Anything else ends the measurement with what
// came.
#pragma once

#include "app/context.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

enum class HttpRequests {
  status,   // GET /api/v1/jobs/{id} → 200, naming the id.
  enqueue,  // POST /api/v1/jobs → 201, naming a job_id.
};

Result<HttpRequests> parse_http_requests(std::string_view text);

struct HttpLoadOptions {
  std::string url;  // http://127.0.0.1:8080
  HttpRequests requests = HttpRequests::status;
  std::vector<std::string> ids = {};  // Asked for in turn.
  std::string token = {};
  std::string job_type = "bench";
  std::string queue = "bench";
  int connections = 64;
  double warm_up_seconds = 1;  // Not measured: plans, caches, compilers of others.
  double seconds = 3;
  std::int64_t payload_bytes = 110;
};

struct HttpLoadResult {
  std::int64_t answers = 0;
  double seconds = 0;
  double cpu_seconds = 0;          // Of this side.
  std::vector<double> times = {};  // Milliseconds from the request to its whole answer.
  double rate() const { return seconds > 0 ? static_cast<double>(answers) / seconds : 0; }
};

Result<HttpLoadResult> run_http_load(const HttpLoadOptions& options, const Clock& clock);

// One answer at the beginning of what was received; nothing while it is not complete. An error for
// what is no answer of known length. No I/O.
struct HttpAnswer {
  int status = 0;
  std::string_view body;
  std::size_t size = 0;  // With its head.
};
Result<std::optional<HttpAnswer>> read_http_answer(std::string_view received);

// `millrace bench http --url`: the load against a server that runs already; prints JSON.
struct HttpCommand {
  HttpLoadOptions load;
  std::filesystem::path ids;  // A file with an id on each line.
};
Result<int> run_http_command(Context& context, HttpCommand command);

}  // namespace millrace::app
