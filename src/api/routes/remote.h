// Operations of remote workers: processes that reach the engine over HTTP and need no database.
//
// Register, claim (a long poll with credit), extend, progress, log, settle, deregister. Every call
// names the process and is fenced like those of any worker: by the token of each delivery, and by
// the credentials that the process was registered with. All of them may be repeated after a lost
// answer. A claim says what the worker holds; what it was given and does not name goes back.
#pragma once

#include "api/operation.h"
#include "api/work/claim_line.h"
#include "base/random.h"
#include "store/api/remote_work.h"

#include <vector>

namespace millrace::api {

// What they refer to outlives the operations.
struct RemoteParts {
  store::RemoteWorkStore& store;
  ClaimLine& line;
  Clock& clock;
  Random& random;
  const Logger& log;
};

std::vector<Operation> remote_operations(const RemoteParts& parts);

}  // namespace millrace::api
