#include "store/api/compute.h"

#include "base/json.h"
#include "store/api/values.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

std::string options_json(const NewCompute& question) {
  json::Object options;
  if (question.owner) options["owner_id"] = question.owner->to_string();
  if (question.priority) options["priority"] = *question.priority;
  if (!question.correlation_id.empty()) options["correlation_id"] = question.correlation_id;
  if (!question.traceparent.empty()) options["traceparent"] = question.traceparent;
  if (question.ttl) options["ttl_seconds"] = question.ttl->count();
  if (question.max_age) options["max_age_seconds"] = question.max_age->count();
  return to_json(options);
}

class PgComputeStore final : public ComputeStore {
 public:
  explicit PgComputeStore(ApiSession& session) : session_(session) {}

  Task<ComputeAnswer> submit_compute(CallContext caller, NewCompute question,
                                     RequestKey key) override {
    auto params = key_params(key);
    params.add(question.app_id).add(question.definition).add(question.version);
    params.add(question.inputs_json).add(question.inputs_hash).add(bytea(question.key));
    params.add(options_json(question));
    MR_CO_TRY(const auto text,
              co_await session_.text_as(
                  caller.by_server(), MR_POINT("api_compute_submit"), Access::write,
                  kept_effect("mr_api_submit_compute",
                              "select to_jsonb(c) from"
                              " millrace.submit_compute($4, $5, $6, $7, $8, $9, $10) c",
                              std::move(params))));
    co_return read_compute_answer(text);
  }

  Task<std::string> get_result(CallContext caller, JobId job) override {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_compute_result"),
                                        Access::read,
                                        {.sql = "select millrace.get_result($1)::text",
                                         .params = pg::params(job),
                                         .name = "mr_api_get_result"});
  }

 private:
  ApiSession& session_;
};

}  // namespace

std::unique_ptr<ComputeStore> make_compute_store(ApiSession& session) {
  return std::make_unique<PgComputeStore>(session);
}

Result<ComputeAnswer> read_compute_answer(std::string_view effect_json) {
  using State = ComputeAnswer::State;
  MR_TRY(const auto object, parse_json_object(effect_json));
  const auto* id = object.if_contains("job_id");
  const auto* answer = object.if_contains("answer");
  if (id == nullptr || answer == nullptr || !id->is_string() || !answer->is_string()) {
    return fail(ErrorKind::internal, "the answer of submit_compute has no job_id and answer");
  }
  MR_TRY(const auto job, JobId::parse(id->get_string()));
  const std::string_view word = answer->get_string();
  return ComputeAnswer{.job = job,
                       .state = word == "created"   ? State::created
                                : word == "running" ? State::running
                                                    : State::cached};
}

std::string output_effects_json(const std::string& outputs_json, std::optional<double> score,
                                const std::vector<NewArtifact>& artifacts) {
  std::string out = R"({"output":{"outputs":)" + outputs_json;
  if (score) out += R"(,"score":)" + json_number(*score);
  out += R"(,"artifacts":[)";
  for (bool first = true; const auto& artifact : artifacts) {
    if (!first) out += ',';
    first = false;
    // The content's object with three members more.
    auto item = stored_blob_json(artifact.blob);
    item.pop_back();
    item += R"(,"kind":)" + json_quote(artifact.kind);
    if (!artifact.file_name.empty()) item += R"(,"file_name":)" + json_quote(artifact.file_name);
    if (artifact.expires_in) {
      item += R"(,"expires_in_seconds":)" + std::to_string(artifact.expires_in->count());
    }
    out += item + '}';
  }
  return out + "]}}";
}

}  // namespace millrace::store
