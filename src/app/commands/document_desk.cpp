#include "app/commands/document_desk.h"

#include "app/commands/desk.h"
#include "app/compute/worker_blobs.h"
#include "app/database.h"
#include "http/client.h"
#include "pg/pool.h"
#include "store/api/files.h"
#include "store/api/session.h"
#include "store/api/uploads.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::app {
namespace {

constexpr int kPagesAtOnce = 200;
constexpr int kFactsAtOnce = 1000;

}  // namespace

struct DocumentDesk::Parts {
  Parts(Context& of, store::AdminStore own, const Database& database)
      : context(of),
        admin(std::move(own)),
        pool(io.get_executor(), connect_as(database, "millrace_api", "millrace-cli"),
             {.connections_max = 2}, of.random),
        client(io.get_executor(), {}) {}

  template <class T>
  Result<T> run(Task<T> task) {
    return run_blocking(io, std::move(task));
  }

  Context& context;
  store::AdminStore admin;
  boost::asio::io_context io{1};
  pg::Pool pool;
  store::ApiSession session{pool};
  std::unique_ptr<store::DocumentCatalog> catalog = store::make_document_catalog(session);
  std::unique_ptr<store::FileStore> files = store::make_file_store(session);
  std::unique_ptr<store::UploadStore> uploads = store::make_upload_store(session);
  http::Client client;
  std::unique_ptr<WorkerBlobs> blobs;         // When it is needed first.
  std::unique_ptr<api::UploadEngine> engine;  // Likewise.
  store::CallContext caller{.role = "millrace_api"};
};

