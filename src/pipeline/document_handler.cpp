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

constexpr JsonLimits kDefinitionLimits{.max_bytes = 1024 * 1024, .max_depth = 32};

json::Object begin_with(const Pipeline& pipeline, std::string_view stage) {
  json::Object object;
  object["name"] = pipeline.name;
  object["version"] = pipeline.version;
  object["hash"] = pipeline.hash;
  object["stage"] = stage;
  object["definition"] = pipeline_to_json(pipeline);
  return object;
}

// The file was deleted while its job ran, or waited: nobody wants the result any more.
bool file_is_gone(const Error& error) { return error.sqlstate == "MR039"; }

Task<Outcome> dispatch(StageJob job) {
  const auto type = job.type();
  if (type == kOutputsType) co_return co_await run_outputs(std::move(job));
  if (type == kImageType) co_return co_await run_image(std::move(job));
  if (job.stage == nullptr) {
    co_return Outcome::permanent(
        "unknown_stage", fmt::format("pipeline {} {} has no stage {}", job.pipeline->name,
                                     job.pipeline->version, type));
  }
  const bool spread = job.stage->each == Each::page && !job.work.page;
  if (spread) co_return co_await run_spread(std::move(job));
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
    case RunKind::exec:
    case RunKind::http:
      break;
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
                                 std::string pipeline, std::string job_type)
    : services_(services),
      cache_(std::move(cache)),
      pipeline_(std::move(pipeline)),
      job_type_(std::move(job_type)) {}

awaitable<Outcome> DocumentHandler::run(std::shared_ptr<worker::JobContext> context) {
  auto outcome = co_await run_stage(context);
  if (outcome) co_return *std::move(outcome);
  if (file_is_gone(outcome.error())) co_return Outcome::cancelled("the file was deleted");
  co_return outcome_of(outcome.error(), job_type_);
}

Task<Outcome> DocumentHandler::run_stage(std::shared_ptr<worker::JobContext> context) {
  const auto id = context->job().id;
  const auto* current = services_.pipelines.find(pipeline_);
  const bool first = current != nullptr && !current->stages.empty() &&
                     current->stages.front().name == job_type_;
  MR_CO_TRY(auto work, co_await steadily(*context, [&]() -> Task<store::DocumentWork> {
              if (first) {
                co_return co_await services_.store.begin_document(id,
                                                                  begin_with(*current, job_type_));
              }
              co_return co_await services_.store.document_work(id);
            }));
  if (!work.document) {
    co_return Outcome::permanent("not_begun", "the document of this job was never scanned");
  }
  const auto hash = work.document->pipeline_hash;
  MR_CO_TRY(auto pipeline, co_await steadily(*context, [&] { return cache_->find(services_, hash); }));
  const auto* stage = pipeline->find(job_type_);
  StageJob job{.services = services_,
               .context = std::move(context),
               .work = std::move(work),
               .pipeline = std::move(pipeline),
               .stage = stage};
  co_return co_await dispatch(std::move(job));
}

std::vector<DocumentJobType> document_job_types(const PipelineSet& pipelines) {
  std::vector<DocumentJobType> types;
  std::set<std::string, std::less<>> seen;
  for (const auto& name : pipelines.names()) {
    const auto* pipeline = pipelines.find(name);
    for (const auto& stage : pipeline->stages) {
      if (!seen.insert(stage.name).second) continue;
      types.push_back({.job_type = stage.name,
                       .queue = stage.queue,
                       .pipeline = name,
                       .timeout = stage.timeout});
    }
  }
  for (const auto type : {kOutputsType, kImageType}) {
    types.push_back({.job_type = std::string(type), .queue = "fast_queue", .pipeline = "guardian"});
  }
  return types;
}

}  // namespace millrace::pipeline
