#include "store/api/api_store.h"

#include <utility>

namespace millrace::store {

ApiStore make_api_store(pg::Pool& pool, ApiSession::Timeouts timeouts) {
  auto session = std::make_unique<ApiSession>(pool, timeouts);
  auto& use = *session;
  return {.session = std::move(session),
          .tenants = make_tenant_store(use),
          .tokens = make_token_store(use),
          .uploads = make_upload_store(use),
          .files = make_file_store(use),
          .blobs = make_blob_ledger(use),
          .documents = make_document_catalog(use),
          .search = make_search_store(use),
          .requests = make_request_store(use),
          .events = make_event_store(use),
          .compute = make_compute_store(use),
          .rest = make_rest_store(use),
          .jobs_read = make_job_reader(use),
          .jobs_write = make_job_writer(use),
          .operations = make_operation_store(use),
          .evidence = make_evidence_store(use),
          .health = make_health_store(use),
          .remote_work = make_remote_work_store(use)};
}

}  // namespace millrace::store
