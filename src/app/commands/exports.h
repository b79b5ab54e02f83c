// What the commands about exports share.
#pragma once

#include "app/cli/command.h"
#include "app/commands/export_desk.h"
#include "app/context.h"

#include <string>
#include <vector>

namespace millrace::app {

void add_export_run(Command& exports);
void add_export_documents(Command& exports);

// Uuids of documents, each once.
Result<std::vector<Uuid>> parse_export_ids(const std::vector<std::string>& texts);
// An error about a document that there is not, or not in this tenant.
Error without_document(Error error);

}  // namespace millrace::app
