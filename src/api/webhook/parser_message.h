// ParserMessage: what a parser sends to /webhooks/llamaparse (W-01).
//
//   {"job_id": "…", "artifacts": [{"type": "markdown", "content": "…", "sha256": "…", "bytes": 9}]}
//   {"job_id": "…", "status": "failed", "error": "…"}
//
// Of the artifacts the first of type markdown counts; hash and length must be those of its content
// where they are given (W-10). Threading: values.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/uuid.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace millrace::api {

struct ParserArtifact {
  std::string content;  // Markdown, UTF-8, not empty.
};
struct ParserFailure {
  std::string reason;  // One line, without control characters.
};
struct NoArtifact {};

struct ParserMessage {
  JobId job;
  std::variant<ParserArtifact, ParserFailure, NoArtifact> result;
};

// The job that a message is about, before anything else of it is looked at: it says which key it
// must be signed with. Nothing: no message.
std::optional<JobId> job_of_message(const json::Value& body);

// invalid_argument names the field and the rule.
Result<ParserMessage> read_parser_message(const json::Value& body);

}  // namespace millrace::api