DocumentDesk::DocumentDesk(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

DocumentDesk::~DocumentDesk() {
  parts_->engine.reset();
  parts_->blobs.reset();
  parts_->pool.close();
}

Result<std::unique_ptr<DocumentDesk>> DocumentDesk::open(Context& context) {
  MR_TRY(const auto database, find_database(context.settings));
  MR_TRY(auto admin, context.connect_to(database));
  auto parts = std::make_unique<Parts>(context, std::move(admin), database);
  if (context.global.tenant) {
    MR_TRY(parts->caller.tenant, TenantId::parse(*context.global.tenant));
  }
  parts->caller.actor = "cli";
  return std::unique_ptr<DocumentDesk>(new DocumentDesk(std::move(parts)));
}

store::AdminStore& DocumentDesk::admin() { return parts_->admin; }

Result<json::Object> DocumentDesk::get(const Uuid& document) {
  return object_of(parts_->run(parts_->catalog->get_document(parts_->caller, document)));
}

Result<json::Array> DocumentDesk::list(const store::DocumentList& list) {
  return rows_of(parts_->run(parts_->catalog->list_documents(parts_->caller, list)));
}

Result<json::Array> DocumentDesk::pages(const Uuid& document) {
  json::Array all;
  for (int after = 0;;) {
    MR_TRY(auto rows, rows_of(parts_->run(parts_->catalog->list_pages(parts_->caller, document,
                                                                      after, kPagesAtOnce))));
    if (rows.empty()) return all;
    after = static_cast<int>(int_member(rows.back().as_object(), "page"));
    for (auto& row : rows) all.push_back(std::move(row));
  }
}

Result<json::Array> DocumentDesk::facts(const Uuid& document, std::size_t most) {
  json::Array all;
  std::optional<Uuid> after;
  while (all.size() < most) {
    const auto wanted = std::min<std::size_t>(kFactsAtOnce, most - all.size());
    MR_TRY(auto rows, rows_of(parts_->run(parts_->catalog->list_facts(
                          parts_->caller, document, after, static_cast<int>(wanted)))));
    if (rows.empty()) break;
    MR_TRY(after, Uuid::parse(text_member(rows.back().as_object(), "id")));
    for (auto& row : rows) all.push_back(std::move(row));
  }
  return all;
}

Result<JobId> DocumentDesk::ask_image(const Uuid& document, int page) {
  return parts_->run(parts_->catalog->ask_image(parts_->caller, document, page));
}

Result<json::Object> DocumentDesk::retry(const Uuid& document) {
  return object_of(parts_->run(parts_->catalog->retry_document(parts_->caller, document)));
}

Result<json::Array> DocumentDesk::quarantine(int limit) {
  return rows_of(parts_->run(parts_->catalog->list_quarantine(parts_->caller, limit)));
}

Result<std::int64_t> DocumentDesk::release(const std::string& sha256) {
  return parts_->run(parts_->catalog->release_quarantine(parts_->caller, sha256));
}

Result<json::Array> DocumentDesk::spend(int days) {
  return rows_of(parts_->run(parts_->catalog->list_spend(parts_->caller, days)));
}

Result<void> DocumentDesk::set_budget(const std::string& provider,
                                      std::optional<std::int64_t> micros) {
  return parts_->run(parts_->catalog->set_budget(parts_->caller, provider, micros));
}

Result<blob::BlobStore*> DocumentDesk::blobs() {
  if (!parts_->blobs) {
    MR_TRY(parts_->blobs,
           WorkerBlobs::open(parts_->context.settings, {.client = parts_->client,
                                                        .clock = parts_->context.clock,
                                                        .random = parts_->context.random}));
  }
  return &parts_->blobs->store();
}

Result<api::UploadAnswer> DocumentDesk::upload(store::NewUpload upload, api::ContentSource& content,
                                               const blob::Digest& sha256) {
  MR_TRY(auto* store, blobs());
  if (!parts_->engine) {
    parts_->engine = std::make_unique<api::UploadEngine>(
        api::UploadEngine::Services{.uploads = *parts_->uploads,
                                    .blobs = *store,
                                    .clock = parts_->context.clock,
                                    .random = parts_->context.random,
                                    .log = parts_->context.log});
  }
  auto caller = parts_->caller;
  // New rows belong to somebody: to the tenant of those who name none.
  if (!caller.tenant) caller.tenant = TenantId{};
  return parts_->run(parts_->engine->receive(std::move(caller), std::move(upload), content,
                                             api::Expected{.sha256 = sha256}));
}

Result<void> DocumentDesk::read_blob(const std::string& store_key, const Take& take) {
  MR_TRY(auto* store, blobs());
  MR_TRY(const auto key, blob::BlobKey::parse(store_key));
  auto read = parts_->run(copy_content(*store, key, take));
  if (!read && read.error().kind == ErrorKind::not_found) {
    return fail(Error{.kind = ErrorKind::internal,
                      .message = fmt::format("content {} is not in the blob store", store_key),
                      .hint = "check storage.* with 'millrace config'"});
  }
  return read;
}

Result<void> DocumentDesk::read_output(const Uuid& document, const std::string& kind, int page,
                                       const Take& take) {
  MR_TRY(const auto output,
         parts_->run(parts_->catalog->get_output(parts_->caller, document, kind, page)));
  if (!output) {
    return fail(Error{.kind = ErrorKind::not_found,
                      .message = fmt::format("document {} has no output {}", document, kind),
                      .sqlstate = "MR041"});
  }
  return read_blob(output->store_key, take);
}

Result<void> DocumentDesk::read_original(const Uuid& document, const Take& take) {
  MR_TRY(const auto row, parts_->run(parts_->files->get_file(parts_->caller, document)));
  MR_TRY(const auto file, parse_json_object(row.json, kDeskLimits));
  auto caller = parts_->caller;
  MR_TRY(caller.tenant, TenantId::parse(text_member(file, "tenant_id")));
  MR_TRY(const auto object,
         parts_->run(parts_->files->get_object(std::move(caller), text_member(file, "bucket"),
                                               text_member(file, "storage_path"))));
  return read_blob(object.store_key, take);
}

}  // namespace millrace::app
