// Errors of the REST surface as PostgREST words them: {"code","message","details","hint"}.
//
// Codes are SQLSTATEs, or PostgREST's own (PGRST…) for what it refuses before it asks the database;
// both travel in Error::sqlstate. The words of PostgreSQL are told where they are about what the
// client sent (a value that is no uuid, a key that exists, a right that is missing); its other
// messages stay in the log (T-08).
#pragma once

#include "api/problem.h"
#include "api/reply.h"
#include "api/status.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::api {

struct RestWords {
  std::string message;
  std::string details = {};
  std::string hint = {};
};

// An error with a code of PostgREST's: rest_refuse("PGRST100", {.message = "…"}).
[[nodiscard]] std::unexpected<Error> rest_refuse(std::string_view code, RestWords words);

// The status and the message of an error on this surface.
Fault rest_fault(const Error& error);

Reply rest_reply(const ProblemDetails& problem, std::string_view correlation_id);

}  // namespace millrace::api
