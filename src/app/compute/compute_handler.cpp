#include "app/compute/compute_handler.h"

#include "api/raw_json.h"
#include "app/compute/compute_outcome.h"
#include "app/context.h"
#include "worker/handlers/http_handler.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

constexpr JsonLimits kPayloadLimits{.max_bytes = 1024 * 1024, .max_depth = 128};
constexpr milliseconds kContractWait{30'000};

struct Question {
  api::ContractName name;
  std::string inputs_json;
};

// As submit_compute enqueues it.
Result<Question> read_question(const std::string& payload) {
  MR_TRY(const auto object, parse_json_object(payload, kPayloadLimits));
  const auto text = [&](std::string_view name) {
    const auto* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string())
                                                  : std::string();
  };
  Question question{.name = {.app_id = text("app_id"),
                             .definition = text("definition"),
                             .version = text("version")}};
  if (!api::is_definition(question.name.definition) || !api::is_version(question.name.version)) {
    return fail(ErrorKind::invalid_argument, "definition and version of the payload are no names");
  }
  const auto* inputs = object.if_contains("inputs");
  if (inputs == nullptr) return fail(ErrorKind::invalid_argument, "the payload has no inputs");
  const auto raw = api::raw_member(payload, "inputs");
  question.inputs_json = raw ? std::string(*raw) : to_json(*inputs);
  return question;
}

Task<store::NewArtifact> store_file(blob::BlobStore& blobs, AnsweredFile file) {
  MR_CO_TRY(const auto writer, co_await blobs.create({.content_type = file.content_type,
                                                      .size_bytes = file.bytes.size()}));
  if (!file.bytes.empty()) {
    MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(file.bytes))));
  }
  MR_CO_TRY(const auto info, co_await writer->finish());
  co_return store::NewArtifact{.kind = std::move(file.kind),
                               .file_name = std::move(file.file_name),
                               .blob = {.sha256 = info.key.sha256.hex(),
                                        .size_bytes = static_cast<std::int64_t>(info.size_bytes),
                                        .content_type = std::move(file.content_type),
                                        .store_key = info.key.text(),
                                        .stored_at = info.modified},
                               .expires_in = file.expires_in};
}

// Bytes first: the row that the settling transaction writes refers to what is there. What a
// delivery that dies here leaves behind, the sweep of orphans finds.
awaitable<Outcome> keep_outputs(ComputeOutputs outputs, api::ContractName name,
                                blob::BlobStore* blobs) {
  std::vector<store::NewArtifact> artifacts;
  for (auto& file : outputs.files) {
    if (blobs == nullptr) {
      co_return Outcome::permanent("no_blob_store",
                                   "the answer has artifacts and this worker no place for them");
    }
    auto stored = co_await store_file(*blobs, std::move(file));
    if (!stored) {
      const auto& error = stored.error();
      if (error.kind == ErrorKind::invalid_argument) {
        co_return Outcome::permanent("invalid_artifact", error.message);
      }
      co_return no_answer({.kind = ErrorKind::unavailable,
                           .message = "an artifact could not be stored: " + error.message},
                          1);
    }
    artifacts.push_back(*std::move(stored));
  }
  co_return settled_outputs(outputs, artifacts, name);
}

}  // namespace

std::string app_server_url(std::string_view form, std::string_view definition,
                           std::string_view version) {
  std::string out(form);
  const auto put = [&out](std::string_view place, std::string_view name) {
    std::string escaped;
    for (const char c : name) escaped += c == '+' ? std::string("%2B") : std::string(1, c);
    for (auto at = out.find(place); at != out.npos; at = out.find(place, at + escaped.size())) {
      out.replace(at, place.size(), escaped);
    }
  };
  put("{def}", definition);
  put("{ver}", version);
  return out;
}

milliseconds ComputeHandler::wait_limit(milliseconds run_timeout) const {
  const auto longer = [](milliseconds time) { return time + time / 10 + milliseconds(1); };
  return longer(longer(run_timeout));  // The client itself waits the first grace.
}

