// What the commands about documents share: their parts of the command line, how a document is
// shown, and following it to its end.
#pragma once

#include "app/cli/command.h"
#include "app/commands/document_desk.h"
#include "app/context.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

void add_documents_add(Command& documents);
void add_documents_show(Command& documents);
void add_documents_export(Command& documents);
void add_documents_verify(Command& documents);

Result<std::vector<Uuid>> parse_document_ids(const std::vector<std::string>& texts);

bool has_ended(const json::Object& document);
Cell show_document_state(const json::Value& value, const json::Object& document);
// Its name, state, and how far its stage is or what became of it, and its id; one line.
std::string describe_document(const Context& context, const json::Object& document);
// Why it does not go on; empty where nothing keeps it.
std::string waiting_reason(const json::Object& document);
// "12.3 MB".
std::string format_size(std::int64_t bytes);

struct DocumentWatchOptions {
  std::optional<std::chrono::milliseconds> timeout = {};
  std::chrono::milliseconds interval{250};
};

// Until all have ended. Exit code 0 when all completed, kExitJobFailed otherwise; unavailable when
// the timeout passed first.
Result<int> watch_documents(Context& context, DocumentDesk& desk, const std::vector<Uuid>& ids,
                            const DocumentWatchOptions& options);
// All that are under way, and those that begin meanwhile, until none is.
Result<int> watch_all_documents(Context& context, DocumentDesk& desk,
                                const DocumentWatchOptions& options);

}  // namespace millrace::app
