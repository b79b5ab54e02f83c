// ExportHandler: runs export_pdf jobs: the version of a document that was ordered becomes a PDF in
// the blob store, and rows that name it in the settlement of the job.
//
// Flow: job → ExportWorkStore::export_work → template → HTML → Renderer (again, where the page
// shows on which pages its parts are) → PDF, streamed into the blob store and finished only once
// the quota has room for it (reserve_export) → settle_export. A death at any step costs the
// rendering; content that no row names is swept. Progress as in X-04. The first job starts the
// browsers. Threading: as worker::Handler. Lifetime: services outlive it.
#pragma once

#include "base/clock.h"
#include "blob/blob_store.h"
#include "pipeline/export/export_request.h"
#include "render/renderer.h"
#include "store/export_work.h"
#include "template/template_store.h"
#include "worker/handler.h"

#include <functional>
#include <memory>

namespace millrace::pipeline {

struct ExportServices {
  store::ExportWorkStore& store;
  blob::BlobStore& blobs;
  const templates::TemplateStore& templates;
  // Starts them, if they do not run yet; called on the worker's executor.
  std::function<Result<render::Renderer*>()> browsers;
  Executor threads;  // For templates.
  ExportLimits limits = {};
};

class ExportHandler final : public worker::Handler {
 public:
  explicit ExportHandler(ExportServices& services) : services_(services) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override;

 private:
  ExportServices& services_;
};

}  // namespace millrace::pipeline
