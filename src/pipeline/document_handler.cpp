#include "pipeline/document_handler.h"

#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <set>
#include <utility>

namespace millrace::pipeline {
namespace {

// How long a job waits for a worker that can do what this one cannot.
constexpr std::chrono::seconds kElsewhere(30);
constexpr std::chrono::seconds kStopGrace(3);
constexpr std::string_view kOutputsQueue = "fast_queue";
constexpr JsonLimits kDefinitionLimits{.max_bytes = 1024 * 1024, .max_depth = 32};

// As millrace.put_pipeline takes it.
json::Object kept_form(const Pipeline& pipeline) {
  json::Object object;
  object["name"] = pipeline.name;
  object["version"] = pipeline.version;
  object["hash"] = pipeline.hash;
  object["first_job"] = job_of(pipeline.stages.front());
  object["definition"] = pipeline_to_json(pipeline);
  return object;
}

// The file was deleted while its job ran, or waited: nobody wants the result any more.
bool file_is_gone(const Error& error) { return error.sqlstate == "MR039"; }

// From another queue, where the file need not have come along.
bool was_imported(const worker::JobContext& context) {
  const auto payload = parse_json_object(context.job().payload_json);
  return payload && payload->contains("progress");
}

Task<Outcome> dispatch(StageJob job) {
  const auto type = job.type();
  if (type == kOutputsType) co_return co_await run_outputs(std::move(job));
  if (type == kImageType) co_return co_await run_image(std::move(job));
  if (job.stage == nullptr) {
    co_return Outcome::permanent("unknown_stage",
                                 fmt::format("pipeline {} {} has no stage {}", job.pipeline->name,
                                             job.pipeline->version, type));
  }
  if (!job.work.group.empty()) co_return co_await run_group(std::move(job));
  const bool spread = job.stage->each == Each::page && !job.work.page;
  if (spread) co_return co_await run_spread(std::move(job));
  if (const auto* made = made_already(*job.pipeline, *job.stage, job.work)) {
    auto outcome = Outcome::ok(to_json(made->meta));
    outcome.actual_tokens = 0;  // Nobody is asked, or paid, for the same again.
    co_return outcome;
  }
  switch (job.stage->kind) {
    case RunKind::scan:
      co_return co_await run_scan(std::move(job));
    case RunKind::ocr:
      co_return co_await run_ocr(std::move(job));
    case RunKind::spatial:
      co_return co_await run_spatial(std::move(job));
    case RunKind::detect:
      co_return co_await run_detect(std::move(job));
    case RunKind::extract:
      co_return co_await run_extract(std::move(job));
    case RunKind::narrate:
      co_return co_await run_narrate(std::move(job));
    case RunKind::parse:
      co_return co_await run_parse(std::move(job));
    case RunKind::validate:
      co_return co_await run_validate(std::move(job));
    case RunKind::chunk:
      co_return co_await run_chunk(std::move(job));
    case RunKind::embed:
      co_return co_await run_embed(std::move(job));
    case RunKind::publish:
      co_return co_await run_publish(std::move(job));
    case RunKind::exec:
    case RunKind::http:
      co_return co_await run_authors(std::move(job));
    case RunKind::render:
      break;  // Of orders, which have no document.
  }
  co_return Outcome::permanent("unknown_stage",
                               fmt::format("stage {} is not run by this worker", type));
}

}  // namespace

Task<std::shared_ptr<const Pipeline>> PipelineCache::find(Services& services, std::string hash) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(hash);
    if (found != known_.end()) co_return found->second;
  }
  MR_CO_TRY(const auto text, co_await services.store.pipeline_definition(hash));
  if (text.empty()) {
    co_return fail(ErrorKind::not_found, fmt::format("no pipeline has the hash {}", hash));
  }
  MR_CO_TRY(const auto object, parse_json_object(text, kDefinitionLimits));
  MR_CO_TRY(auto pipeline, pipeline_from_json(object));
  // Numbers that the database wrote another way give other bytes, never another meaning.
  pipeline.hash = hash;
  auto kept = std::make_shared<const Pipeline>(std::move(pipeline));
  const std::lock_guard lock(mutex_);
  known_.emplace(std::move(hash), kept);
  co_return kept;
}

DocumentHandler::DocumentHandler(Services& services, std::shared_ptr<PipelineCache> cache,
                                 std::string job_type)
    : services_(services), cache_(std::move(cache)), job_type_(std::move(job_type)) {}

std::chrono::milliseconds DocumentHandler::wait_limit(std::chrono::milliseconds run_timeout) const {
  return run_timeout + run_timeout / 4 + kStopGrace;
}

