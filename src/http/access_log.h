// AccessRecord: what is known of a request when it is over, for logs and metrics.
#pragma once

#include "base/log.h"
#include "http/server_request.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace millrace::http {

struct AccessRecord {
  std::string_view method;  // Empty when not even that could be read.
  std::string_view path;    // Without the query, which may hold tokens.
  std::string_view route;   // The pattern; empty when none was found. A bounded label, unlike path.
  bool private_path = false;  // The path holds what people wrote, such as the name of a file.
  int status = 0;             // 0: the client went away before an answer.
  std::uint64_t received_bytes = 0;      // Of the body.
  std::uint64_t sent_bytes = 0;          // Of the body.
  std::chrono::nanoseconds duration{0};  // From the complete head to the end of the answer.
  std::string_view correlation_id;
  const TraceContext* trace = nullptr;  // Null when no head could be read.
  const PeerAddress* peer = nullptr;
  bool cut = false;         // The answer was begun but did not reach its end.
  std::string_view reason;  // Why the server refused or cut it; empty when it did not.
  const std::vector<LogField>* fields = nullptr;  // What the handler added; may be null.
};

// Called on the connection's thread when the request is over; views hold during the call.
using AccessLog = std::function<void(const AccessRecord& record)>;

// One line "http_request": info, or warn for a status of 500 and above.
void log_access(const Logger& log, const AccessRecord& record);

}  // namespace millrace::http
