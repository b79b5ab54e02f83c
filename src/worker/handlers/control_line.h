// take_control_line: what a program says on fd 3 while it runs, one JSON object a line.
#pragma once

#include "worker/handlers/exec_outcome.h"
#include "worker/job_context.h"

#include <string_view>

namespace millrace::worker {

// Progress and log lines go to the context, a retry_after into the notes. A line that says nothing
// known goes to the job's log.
void take_control_line(std::string_view line, JobContext& context, ExecNotes& notes);

}  // namespace millrace::worker
