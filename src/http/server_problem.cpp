#include "http/server_problem.h"

#include "base/json.h"
#include "http/response.h"

#include <fmt/format.h>

namespace millrace::http {

void reply_problem(const Problem& problem, ResponseWriter& response) {
  const auto title = reason_phrase(problem.status);
  response.reply(
      problem.status, "application/problem+json",
      fmt::format(R"({{"type":"about:blank","title":{},"status":{},"detail":{},"cid":{}}})",
                  json_quote(title), problem.status, json_quote(problem.detail),
                  json_quote(problem.correlation_id)));
}

}  // namespace millrace::http
