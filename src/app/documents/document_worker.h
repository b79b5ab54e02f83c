// What a worker needs to take the jobs of documents: pipelines, the program that reads them, providers
// and the blob store, made of the settings.
#pragma once

#include "app/config/settings.h"
#include "app/engine.h"
#include "base/json.h"
#include "base/result.h"
#include "worker/handler_registry.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace::app {

struct Context;

// documents.enabled, and the program that reads documents is there.
bool takes_documents(const Settings& settings);

// Job types of documents with their queues.
std::vector<std::pair<std::string, std::string>> document_types(const Settings& settings);

// Whose limits jobs of each type count against, for millrace.bind_providers.
json::Object document_bindings(const Settings& settings);

// Handlers for all of them that have none yet. Everything they need lives as long as they do;
// context and parts outlive them. invalid_argument names the setting or pipeline file that is wrong.
Result<void> add_document_handlers(Context& context, const HandlerParts& parts,
                                   worker::HandlerRegistry& registry);

}  // namespace millrace::app
