#include "api/routes/compute.h"

#include "api/call.h"
#include "api/compute/inputs_hash.h"
#include "api/problem.h"
#include "api/raw_json.h"
#include "api/routes/compute_artifacts.h"
#include "api/routes/path.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using PartsPtr = std::shared_ptr<const ComputeParts>;  // Shared by the handlers.

constexpr std::uint64_t kRunBytes = 512 * 1024;  // A job's payload has 256 KiB at most.

OperationHandler handler(Task<Reply> (*verb)(Call& call, PartsPtr parts), const PartsPtr& parts) {
  return [verb, parts](Call& call) { return verb(call, parts); };
}

// A question as the body asks it.
struct Question {
  ContractName name;
  std::string inputs_text;  // As it was written.
  json::Value inputs;
};

FieldError at(std::string pointer, std::string rule, std::string detail) {
  return {.pointer = std::move(pointer), .rule = std::move(rule), .detail = std::move(detail)};
}

// What the schema of the body cannot say; empty when all is well.
std::vector<FieldError> read_question(const Call& call, const ComputeParts& parts,
                                      Question& question) {
  std::vector<FieldError> errors;
  question.name = {.app_id = call.text("app_id").value_or(parts.app_id),
                   .definition = call.text("definition").value_or(""),
                   .version = call.text("version").value_or("")};
  constexpr std::string_view kNameRule = "must be a name of letters, digits and . _ -";
  if (!is_app_id(question.name.app_id)) {
    errors.push_back(at("#/app_id", "pattern", fmt::format("/app_id {}", kNameRule)));
  }
  if (!is_definition(question.name.definition)) {
    errors.push_back(at("#/definition", "pattern", fmt::format("/definition {}", kNameRule)));
  }
  if (!is_version(question.name.version)) {
    errors.push_back(at("#/version", "pattern", fmt::format("/version {}", kNameRule)));
  }
  const auto* inputs = call.member("inputs");
  const auto* payload = call.member("payload");
  if (inputs != nullptr && payload != nullptr) {
    errors.push_back(at("#/payload", "not", "/payload is another name of /inputs; give one"));
  }
  if (call.member("priority") != nullptr && call.caller.role == identity::Role::authenticated) {
    errors.push_back(at("#/priority", "service", "/priority may be set by services only"));
  }
  const auto* name = inputs != nullptr ? "inputs" : "payload";
  const auto* value = inputs != nullptr ? inputs : payload;
  if (value == nullptr) return errors;
  question.inputs = *value;
  const auto raw = raw_member(call.body_text, name);
  question.inputs_text = raw ? std::string(*raw) : to_json(*value);
  if (auto exact = check_whole_numbers(question.inputs_text); !exact) {
    errors.push_back(at(fmt::format("#/{}", name), "integer", exact.error().message));
  }
  return errors;
}

// Nothing was done, so an Idempotency-Key is free for the question put right.
Task<Reply> refuse(Call& call, PartsPtr parts, std::vector<FieldError> errors) {
  if (call.key) {
    (void)co_await parts->requests.release_request(call.context(), call.request_key);
  }
  ProblemDetails problem{.fault = {.status = 400,
                                   .code = "invalid_inputs",
                                   .detail = "the inputs break rules of their contract"},
                         .errors = std::move(errors)};
  co_return problem_reply(problem, call.operation().form, call.request.correlation_id);
}

store::NewCompute new_compute(const Call& call, const ComputeParts& parts, const ContractName& name,
                              const json::Value& inputs) {
  const bool person = call.caller.role == identity::Role::authenticated;
  std::optional<Uuid> owner;
  if (person && call.caller.user) owner = call.caller.user->value;
  store::NewCompute question{.app_id = name.app_id,
                             .definition = name.definition,
                             .version = name.version,
                             .inputs_json = to_json(inputs),
                             .inputs_hash = inputs_hash(inputs, name.definition, name.version),
                             .owner = owner,
                             .correlation_id = std::string(call.request.correlation_id),
                             .traceparent = call.request.trace.traceparent(),
                             .ttl = parts.result_ttl};
  // Who sees nothing but the own jobs is not given another's.
  question.key = compute_key({.tenant = call.caller.home_tenant(),
                              .owner = owner,
                              .app_id = name.app_id,
                              .definition = name.definition,
                              .version = name.version,
                              .inputs = inputs});
  if (const auto priority = call.integer("priority")) {
    question.priority = static_cast<int>(*priority);
  }
  if (const auto age = call.integer("max_age_seconds")) {
    question.max_age = std::chrono::seconds(*age);
  }
  return question;
}

