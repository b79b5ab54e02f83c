// The --map file of `millrace import`: what jobs of another queue are called here, where they go,
// and what becomes of the rows they leave behind.
//
//   queue = "mails"              # of job types that are made on demand; default: default
//   priority = 100               # what the usual priority of pg-boss or graphile-worker becomes
//   rows = "delete"              # the source's rows go; default "keep": they are marked as moved
//   parse_queued = "uploaded"    # baseworker: parse again what waits for a callback; default
//   "wait" [types] "send mail" = "send_mail" report = { type = "report_generation", queue =
//   "system" } noise = { skip = true }
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace millrace::app {

// As millrace.judge_imports takes it. Errors are invalid_argument and name file, line and rule.
Result<json::Object> parse_import_map(std::string_view text, const std::string& name);

}  // namespace millrace::app
