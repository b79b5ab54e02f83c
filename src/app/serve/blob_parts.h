// BlobParts: the blob store of this installation, and what the API does with it: uploads, files,
// sweeps.
//
// Flow: made of the settings, which are checked at once; nothing is touched before open(), so the
// table of operations can be made without a store. Other parts of the API that move content use
// store(), engine(), files() and links(). Threading: made and opened by its owner; used by all
// threads of the server. Lifetime: the services outlive it.
#pragma once

#include "api/operation.h"
#include "api/upload/signed_links.h"
#include "api/upload/upload_engine.h"
#include "app/context.h"
#include "app/database.h"
#include "base/cancel.h"
#include "base/task.h"
#include "blob/make_store.h"
#include "http/client.h"
#include "identity/content_signer.h"
#include "store/api/blobs.h"
#include "store/api/files.h"
#include "store/api/session.h"

#include <memory>
#include <vector>

namespace millrace::app {

// As storage.* says. invalid_argument names the setting that is missing or wrong.
Result<blob::StoreOptions> store_options(const Settings& settings);

class BlobParts {
 public:
  struct Services {
    Context& context;
    Executor executor;  // Of connections to the database.
    Database database;
    store::ApiSession& session;  // For reading.
    http::Client& client;
    const identity::TicketMaker& tickets;
    identity::KeyDirectory& directory;
    api::TenantPolicies& policies;
    const identity::ContentSigner* signer = nullptr;  // Null: its key would end with the process.
  };

  static Result<std::unique_ptr<BlobParts>> make(Services services);
  ~BlobParts();
  BlobParts(const BlobParts&) = delete;
  BlobParts& operator=(const BlobParts&) = delete;

  // Blocks: makes folders. Before the first request.
  Result<void> open();
  // The duties of a server, until told to stop.
  awaitable<void> sweep(CancelToken stop);
  void close();  // After the last request.

  std::vector<api::Operation> operations();

  blob::BlobStore& store();
  api::UploadEngine& engine();
  store::FileStore& files();
  const api::SignedLinks& links() const;

 private:
  struct Impl;
  explicit BlobParts(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::app
