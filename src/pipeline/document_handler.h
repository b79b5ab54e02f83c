// DocumentHandler: runs every job of a document pipeline: finds out which document, page, pipeline
// version and stage a job is about, and lets the stage do it.
//
// Flow: job → DocumentStore::document_work → Stage of the version the document began with →
// stages/… → an Outcome, with the statements that write the result in the settlement of the job. A
// job of a stage per page that names no page makes the jobs of the pages.
// Threading: as worker::Handler. Lifetime: services outlive it.
#pragma once

#include "pipeline/services.h"
#include "worker/handler.h"

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
  // `job_type`: a stage of `pipeline`, or the outputs, or the picture of a page.
  DocumentHandler(Services& services, std::shared_ptr<PipelineCache> cache, std::string pipeline,
                  std::string job_type);

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override;

 private:
  Task<Outcome> run_stage(std::shared_ptr<worker::JobContext> context);

  Services& services_;
  std::shared_ptr<PipelineCache> cache_;  // Shared by the handlers of all stages.
  std::string pipeline_;
  std::string job_type_;
};

// All job types of the pipelines in the set, with their queues: what a worker registers.
struct DocumentJobType {
  std::string job_type;
  std::string queue;
  std::string pipeline;
  std::chrono::milliseconds timeout{};
};
std::vector<DocumentJobType> document_job_types(const PipelineSet& pipelines);

}  // namespace millrace::pipeline
