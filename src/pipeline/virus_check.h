// What clamd says of a file, before anything else reads it.
#pragma once

#include "pipeline/stage_job.h"
#include "sandbox/unique_fd.h"

#include <optional>
#include <string>

namespace millrace::pipeline {

struct VirusCheck {
  std::optional<Outcome> failed = {};      // Not having looked is no clean bill.
  std::optional<json::Object> found = {};  // The finding: rule, severity, detail.
};

// One thing that was found: {"rule","severity","detail"}.
json::Object finding(std::string_view rule, std::string_view severity, std::string_view detail);

// What it means for the job that clamd gave no verdict. That it is away is nobody's attempt: the
// job waits for it, as long as its queue lets it.
Outcome not_looked(const provider::CallFailure& failure);

// The services have a clamd. The file is read to its end.
awaitable<VirusCheck> ask_clamd(StageJob& job, const sandbox::UniqueFd& file);

}  // namespace millrace::pipeline