std::chrono::milliseconds DocumentHandler::stop_grace() const { return kStopGrace; }

awaitable<Outcome> DocumentHandler::run(std::shared_ptr<worker::JobContext> context) {
  auto outcome = co_await run_stage(context);
  if (outcome) co_return *std::move(outcome);
  if (file_is_gone(outcome.error()) && was_imported(*context)) {
    co_return Outcome::permanent("file_missing", "no file here has the id of the document");
  }
  if (file_is_gone(outcome.error())) co_return Outcome::cancelled("the file was deleted");
  co_return outcome_of(outcome.error(), job_type_);
}

Task<store::DocumentWork> DocumentHandler::find_work(worker::JobContext& context) {
  const auto id = context.job().id;
  MR_CO_TRY(auto work,
            co_await steadily(context, [&] { return services_.store.document_work(id); }));
  if (work.document) co_return work;
  const auto* current = services_.pipelines.find(work.file.pipeline);
  const auto form = current == nullptr ? json::Object() : kept_form(*current);
  co_return co_await steadily(context, [&] { return services_.store.begin_document(id, form); });
}

Task<Outcome> DocumentHandler::run_stage(std::shared_ptr<worker::JobContext> context) {
  MR_CO_TRY(auto work, co_await find_work(*context));
  if (!work.document) {
    co_return Outcome::held_up(
        fmt::format("pipeline {} is not among those of this worker", work.file.pipeline),
        kElsewhere);
  }
  if (!work.limited_by.empty()) context->set_asked(false);
  const auto hash = work.document->pipeline_hash;
  auto pipeline = co_await steadily(*context, [&] { return cache_->find(services_, hash); });
  if (!pipeline && pipeline.error().kind == ErrorKind::invalid_argument) {
    // A newer worker wrote it, and can do it.
    co_return Outcome::held_up(pipeline.error().message, kElsewhere);
  }
  if (!pipeline) co_return fail(pipeline.error());
  const auto* stage = (*pipeline)->find(job_type_);
  StageJob job{.services = services_,
               .context = std::move(context),
               .work = std::move(work),
               .pipeline = *std::move(pipeline),
               .stage = stage};
  co_return co_await dispatch(std::move(job));
}

std::vector<DocumentJobType> document_job_types(const PipelineSet& pipelines) {
  std::set<DocumentJobType> types;
  for (const auto& loaded : pipelines.all()) {
    if (loaded.pipeline.takes != Takes::file) continue;
    for (const auto& stage : loaded.pipeline.stages) types.insert({stage.name, stage.queue});
  }
  for (const auto type : {kOutputsType, kImageType}) {
    types.insert({.job_type = std::string(type), .queue = std::string(kOutputsQueue)});
  }
  return {types.begin(), types.end()};
}

json::Object provider_bindings(const PipelineSet& pipelines,
                               const std::function<std::string(const Stage&)>& limited) {
  std::map<std::string, std::set<std::string>> named;  // By type.
  for (const auto& name : pipelines.names()) {
    const auto& one = *pipelines.find(name);
    if (one.takes != Takes::file) continue;
    for (const auto& stage : one.stages) named[stage.name].insert(limited(stage));
  }
  json::Object bindings;
  for (const auto& [type, providers] : named) {
    const bool one = providers.size() == 1 && !providers.begin()->empty();
    bindings[type] = one ? json::Value(*providers.begin()) : json::Value(nullptr);
  }
  return bindings;
}

json::Array registration_of(const PipelineSet& pipelines, Takes takes,
                            const json::Object& defaults) {
  json::Array out;
  for (const auto& name : pipelines.names()) {
    const auto& pipeline = *pipelines.find(name);
    if (pipeline.takes != takes) continue;
    auto object = kept_form(pipeline);
    json::Array queues;
    std::set<std::string_view> named;
    const auto add = [&](const std::string& queue, const json::Object& said) {
      if (!named.insert(queue).second) return;
      auto policy = said;
      for (const auto& member : defaults) {
        if (!policy.contains(member.key())) policy[member.key()] = member.value();
      }
      queues.push_back(json::Object{{"name", queue}, {"policy", std::move(policy)}});
    };
    for (const auto& queue : pipeline.queues) add(queue.name, queue.policy);
    json::Array types;
    for (const auto& stage : pipeline.stages) {
      add(stage.queue, {});
      types.push_back(json::Object{{"job_type", stage.name}, {"queue", stage.queue}});
    }
    object["queues"] = std::move(queues);
    object["job_types"] = std::move(types);
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace millrace::pipeline
