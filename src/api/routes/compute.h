// Operations of the compute pipeline: ask, look, fetch; contracts and artifacts.
//
// Names, statuses and bodies of /jobs/run, /jobs/status and /jobs/result are the source's (H-13 to
// H-16). A question that breaks its contract makes no job; equal questions of one tenant and app
// are one job. Artifacts are handed out by signed URLs that are made when they are asked for.
#pragma once

#include "api/compute/contract_directory.h"
#include "api/operation.h"
#include "blob/blob_store.h"
#include "identity/ticket.h"
#include "store/api/compute.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace millrace::api {

// What they refer to outlives the operations.
struct ComputeParts {
  store::ComputeStore& store;
  store::RequestStore& requests;
  const ContractDirectory& contracts;
  const identity::TicketMaker& tickets;
  const Clock& clock;
  const Logger& log;
  blob::BlobStore* blobs = nullptr;  // Nothing: artifacts are listed, and not handed out.
  std::string app_id = "default";    // Of questions that name none.
  std::optional<std::chrono::seconds> result_ttl = {};  // Else the database's own.
  std::string public_url = {};                          // Before paths of artifacts.
};

std::vector<Operation> compute_operations(const ComputeParts& parts);

// Where to go to read an artifact, within its job.
std::string artifact_path(const JobId& job, std::string_view artifact);

}  // namespace millrace::api
