// Documents: how far they are, what was found, what they are handed out as; and for those who run
// the engine what is quarantined and what providers cost.
//
// A user sees the own ones; what belongs to others does not exist (MR041). Outputs come from the
// blob store, whole or in ranges, or by links that are made when somebody asks and kept nowhere.
#pragma once

#include "api/operation.h"
#include "api/upload/signed_links.h"
#include "blob/blob_store.h"
#include "identity/content_signer.h"
#include "store/api/documents.h"

#include <chrono>
#include <vector>

namespace millrace::api {

struct DocumentServices {
  store::DocumentCatalog& documents;
  blob::BlobStore& blobs;
  const SignedLinks& links;
  // Signs manifests; null: nobody would know the key.
  const identity::ContentSigner* signer = nullptr;
};

struct DocumentRouteOptions {
  std::chrono::milliseconds time_max = std::chrono::hours(1);  // Of one download.
};

// The services outlive the operations. All of them together; the others are its parts, by file.
std::vector<Operation> document_operations(DocumentServices services, DocumentRouteOptions options);
std::vector<Operation> document_output_operations(DocumentServices services,
                                                  DocumentRouteOptions options);
std::vector<Operation> document_staff_operations(DocumentServices services);

// The document that the path names. MR041.
Task<json::Object> find_document(Call& call, DocumentServices services);
// Whether a stage of it is under way, or its first job waits.
bool is_under_way(const json::Object& document);
// Whether there is a picture of the page as it was read last: drawn since the document ended. One
// of an earlier run shows what was read then.
bool is_drawn(const json::Object& document, std::int64_t page);

// "5.00" of a currency as millionths: at most nine digits before the point and six behind it.
Result<std::int64_t> parse_amount(std::string_view text);

}  // namespace millrace::api
