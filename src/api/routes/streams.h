// Operations that stream events: of a job, a batch, a queue, a tenant.
#pragma once

#include "api/operation.h"
#include "api/routes/exports.h"
#include "api/stream/event_hub.h"
#include "store/api/jobs_read.h"
#include "store/api/operations.h"

#include <optional>
#include <vector>

namespace millrace::api {

struct StreamParts {
  EventHub& hub;
  store::JobReader& jobs;
  store::OperationStore& operations;
  // With them the end of an export says where its file is.
  std::optional<ExportServices> exports = {};
};

// What they refer to outlives them.
std::vector<Operation> stream_operations(StreamParts parts);

}  // namespace millrace::api
