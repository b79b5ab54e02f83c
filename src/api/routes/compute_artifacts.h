// Artifacts of compute jobs: listed with URLs that are good for minutes, and handed out.
#pragma once

#include "api/call.h"
#include "api/routes/compute.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::api {

// What the database says of a compute job; JSON as it was written.
struct ComputeJob {
  JobId id;
  std::string status;  // As the engine has it: "completed".
  std::int64_t attempts = 0;
  std::optional<std::string> last_error = {};
  std::optional<std::string> outputs = {};
  json::Array artifacts = {};
};

// The job of the path parameter `id`. not_found for any other job than a compute job.
Task<ComputeJob> find_compute(Call& call, store::ComputeStore& store);

std::vector<Operation> artifact_operations(const std::shared_ptr<const ComputeParts>& parts);

}  // namespace millrace::api
