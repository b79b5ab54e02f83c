// Operations about the API itself: its document, its page, who is calling, tokens for streams.
#pragma once

#include "api/openapi.h"
#include "api/operation.h"
#include "base/clock.h"
#include "identity/ticket.h"

#include <memory>
#include <string>
#include <vector>

namespace millrace::api {

// The document and the page, made once the table is there.
struct ApiDocuments {
  std::string openapi;
  std::string page;
};

// Shared by the handlers that serve them and by whoever fills them in before the server starts.
using ApiDocumentsPtr = std::shared_ptr<ApiDocuments>;

std::vector<Operation> meta_operations(const identity::TicketMaker& tickets, const Clock& clock,
                                       ApiDocumentsPtr documents);

void fill_documents(ApiDocuments& documents, const OperationTable& table, const ApiInfo& info);

}  // namespace millrace::api
