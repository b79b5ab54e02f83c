// Problem: an error answer of the server itself, before the callback that words it (RFC 9457).
#pragma once

#include <functional>
#include <string_view>

namespace millrace::http {

class ResponseWriter;

struct Problem {
  int status = 500;
  std::string_view detail;  // One sentence for people; nothing that the client sent, no secret.
  std::string_view correlation_id;
};

// Replies with the problem. Headers that belong to the status (Allow, Retry-After) are set already.
using ProblemReply = std::function<void(const Problem& problem, ResponseWriter& response)>;

// application/problem+json with type, title, status, detail and cid.
void reply_problem(const Problem& problem, ResponseWriter& response);

}  // namespace millrace::http
