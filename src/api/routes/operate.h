// Operations for those who run the engine: queues, job types, limits, cron, workers, configuration.
#pragma once

#include "api/operation.h"
#include "store/api/operations.h"

#include <vector>

namespace millrace::api {

// The store outlives them.
std::vector<Operation> queue_operations(store::OperationStore& operations);
std::vector<Operation> limit_operations(store::OperationStore& operations);
std::vector<Operation> cron_operations(store::OperationStore& operations);
std::vector<Operation> system_operations(store::OperationStore& operations);

}  // namespace millrace::api
