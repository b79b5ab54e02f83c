// The pipelines of this installation: those inside the program and those of the folder that the
// settings name, and what of their surroundings is there.
#pragma once

#include "app/config/settings.h"
#include "base/result.h"
#include "pipeline/definition/pipeline_set.h"

#include <filesystem>
#include <optional>

namespace millrace::app {

// pipeline.dir, absolute; nothing: it is not set.
std::optional<std::filesystem::path> pipeline_folder(const Settings& settings);

// Providers with a key or an address; programs of the folder that can be run.
pipeline::Known surroundings(const Settings& settings,
                             const std::optional<std::filesystem::path>& folder);

// invalid_argument with the first problem: a worker does not start with half of its pipelines.
Result<pipeline::PipelineSet::Loaded> load_pipelines(const Settings& settings);

}  // namespace millrace::app
