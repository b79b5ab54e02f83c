// ExportWorkStore: what a worker asks of the database while it makes an export, and the statement
// that writes what it made.
//
// The file, its history and its size are written in the settlement of the job
// (worker::JobContext::in_settlement), behind the fence. Before anything is stored the worker
// reserves room for it (reserve_export), which is safe to repeat: whoever does the job again gets
// the same place. Threading: any. Lifetime: the pool outlives it.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "base/uuid.h"
#include "model/outcome.h"

#include <boost/json/object.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::pg {
class Pool;
}

namespace millrace::store {

// A version of an export document.
struct ExportedDocument {
  Uuid id;
  int version = 0;
  std::string title;
  std::string template_slug;
  json::Object data = {};
};

struct ExportWork {
  std::optional<ExportedDocument> document = {};  // Nothing: it was deleted, or lies elsewhere.
  json::Object options = {};
  std::string author = {};  // The user's own name, where there is one.
};

struct ExportRoom {
  bool allowed = false;
  std::string file_path = {};  // In bucket exports.
  double used_mb = 0;
  double limit_mb = 0;
};

class ExportWorkStore {
 public:
  virtual ~ExportWorkStore() = default;

  virtual Task<ExportWork> export_work(JobId job) = 0;
  // For a file of this size.
  virtual Task<ExportRoom> reserve_export(JobId job, std::int64_t size_bytes) = 0;
};

std::unique_ptr<ExportWorkStore> make_export_work_store(pg::Pool& pool);

// For the settlement of the job; see sql/functions/export/settle_export.sql.
SqlStatement settle_export_statement(JobId job, const json::Object& item);

}  // namespace millrace::store
