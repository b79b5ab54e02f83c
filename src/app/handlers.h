// Handlers: from [[handler]] tables to the registry of a worker, and the queues it then serves.
#pragma once

#include "app/config/settings.h"
#include "app/terminal.h"
#include "base/result.h"
#include "http/client.h"
#include "store/admin_store.h"
#include "worker/handler_registry.h"
#include "worker/options.h"

#include <string>
#include <vector>

namespace millrace::app {

struct Context;
struct HandlerParts;

// One handler. `client` outlives it.
std::unique_ptr<worker::Handler> make_handler(const HandlerConfig& config,
                                              const Environment& environment, http::Client& client,
                                              bool test_outcomes);

// Those of the settings, and noop, sleep, (with an app server) compute_solve, the stages of
// documents and (with a browser) export_pdf unless the settings say otherwise. Context and parts
// outlive them.
Result<worker::HandlerRegistry> make_registry(Context& context, const HandlerParts& parts);

// Before anything is started: programs that are not there are better told now than job by job.
Result<void> check_handlers(const Settings& settings);

// Names of the types that make_registry gives handlers.
std::vector<std::string> handled_types(const Settings& settings);

// Creates the queues of [[queue]] that do not exist, tells the database of the pipelines of
// documents, and says which queues hold the handled types: worker.queues if set, else those of the
// types.
Result<std::vector<worker::QueueChoice>> prepare_queues(Context& context, store::AdminStore& store);

}  // namespace millrace::app