std::string_view to_string(store::ComputeAnswer::State state) {
  using State = store::ComputeAnswer::State;
  switch (state) {
    case State::created:
      return "created";
    case State::running:
      return "running";
    case State::cached:
      return "cached";
  }
  std::unreachable();
}

Reply accepted(const store::ComputeAnswer& answer) {
  const auto id = answer.job.to_string();
  return Reply::json(json::Object{{"job_id", id}, {"answer", to_string(answer.state)}}, 202)
      .with("Location", "/jobs/status/" + id);
}

Reply accepted_before(std::string effect) {
  const auto answer = store::read_compute_answer(effect);
  return answer ? accepted(*answer) : Reply::json_text(std::move(effect), 202);
}

Task<Reply> run(Call& call, PartsPtr parts) {
  Question question;
  auto errors = read_question(call, *parts, question);
  if (!errors.empty()) co_return co_await refuse(call, parts, std::move(errors));
  const auto contract = parts->contracts.find(question.name);
  const auto label = fmt::format("{}@{}", question.name.definition, question.name.version);
  if (contract == nullptr) {
    co_return fail(ErrorKind::not_found, fmt::format("there is no contract {}", label));
  }
  MR_CO_TRY(auto checked, contract->check_inputs(std::move(question.inputs)));
  if (!checked.violations.empty()) {
    auto broken = body_errors(checked.violations);
    const auto* name = call.member("inputs") != nullptr ? "inputs" : "payload";
    for (auto& error : broken) error.pointer.insert(1, fmt::format("/{}", name));
    co_return co_await refuse(call, parts, std::move(broken));
  }
  auto asked = new_compute(call, *parts, question.name, checked.value);
  const auto began = parts->clock.now();
  MR_CO_TRY(const auto answer, co_await parts->store.submit_compute(
                                   call.context(), std::move(asked), call.request_key));
  call.note("job_id", answer.job);
  // O-01, O-02. What was asked is not for the log.
  parts->log.info("enqueue", {{"cid", call.request.correlation_id},
                              {"job_id", answer.job},
                              {"app_id", question.name.app_id},
                              {"tenant_id", call.caller.home_tenant()},
                              {"definition", label},
                              {"answer", to_string(answer.state)},
                              {"db_ms", parts->clock.now() - began}});
  co_return accepted(answer);
}

// The source's words (Q-04).
std::string_view source_status(std::string_view status) {
  if (status == "completed") return "succeeded";
  if (status == "processing") return "running";
  if (status == "failed" || status == "cancelled") return status;
  return "queued";
}

Task<Reply> status(Call& call, PartsPtr parts) {
  MR_CO_TRY(const auto job, co_await find_compute(call, parts->store));
  auto body = fmt::format(R"({{"job_id":"{}","status":"{}","attempts":{})", job.id,
                          source_status(job.status), job.attempts);
  if (job.last_error) body += fmt::format(R"(,"last_error":{})", *job.last_error);
  co_return Reply::json_text(body + "}");
}