awaitable<Outcome> ComputeHandler::run(std::shared_ptr<worker::JobContext> context) {
  const auto& job = context->job();
  auto question = read_question(job.payload_json);
  if (!question) co_return Outcome::permanent("invalid_payload", question.error().message);
  const auto& name = question->name;
  const auto label = fmt::format("{}@{}", name.definition, name.version);
  const auto contract = parts_.contracts->find(name);
  if (contract == nullptr) {
    // The server that took the question has it: this worker is behind.
    co_return Outcome::retry("no_contract", fmt::format("there is no contract {} here", label),
                             kContractWait);
  }
  worker::HttpOptions call{.url = app_server_url(options_.url, name.definition, name.version)};
  if (!options_.token.reveal().empty()) {
    call.headers.emplace_back("Authorization", "Bearer " + options_.token.reveal());
  }
  call.headers.emplace_back("Accept", fmt::format("application/json, {}", kOutputsType));
  auto request = worker::http_request(job, call, context->run_timeout(), context->clock().wall());
  request.body = std::move(question->inputs_json);
  request.response_max_bytes = kAnswerMaxBytes;
  request.service = "app_server";
  const auto began = context->clock().now();
  auto response = co_await parts_.client.send(std::move(request), context->token());
  const auto took = context->clock().now() - began;  // Without storing what it answered.
  Outcome outcome;
  if (!response) {
    outcome = no_answer(response.error(), job.attempt);
  } else {
    auto answer = read_answer(
        *response, {.contract = *contract, .attempt = job.attempt, .now = context->clock().wall()});
    if (auto* outputs = std::get_if<ComputeOutputs>(&answer)) {
      outcome = co_await persist(std::move(*outputs), name, *context);
    } else {
      outcome = std::get<Outcome>(std::move(answer));
    }
  }
  const auto status = response ? std::to_string(response->status) : std::string("none");
  parts_.log.info("call_appserver", {{"cid", job.correlation_id},
                                     {"job_id", job.id},
                                     {"app_id", name.app_id},
                                     {"tenant_id", job.tenant},
                                     {"definition", label},
                                     {"attempt", job.attempt},
                                     {"status", status},
                                     {"outcome", to_string(outcome.kind)},
                                     {"ms", took}});
  co_return outcome;
}

awaitable<Outcome> ComputeHandler::persist(ComputeOutputs outputs, api::ContractName name,
                                           worker::JobContext& context) {
  const auto& job = context.job();
  const auto began = context.clock().now();
  const auto files = outputs.files.size();
  auto* blobs = parts_.blobs ? &parts_.blobs->store() : nullptr;
  auto outcome = co_await keep_outputs(std::move(outputs), name, blobs);
  parts_.log.info("persist", {{"cid", job.correlation_id},
                              {"job_id", job.id},
                              {"app_id", name.app_id},
                              {"tenant_id", job.tenant},
                              {"definition", fmt::format("{}@{}", name.definition, name.version)},
                              {"files", files},
                              {"outcome", to_string(outcome.kind)},
                              {"ms", context.clock().now() - began}});
  co_return outcome;
}

bool takes_compute_jobs(const Settings& settings) {
  return !settings.text("compute.app_server_url").empty();
}

Result<void> check_compute(const Settings& settings) {
  const auto& url = settings.text("compute.app_server_url");
  if (url.empty()) return {};
  const bool named = url.contains("{def}") && url.contains("{ver}");
  if (!named || (!url.starts_with("http://") && !url.starts_with("https://"))) {
    return fail(ErrorKind::invalid_argument,
                "compute.app_server_url must be an http(s) address with {def} and {ver} in it");
  }
  if (settings.text("compute.contracts_dir").empty()) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = "compute.app_server_url needs compute.contracts_dir",
                      .hint = "outputs are held against their contracts"});
  }
  return {};
}

Result<std::unique_ptr<worker::Handler>> make_compute_handler(Context& context,
                                                              http::Client& client) {
  const auto& settings = context.settings;
  MR_TRY_VOID(check_compute(settings));
  auto contracts =
      api::ContractDirectory::open(settings.text("compute.contracts_dir"), context.log);
  if (!contracts) return fail_with_context("compute.contracts_dir", contracts.error());
  (*contracts)->watch();
  auto blobs = WorkerBlobs::open(
      settings, {.client = client, .clock = context.clock, .random = context.random});
  if (!blobs) context.log.warn("no_blob_store", {{"error", blobs.error().message}});
  return std::make_unique<ComputeHandler>(
      ComputeHandler::Parts{.client = client,
                            .contracts = *std::move(contracts),
                            .log = context.log,
                            .blobs = blobs ? *std::move(blobs) : nullptr},
      ComputeOptions{.url = settings.text("compute.app_server_url"),
                     .token = Secret<std::string>(settings.text("compute.app_server_token"))});
}

}  // namespace millrace::app
