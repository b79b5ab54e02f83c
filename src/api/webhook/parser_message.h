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
#include <vector>

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

// The job that a message is about. Nothing: no message.
std::optional<JobId> job_of_message(const json::Value& body);

// Jobs that the bytes of a message may be about, without reading them as JSON: a job says which key
// the message must be signed with, and nothing of a stranger's is parsed before that is known. What
// is found counts only if the message itself says the same.
std::vector<JobId> jobs_named_in(std::string_view raw);

// invalid_argument names the field and the rule.
Result<ParserMessage> read_parser_message(const json::Value& body);

}  // namespace millrace::api
