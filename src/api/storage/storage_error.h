// Errors of the storage surface as Supabase Storage words them.
//
// Storage answers 400 to whatever a request did wrong and tells the true status as text in the
// body: {"statusCode":"404","error":"not_found","code":"NoSuchKey","message":"Object not found"}.
// Clients branch on these members. Refusals of the pipeline (who is it, may not, too many), 429 and
// 5xx keep their status outside too.
#pragma once

#include "api/problem.h"
#include "api/reply.h"
#include "api/status.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::api {

struct StorageFault {
  int http_status = 400;
  int status = 400;        // The true one.
  std::string_view code;   // "NoSuchKey": what programs act on.
  std::string_view error;  // "not_found": an older word for the same.
  std::string message;
};

StorageFault storage_fault_of(const Error& error);
// As it goes out.
Fault storage_fault(const Error& error);

Reply storage_reply(const ProblemDetails& problem, std::string_view correlation_id);

}  // namespace millrace::api
