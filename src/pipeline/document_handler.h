// DocumentHandler: runs every job of a document pipeline: finds out which document, page, pipeline
// version and stage a job is about, and lets the stage do it.
//
// Flow: job → DocumentStore::document_work → Stage of the version the document is bound to (the
// file says which pipeline; several may have stages of one name) → stages/… → an Outcome, with the
// statements that write the result in the settlement of the job. A job of a stage per page that
// names no page makes the jobs of the pages. Threading: as worker::Handler. Lifetime: services
// outlive it.
#pragma once

#include "pipeline/services.h"
#include "worker/handler.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace::pipeline {

// Versions of pipelines by their hash, read once each.
class PipelineCache {
 public:
  Task<std::shared_ptr<const Pipeline>> find(Services& services, std::string hash);

 private:
  std::mutex mutex_;  // Guards known_.
  std::map<std::string, std::shared_ptr<const Pipeline>, std::less<>> known_;
};

class DocumentHandler final : public worker::Handler {
 public:
  // `job_type`: a stage of any pipeline, or the outputs, or the picture of a page.
  DocumentHandler(Services& services, std::shared_ptr<PipelineCache> cache, std::string job_type);

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override;
  // Programs and addresses of authors have the run timeout as their own limit, which ends first.
  std::chrono::milliseconds wait_limit(std::chrono::milliseconds run_timeout) const override;
  std::chrono::milliseconds stop_grace() const override;

 private:
  Task<Outcome> run_stage(std::shared_ptr<worker::JobContext> context);
  // The document of the job, bound to its pipeline when this is its first one.
  Task<store::DocumentWork> find_work(worker::JobContext& context);

  Services& services_;
  std::shared_ptr<PipelineCache> cache_;  // Shared by the handlers of all stages.
  std::string job_type_;
};

// A job type of documents and a queue that its jobs may lie in.
struct DocumentJobType {
  std::string job_type;
  std::string queue;

  friend auto operator<=>(const DocumentJobType&, const DocumentJobType&) = default;
};
// Of all versions in the set that take files, and of what every document needs; each pair once,
// sorted.
std::vector<DocumentJobType> document_job_types(const PipelineSet& pipelines);

// Whose limits claims of jobs of each type count against, for millrace.bind_providers, by the
// version of every pipeline that new documents get; `limited` names it for a stage, empty:
// nobody's. Types are shared by pipelines: where they differ it is null, and each job takes its
// room by itself.
json::Object provider_bindings(const PipelineSet& pipelines,
                               const std::function<std::string(const Stage&)>& limited);

// What millrace.register_pipelines takes: the version that new documents get of every pipeline in
// the set that takes this, and its queues and job types. `defaults` are policies of queues that do
// not say them.
json::Array registration_of(const PipelineSet& pipelines, Takes takes,
                            const json::Object& defaults);

}  // namespace millrace::pipeline
