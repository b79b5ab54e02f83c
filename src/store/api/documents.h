// DocumentCatalog: documents as callers see them, quarantine and spending as operators do; one call
// per SQL function.
//
// A user sees the own documents; another's, another tenant's and what is not there look the same
// (MR041). Rows come as JSON text. What a worker does to documents is store/document_store.h.
// Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace millrace::store {

struct DocumentList {
  std::optional<Uuid> before = {};  // Newest first.
  std::optional<std::string> state = {};
  std::optional<Uuid> patient = {};
  int limit = 50;  // 1 to 1000, as of all lists here.
};

// What is needed to hand out an output; store_key and sha256 are not for clients.
struct DocumentOutput {
  std::string file_name;
  std::string content_type;
  std::int64_t size_bytes = 0;
  std::string sha256;  // Hexadecimal.
  std::string store_key;
};

class DocumentCatalog {
 public:
  virtual ~DocumentCatalog() = default;

  // With its outputs. MR041.
  virtual Task<std::string> get_document(CallContext caller, Uuid document) = 0;
  // Arrays; MR041 where they are about one document.
  virtual Task<std::string> list_documents(CallContext caller, DocumentList list) = 0;
  virtual Task<std::string> list_pages(CallContext caller, Uuid document, int after, int limit) = 0;
  // In the order of pages. MR042 where `after` was replaced meanwhile.
  virtual Task<std::string> list_facts(CallContext caller, Uuid document, std::optional<Uuid> after,
                                       int limit) = 0;
  // Asked by the server itself, for the caller's tenant: whoever calls this has seen with
  // get_document that the document is the caller's. Nothing where it was not made. `page` 0: of
  // all.
  virtual Task<std::optional<DocumentOutput>> get_output(CallContext caller, Uuid document,
                                                         std::string kind, int page) = 0;
  // The job that draws the page; the same one while it is under way.
  virtual Task<JobId> ask_image(CallContext caller, Uuid document, int page) = 0;
  // {"id", "job_id", "run"}. MR042 while it is processed.
  virtual Task<std::string> retry_document(CallContext caller, Uuid document) = 0;

  // Of the caller's tenant, of all without one; asked by the server itself.
  virtual Task<std::string> list_quarantine(CallContext caller, int limit) = 0;
  // In how many tenants it was; 0: in none.
  virtual Task<std::int64_t> release_quarantine(CallContext caller, std::string sha256) = 0;
  virtual Task<std::string> list_spend(CallContext caller, int days) = 0;
  // Millionths; nothing: back to the general one.
  virtual Task<void> set_budget(CallContext caller, std::string provider,
                                std::optional<std::int64_t> micros_per_day) = 0;
};

std::unique_ptr<DocumentCatalog> make_document_catalog(ApiSession& session);

}  // namespace millrace::store
