// What an answer of the app server means for its job. One table; a test per row.
//
// | answer | outcome |
// | --- | --- |
// | 2xx, outputs keep to the contract | ok, with outputs, score and artifacts |
// | 2xx otherwise, 400, 422 and other 4xx, 3xx | permanent: nothing gets better by asking again |
// | 401, 403 | blocked: our own credentials are refused; nothing is charged |
// | 429, 529, 503 with Retry-After | throttled: nothing is charged; as long as it says, or 1 s |
// | 408, 409, 425, other 5xx, no answer | retry after 1, 2, 4, 8 … s, at most a minute |
#pragma once

#include "api/compute/contract.h"
#include "base/result.h"
#include "http/message.h"
#include "model/outcome.h"
#include "store/api/compute.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace millrace::app {

// Answers of this type hold {"outputs", "score", "artifacts": [{"kind", "file_name",
// "content_type", "data" (base64), "expires_in_seconds"}]}; others are the outputs themselves.
inline constexpr std::string_view kOutputsType = "application/vnd.millrace.outputs+json";
inline constexpr std::size_t kAnswerMaxBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kOutputsMaxBytes = 256 * 1024;
inline constexpr std::size_t kArtifactsMax = 100;

// A file in an answer, not stored yet.
struct AnsweredFile {
  std::string kind;
  std::string file_name;
  std::string content_type;
  std::string bytes;
  std::optional<std::chrono::seconds> expires_in;
};

// What there is to keep of a good answer.
struct ComputeOutputs {
  std::string outputs_json;  // As it was written.
  std::optional<double> score;
  std::vector<AnsweredFile> files;
};

struct ComputeCall {
  const api::Contract& contract;
  int attempt = 1;
  std::chrono::system_clock::time_point now;
};

std::variant<ComputeOutputs, Outcome> read_answer(const http::Response& response,
                                                  const ComputeCall& call);
Outcome no_answer(const Error& error, int attempt);
// Files are stored by now.
Outcome settled_outputs(const ComputeOutputs& outputs,
                        const std::vector<store::NewArtifact>& artifacts,
                        const api::ContractName& name);

}  // namespace millrace::app
