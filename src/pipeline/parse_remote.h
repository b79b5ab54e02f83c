// Parsers outside: a stage `parse` whose provider is not `local`.
//
// The parse is asked for once (millrace.parse_request, the intent before the call), then the job is
// deferred until its next look; a webhook brings that look forward, polling is the guarantee, the
// deadline of the request the end. What arrived is handed to settled_parse().
#pragma once

#include "pipeline/stage_job.h"

#include <chrono>

namespace millrace::pipeline {

// How long until the next look at a parse that has been waited for so long: as long again, from 2 s
// to a minute; two minutes after the first day, so that the longest deadline ends the wait and not
// the number of times that a queue lets a job wait.
std::chrono::milliseconds pause_after(std::chrono::milliseconds waited);

Task<Outcome> run_parse_remote(StageJob job);

}  // namespace millrace::pipeline
