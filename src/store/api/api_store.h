// ApiStore: all that the API server asks of the database, by noun.
//
// A server makes one over its pool (and, for its own duties, such as following events, one over a
// pool of their own: requests must not hold up streams). Tests make one of fakes. Threading: any.
// Lifetime: the pool outlives it.
#pragma once

#include "store/api/blobs.h"
#include "store/api/compute.h"
#include "store/api/documents.h"
#include "store/api/events.h"
#include "store/api/evidence.h"
#include "store/api/files.h"
#include "store/api/health.h"
#include "store/api/jobs_read.h"
#include "store/api/jobs_write.h"
#include "store/api/operations.h"
#include "store/api/remote_work.h"
#include "store/api/requests.h"
#include "store/api/rest.h"
#include "store/api/search.h"
#include "store/api/session.h"
#include "store/api/tenants.h"
#include "store/api/tokens.h"
#include "store/api/uploads.h"

#include <memory>

namespace millrace::store {

struct ApiStore {
  std::unique_ptr<ApiSession> session;  // What the others use; nothing where they are fakes.
  std::unique_ptr<TenantStore> tenants;
  std::unique_ptr<TokenStore> tokens;
  std::unique_ptr<UploadStore> uploads;
  std::unique_ptr<FileStore> files;
  std::unique_ptr<BlobLedger> blobs;
  std::unique_ptr<DocumentCatalog> documents;
  std::unique_ptr<SearchStore> search;
  std::unique_ptr<RequestStore> requests;
  std::unique_ptr<EventStore> events;
  std::unique_ptr<ComputeStore> compute;
  std::unique_ptr<RestStore> rest;
  std::unique_ptr<JobReader> jobs_read;
  std::unique_ptr<JobWriter> jobs_write;
  std::unique_ptr<OperationStore> operations;
  std::unique_ptr<EvidenceStore> evidence;
  std::unique_ptr<HealthStore> health;
  std::unique_ptr<RemoteWorkStore> remote_work;
};

ApiStore make_api_store(pg::Pool& pool, ApiSession::Timeouts timeouts = {});

}  // namespace millrace::store