// 409 while there is nothing to fetch, 422 when there never will be (H-15).
Reply no_result(const Call& call, const ComputeJob& job) {
  ProblemDetails problem;
  const bool failed = job.status == "failed";
  if (failed) {
    problem.fault = {.status = 422, .code = "job_failed", .detail = "the job failed"};
  } else if (job.status == "cancelled") {
    problem.fault = {.status = 409, .code = "job_cancelled", .detail = "the job was cancelled"};
  } else {
    problem.fault = {.status = 409,
                     .code = "not_finished",
                     .detail = fmt::format("the job is {}", source_status(job.status))};
  }
  auto reply = problem_reply(problem, call.operation().form, call.request.correlation_id);
  if (failed && job.last_error) {
    reply.body.pop_back();
    reply.body += fmt::format(R"(,"last_error":{}}})", *job.last_error);
  }
  if (problem.fault.code == "not_finished") reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Task<Reply> result(Call& call, PartsPtr parts) {
  MR_CO_TRY(const auto job, co_await find_compute(call, parts->store));
  if (job.status != "completed") co_return no_result(call, job);
  co_return Reply::json_text(job.outputs.value_or("null"));
}

json::Object name_json(const ContractName& name) {
  json::Object out{{"app_id", nullptr}, {"definition", name.definition}, {"version", name.version}};
  if (!name.app_id.empty()) out["app_id"] = name.app_id;
  return out;
}

Task<Reply> list_contracts(Call&, PartsPtr parts) {
  json::Array items;
  for (const auto& contract : parts->contracts.all()) items.push_back(name_json(contract->name));
  co_return Reply::json(json::Object{{"items", std::move(items)}});
}

Task<Reply> get_contract(Call& call, PartsPtr parts) {
  const ContractName name{.app_id = call.parameters.text("app_id").value_or(parts->app_id),
                          .definition = call.parameters.required("definition"),
                          .version = call.parameters.required("version")};
  const auto contract = parts->contracts.find(name);
  if (contract == nullptr) {
    co_return fail(ErrorKind::not_found,
                   fmt::format("there is no contract {}@{}", name.definition, name.version));
  }
  auto out = name_json(contract->name);
  out["inputs"] = contract->inputs.document();
  out["outputs"] = contract->outputs ? contract->outputs->document() : json::Value();
  co_return Reply::json(out);
}

void add_jobs(std::vector<Operation>& out, const PartsPtr& parts) {
  out.push_back(
      {.id = "compute.run",
       .method = "POST",
       .path = "/jobs/run",
       .tag = "Compute",
       .summary = "Ask for a computation; inputs are checked against their contract",
       .description =
           "Defaults of the contract are filled in first. An equal question of the same "
           "tenant and app is answered with the job that is under way or has just ended.",
       .access = Access::people(Capability::write),
       .body = RequestBody{.schema = "ComputeRun"},
       .answers = {{.status = 202, .description = "The job.", .schema = "ComputeAccepted"}},
       .errors = {404, 413},
       .body_max_bytes = kRunBytes,
       .idempotency_key = true,
       .replay = accepted_before,
       .handler = handler(run, parts)});
  out.push_back(
      {.id = "compute.status",
       .method = "GET",
       .path = "/jobs/status/{id}",
       .tag = "Compute",
       .summary = "How far a computation is",
       .access = Access::people(Capability::read),
       .parameters = {id_parameter("The job.")},
       .answers = {{.status = 200, .description = "Its state.", .schema = "ComputeStatus"}},
       .conditional = true,
       .handler = handler(status, parts)});
  out.push_back(
      {.id = "compute.result",
       .method = "GET",
       .path = "/jobs/result/{id}",
       .tag = "Compute",
       .summary = "The outputs of a computation",
       .description = "409 until it has ended, 422 with `last_error` when it failed.",
       .access = Access::people(Capability::read),
       .parameters = {id_parameter("The job.")},
       .answers = {{.status = 200,
                    .description = "The outputs, as outputs.schema.json of the contract has them.",
                    .schema = R"({"description":"Any JSON."})"}},
       .errors = {409, 422},
       .handler = handler(result, parts)});
}

void add_contracts(std::vector<Operation>& out, const PartsPtr& parts) {
  const auto name = [](std::string parameter, std::string description) {
    return Parameter{.in = In::path,
                     .name = std::move(parameter),
                     .description = std::move(description),
                     .schema = R"({"type":"string","minLength":1,"maxLength":127})",
                     .required = true};
  };
  out.push_back({.id = "contracts.list",
                 .method = "GET",
                 .path = "/api/v1/contracts",
                 .tag = "Compute",
                 .summary = "What can be computed",
                 .access = Access::people(Capability::read),
                 .answers = {{.status = 200, .description = "All.", .schema = "ContractNames"}},
                 .conditional = true,
                 .handler = handler(list_contracts, parts)});
  out.push_back({.id = "contracts.get",
                 .method = "GET",
                 .path = "/api/v1/contracts/{definition}/{version}",
                 .tag = "Compute",
                 .summary = "The schemas of a contract",
                 .access = Access::people(Capability::read),
                 .parameters = {name("definition", "Its name."), name("version", "Its version."),
                                Parameter{.name = "app_id",
                                          .description = "Whose contract, if it has its own."}},
                 .answers = {{.status = 200, .description = "Both.", .schema = "ContractSchemas"}},
                 .errors = {404},
                 .conditional = true,
                 .handler = handler(get_contract, parts)});
}

}  // namespace

std::vector<Operation> compute_operations(const ComputeParts& parts) {
  const auto shared = std::make_shared<const ComputeParts>(parts);
  std::vector<Operation> out;
  add_jobs(out, shared);
  for (auto& operation : artifact_operations(shared)) out.push_back(std::move(operation));
  add_contracts(out, shared);
  return out;
}

}  // namespace millrace::api
