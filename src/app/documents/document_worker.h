// What a worker needs to take the jobs of documents: pipelines, the program that reads them,
// providers and the blob store, made of the settings.
#pragma once

#include "app/config/settings.h"
#include "app/engine.h"
#include "base/json.h"
#include "base/result.h"
#include "worker/handler_registry.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace millrace::app {

struct Context;

// documents.program, or the one beside this program.
std::filesystem::path document_program(const Settings& settings);

// documents.enabled, and the program that reads documents is there.
bool takes_documents(const Settings& settings);

// What the database is told of the pipelines here, for millrace.register_pipelines.
Result<json::Array> document_registration(const Settings& settings);

// Job types of documents with their queues; a type may be in several.
std::vector<std::pair<std::string, std::string>> document_types(const Settings& settings);

// Whose limits jobs of each type count against, for millrace.bind_providers.
json::Object document_bindings(const Settings& settings);

// Handlers for all of them, and for the types kept in the context, that have none yet. Everything
// they need lives as long as they do; context and parts outlive them. invalid_argument names the
// setting or pipeline file that is wrong.
Result<void> add_document_handlers(Context& context, const HandlerParts& parts,
                                   worker::HandlerRegistry& registry);

}  // namespace millrace::app
