// The OpenAPI 3.1 document, made of the operation table that serves the requests.
#pragma once

#include "api/operation.h"
#include "base/json.h"

#include <string>
#include <vector>

namespace millrace::api {

struct ApiInfo {
  std::string title = "Millrace";
  std::string version;
  std::string description =
      "Durable jobs and document pipelines on PostgreSQL. Every answer carries x-correlation-id; "
      "errors are problem details (RFC 9457) with the same id as cid.";
};

json::Object make_openapi(const OperationTable& table, const ApiInfo& info);

// The statuses of errors that an operation may answer with, in order.
std::vector<int> error_statuses(const Operation& operation);

}  // namespace millrace::api
