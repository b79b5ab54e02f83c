#include "app/compute/compute_outcome.h"

#include "api/raw_json.h"
#include "base/json.h"
#include "base/redact.h"
#include "blob/digest.h"
#include "http/retry_after.h"
#include "worker/handlers/http_outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kDetailsMaxBytes = 8 * 1024;
constexpr std::size_t kViolationsShown = 5;
constexpr milliseconds kThrottledLeast{1'000};
constexpr seconds kRetryMost{60};

bool has_type(const http::Response& response, std::string_view wanted) {
  const auto type = response.header("content-type").value_or("");
  const auto name = type.substr(0, type.find(';'));
  return http::same_name(name.substr(0, name.find_last_not_of(" \t") + 1), wanted);
}

// 1, 2, 4 … s: the queue of compute jobs has no backoff of its own, and an app server that is being
// restarted must not use up all attempts of a job.
milliseconds backoff(int attempt) {
  return std::min(kRetryMost, seconds(1LL << std::clamp(attempt - 1, 0, 10)));
}

Outcome paced(Outcome outcome, int attempt) {
  if (outcome.retry_after) return outcome;
  if (outcome.kind == Outcome::Kind::throttled) outcome.retry_after = kThrottledLeast;
  if (outcome.kind == Outcome::Kind::retry) outcome.retry_after = backoff(attempt);
  return outcome;
}

Outcome refused(std::string_view type, std::string message) {
  return Outcome::permanent(type, message);
}

// The app server's own words about a question that it will never answer, kept with the job (J-08).
Outcome poison(const http::Response& response) {
  auto outcome = Outcome::permanent(
      fmt::format("app_server_{}", response.status),
      fmt::format("the app server refused the question with {}", response.status));
  if (response.body.size() > kDetailsMaxBytes || response.body_truncated) return outcome;
  auto details = parse_json(response.body, {.max_bytes = kDetailsMaxBytes});
  if (!details || response.body.contains("\\u0000")) return outcome;
  outcome.error_json.pop_back();
  outcome.error_json += fmt::format(R"(,"details":{}}})", to_json(redact(*std::move(details))));
  return outcome;
}

std::optional<std::string> text_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

// It will stand in a header.
bool is_content_type(std::string_view text) {
  constexpr std::string_view kMarks = "!#$&^_.+-/;= \"";
  return text.contains('/') && text.size() <= 200 && std::ranges::all_of(text, [&](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || kMarks.find(c) != kMarks.npos;
         });
}

Result<AnsweredFile> read_file(const json::Value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return fail(ErrorKind::invalid_argument, "an artifact is no object");
  const auto kind = text_member(*object, "kind");
  const auto data = text_member(*object, "data");
  if (!kind || !data) {
    return fail(ErrorKind::invalid_argument, "an artifact needs kind and data as texts");
  }
  auto bytes = blob::from_base64(*data);
  if (!bytes) return fail(ErrorKind::invalid_argument, "data of an artifact must be base64");
  AnsweredFile file{.kind = *kind,
                    .file_name = text_member(*object, "file_name").value_or(""),
                    .content_type = text_member(*object, "content_type").value_or(""),
                    .bytes = *std::move(bytes)};
  if (!is_content_type(file.content_type)) file.content_type = "application/octet-stream";
  const auto* expires = object->if_contains("expires_in_seconds");
  if (expires != nullptr && expires->is_int64() && expires->get_int64() > 0) {
    file.expires_in = seconds(expires->get_int64());
  }
  return file;
}

Result<std::vector<AnsweredFile>> read_files(const json::Object& answer) {
  std::vector<AnsweredFile> files;
  const auto* list = answer.if_contains("artifacts");
  if (list == nullptr || list->is_null()) return files;
  if (!list->is_array() || list->get_array().size() > kArtifactsMax) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("artifacts must be a list of {} at most", kArtifactsMax));
  }
  for (const auto& item : list->get_array()) {
    MR_TRY(auto file, read_file(item));
    files.push_back(std::move(file));
  }
  return files;
}

std::optional<double> score_of(const json::Value& holder) {
  const auto* object = holder.if_object();
  const auto* score = object == nullptr ? nullptr : object->if_contains("score");
  if (score == nullptr || !score->is_number()) return std::nullopt;
  return score->to_number<double>();
}

// The outputs and what stands beside them, in either form of an answer.
Result<std::pair<ComputeOutputs, json::Value>> take_outputs(const http::Response& response) {
  MR_TRY(auto answer, parse_json(response.body, {.max_bytes = kAnswerMaxBytes}));
  ComputeOutputs out;
  if (!has_type(response, kOutputsType)) {
    out.outputs_json = response.body;
    out.score = score_of(answer);
    return std::pair(std::move(out), std::move(answer));
  }
  const auto* object = answer.if_object();
  const auto* outputs = object == nullptr ? nullptr : object->if_contains("outputs");
  if (outputs == nullptr) {
    return fail(ErrorKind::invalid_argument, "the answer has no member outputs");
  }
  const auto raw = api::raw_member(response.body, "outputs");
  out.outputs_json = raw ? std::string(*raw) : to_json(*outputs);
  out.score = score_of(answer);
  MR_TRY(out.files, read_files(*object));
  return std::pair(std::move(out), json::Value(*outputs));
}

std::variant<ComputeOutputs, Outcome> read_outputs(const http::Response& response,
                                                   const api::Contract& contract) {
  if (response.body_truncated) {
    return refused("outputs_too_large",
                   fmt::format("the answer has more than {} bytes", kAnswerMaxBytes));
  }
  auto taken = take_outputs(response);
  if (!taken) return refused("invalid_answer", taken.error().message);
  auto& [outputs, value] = *taken;
  if (outputs.outputs_json.size() > kOutputsMaxBytes) {
    return refused("outputs_too_large", fmt::format("the outputs have more than {} bytes; large "
                                                    "ones are artifacts",
                                                    kOutputsMaxBytes));
  }
  const auto violations = contract.check_outputs(value);
  if (violations.empty()) return std::move(outputs);
  // J-10. Sentences about the schema, without values.
  std::string message = "the outputs break their contract:";
  for (std::size_t i = 0; i < std::min(violations.size(), kViolationsShown); ++i) {
    message += fmt::format("{} {}", i == 0 ? "" : ";", violations[i].message);
  }
  return refused("invalid_outputs", std::move(message));
}

}  // namespace

std::variant<ComputeOutputs, Outcome> read_answer(const http::Response& response,
                                                  const ComputeCall& call) {
  if (response.status >= 200 && response.status < 300) {
    return read_outputs(response, call.contract);
  }
  if (response.status == 401 || response.status == 403) {
    return Outcome::blocked(
        "app_server", fmt::format("the app server refuses our credentials ({})", response.status));
  }
  const auto header = response.header("retry-after");
  const bool timed = header && http::parse_retry_after(*header, call.now).has_value();
  if (worker::classify_status(response.status, timed) == worker::StatusClass::permanent) {
    return poison(response);
  }
  return paced(worker::http_outcome(response, call.now), call.attempt);
}

Outcome no_answer(const Error& error, int attempt) {
  return paced(worker::http_outcome(error), attempt);
}

Outcome settled_outputs(const ComputeOutputs& outputs,
                        const std::vector<store::NewArtifact>& artifacts,
                        const api::ContractName& name) {
  auto outcome = Outcome::ok_value(json::Object{
      {"definition", name.definition}, {"version", name.version}, {"artifacts", artifacts.size()}});
  outcome.effects_json = store::output_effects_json(outputs.outputs_json, outputs.score, artifacts);
  return outcome;
}

}  // namespace millrace::app
