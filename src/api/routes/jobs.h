// Operations on jobs, batches and dead letters.
#pragma once

#include "api/operation.h"
#include "store/api/jobs_read.h"
#include "store/api/jobs_write.h"

#include <vector>

namespace millrace::api {

struct JobStores {
  store::JobReader& reader;
  store::JobWriter& writer;
};

// The stores outlive them.
std::vector<Operation> job_read_operations(JobStores stores);
std::vector<Operation> job_write_operations(JobStores stores);
std::vector<Operation> batch_operations(JobStores stores);
std::vector<Operation> dead_letter_operations(JobStores stores);

}  // namespace millrace::api
