// check_request: refuses a request before anything is sent, and takes its URL apart.
#pragma once

#include "base/result.h"
#include "http/message.h"

#include <string>

namespace millrace::http {

// "https://host:8443", for messages, or invalid_argument naming the field and the rule. Header
// names and methods must be tokens, header values must not hold control characters (CR and LF would
// start another header), and headers that frame the message belong to the client.
Result<std::string> check_request(const Request& request);

}  // namespace millrace::http
