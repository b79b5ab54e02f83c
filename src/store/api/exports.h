// ExportStore: PDF exports of users, enqueued as the source enqueues them. Threading and lifetime:
// as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"

#include <memory>
#include <string>

namespace millrace::store {

struct NewExport {
  Uuid user;
  Uuid document;
  std::string options_json = "{}";
};

class ExportStore {
 public:
  virtual ~ExportStore() = default;

  // Its job; while one with the same document and options is live, that one. No client may
  // call it in the database: the server does, for the user it knows.
  virtual Task<JobId> create_export_job(CallContext caller, NewExport wanted) = 0;
};

std::unique_ptr<ExportStore> make_export_store(ApiSession& session);

}  // namespace millrace::store
