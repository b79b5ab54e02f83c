// Problem details (RFC 9457) with everything a client can act on, and the envelope of the sources.
//
// {"type","title","status","detail","code","cid"} and, for a request that breaks rules, "errors":
// one entry per rule with the place it was broken at. `type` is a stable URN, so that it resolves
// to nothing that could move; the one exception is the registered type for exhausted quotas.
#pragma once

#include "api/operation.h"
#include "api/status.h"
#include "schema/schema.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

// One broken rule, and where.
struct FieldError {
  In in = In::query;         // Of a parameter.
  std::string name = {};     // Of the parameter; empty: in the body, at `pointer`.
  std::string pointer = {};  // "#/priority"
  std::string rule = {};     // "maximum": the keyword of the schema.
  std::string detail = {};
};

std::vector<FieldError> body_errors(const std::vector<schema::Violation>& violations);

struct ProblemDetails {
  Fault fault;
  std::vector<FieldError> errors = {};
  std::string policy = {};  // Of a refusal by rate: the name of the policy that was used up.
  // What a handler or the database said, for forms whose bodies have codes of their own.
  std::optional<Error> cause = {};
};

// Which status and words an error has in a form.
Fault fault_of(const Error& error, Form form);

// As application/problem+json, or as application/json in the words of others: the sources' envelope
// (H-12) {"status","message","details","cid"}, PostgREST's {"code","message","details","hint"},
// Storage's {"statusCode","error","message"}, each with "cid".
Reply problem_reply(const ProblemDetails& problem, Form form, std::string_view correlation_id);

}  // namespace millrace::api
