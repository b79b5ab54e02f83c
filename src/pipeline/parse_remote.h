// Parsers outside: a stage `parse` whose provider is not `local`.
//
// The parse is asked for once (millrace.parse_request, the intent before the call), then the job is
// deferred until its next look; a webhook brings that look forward, polling is the guarantee, the
// deadline of the request the end. What arrived is handed to settled_parse().
#pragma once

#include "pipeline/stage_job.h"

namespace millrace::pipeline {

Task<Outcome> run_parse_remote(StageJob job);

}  // namespace millrace::pipeline
