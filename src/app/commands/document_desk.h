// DocumentDesk: what the commands about documents do, one after the other: ask the database, read
// and write the blob store of this installation.
//
// The same stores and the same upload engine as the server's, run to their end on the command's own
// thread, as the role of the server. Threading: one thread. Lifetime: the context outlives it.
#pragma once

#include "api/upload/upload_engine.h"
#include "app/context.h"
#include "base/run.h"
#include "base/uuid.h"
#include "blob/blob_store.h"
#include "store/admin_store.h"
#include "store/api/documents.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::app {

// Documents that somebody adds here without naming a patient are of nobody in particular.
inline constexpr Uuid kNobody{};

class DocumentDesk {
 public:
  // Connected, with the schema in place.
  static Result<std::unique_ptr<DocumentDesk>> open(Context& context);
  ~DocumentDesk();
  DocumentDesk(const DocumentDesk&) = delete;
  DocumentDesk& operator=(const DocumentDesk&) = delete;

  store::AdminStore& admin();

  Result<json::Object> get(const Uuid& document);
  Result<json::Array> list(const store::DocumentList& list);
  // All of them, page by page.
  Result<json::Array> pages(const Uuid& document);
  Result<json::Array> facts(const Uuid& document, std::size_t most);
  Result<JobId> ask_image(const Uuid& document, int page);
  Result<json::Object> retry(const Uuid& document);
  Result<json::Array> quarantine(int limit);
  Result<std::int64_t> release(const std::string& sha256);
  Result<json::Array> spend(int days);
  Result<void> set_budget(const std::string& provider, std::optional<std::int64_t> micros);

  // Makes a file and its first job of the content, or finds those that the key has made already.
  Result<api::UploadAnswer> upload(store::NewUpload upload, api::ContentSource& content,
                                   const blob::Digest& sha256);

  using Take = std::function<Result<void>(std::span<const std::byte>)>;
  // The bytes of an output, from the first to the last; MR041 where there is none. What has not the
  // digest it is named by is an error before its last byte.
  Result<void> read_output(const Uuid& document, const std::string& kind, int page,
                           const Take& take);
  // Of the file itself.
  Result<void> read_original(const Uuid& document, const Take& take);

 private:
  struct Parts;
  explicit DocumentDesk(std::unique_ptr<Parts> parts);
  Result<blob::BlobStore*> blobs();
  Result<void> read_blob(const std::string& store_key, const Take& take);

  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::app
