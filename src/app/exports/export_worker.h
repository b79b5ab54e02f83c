// What a worker needs to take orders of exports: templates, browsers, the blob store, made of the
// settings and of the pipeline `export`.
//
// Browsers are started by the first export and stay warm; a worker without exports has none.
#pragma once

#include "app/config/settings.h"
#include "app/engine.h"
#include "base/json.h"
#include "base/result.h"
#include "worker/handler_registry.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct Context;

inline constexpr std::string_view kExportJobType = "export_pdf";

// export.program, or the one that is installed. not_found: there is none.
Result<std::string> export_browser(const Settings& settings);

// export.enabled, and there is a browser.
bool takes_exports(const Settings& settings);

// export.template_dirs, absolute.
std::vector<std::filesystem::path> template_folders(const Settings& settings);

// Browsers of one worker process.
std::size_t export_browsers(const Settings& settings);

// Where its jobs lie.
std::string export_queue(const Settings& settings);

// What the database is told of the pipeline, for millrace.register_pipelines.
Result<json::Array> export_registration(const Settings& settings);

// The handler, unless the settings have one of that type. Context and parts outlive it.
// invalid_argument names the setting or the pipeline file that is wrong.
Result<void> add_export_handler(Context& context, const HandlerParts& parts,
                                worker::HandlerRegistry& registry);

}  // namespace millrace::app
