// What the end of a task in a child means for its job: one table.
//
// A document that makes its reader crash, or use more than it may, counts towards poison: after the
// third time the job is dead and its content quarantined. A child that somebody else killed, or
// could not be started, says nothing about the document.
#pragma once

#include "base/result.h"
#include "model/outcome.h"
#include "sandbox/task_spec.h"

#include <optional>
#include <string_view>

namespace millrace::pipeline {

// Nothing: the task came to its result.
std::optional<Outcome> failed_task(const Result<sandbox::TaskResult>& task, std::string_view what);

// Of an error of our own services (database, blob store): later, and uncharged where waiting helps.
Outcome outcome_of(const Error& error, std::string_view what);

}  // namespace millrace::pipeline
