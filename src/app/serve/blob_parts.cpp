#include "app/serve/blob_parts.h"

#include "api/routes/documents.h"
#include "api/routes/files.h"
#include "api/routes/tus.h"
#include "api/routes/uploads.h"
#include "api/upload/blob_sweeper.h"
#include "app/config/wiring.h"
#include "app/serve/late_store.h"
#include "base/fault.h"
#include "pg/pool.h"
#include "store/api/blobs.h"
#include "store/api/documents.h"
#include "store/api/uploads.h"

#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace millrace::app {
namespace {

constexpr std::chrono::seconds kUploadPatience{60};

// Where tests end the process, on the way of a file to its name.
void note_step(std::string_view step) {
  if (step == "create") MR_FAULT("blob_file.create");
  if (step == "write") MR_FAULT("blob_file.write");
  if (step == "sync") MR_FAULT("blob_file.sync");
  if (step == "rename") MR_FAULT("blob_file.rename");
  if (step == "sync_shard") MR_FAULT("blob_file.sync_shard");
  if (step == "done") MR_FAULT("blob_file.done");
}

std::filesystem::path folder_of(const Settings& settings, const char* setting,
                                const char* in_data_dir) {
  const auto& chosen = settings.text(setting);
  const auto path = chosen.empty()
                        ? std::filesystem::path(settings.text("database.data_dir")) / in_data_dir
                        : std::filesystem::path(chosen);
  return std::filesystem::absolute(path);
}

// A setting that this kind of store cannot do without.
Result<std::string> required(const Settings& settings, const char* name) {
  const auto& value = settings.text(name);
  if (value.empty()) {
    return fail(
        ErrorKind::invalid_argument,
        std::string(name) + " must be set where storage.kind is " + settings.text("storage.kind"));
  }
  return value;
}

Result<blob::RemoteLimits> remote_limits(const Settings& settings) {
  blob::RemoteLimits limits;
  limits.spool_folder = folder_of(settings, "storage.spool_folder", "spool");
  auto bytes = parse_bytes(settings.text("storage.spool_max"));
  if (!bytes) return fail_with_context("storage.spool_max", bytes.error());
  limits.spool_max_bytes = *bytes;
  return limits;
}

Result<blob::StoreOptions> s3_options(const Settings& settings) {
  blob::S3Options options;
  options.endpoint = settings.text("storage.s3_endpoint");
  options.public_endpoint = settings.text("storage.s3_public_endpoint");
  options.region = settings.text("storage.s3_region");
  MR_TRY(options.bucket, required(settings, "storage.s3_bucket"));
  options.prefix = settings.text("storage.prefix");
  const auto& style = settings.text("storage.s3_path_style");
  if (style != "auto") options.path_style = style == "on";
  options.checksums = settings.boolean("storage.s3_checksums");
  MR_TRY(options.credentials.access_key_id, required(settings, "storage.s3_access_key_id"));
  MR_TRY(auto secret, required(settings, "storage.s3_secret_access_key"));
  options.credentials.secret_access_key = Secret<std::string>(std::move(secret));
  options.credentials.session_token =
      Secret<std::string>(settings.text("storage.s3_session_token"));
  MR_TRY(options.limits, remote_limits(settings));
  return blob::StoreOptions(std::move(options));
}

Result<blob::StoreOptions> azure_options(const Settings& settings) {
  blob::AzureOptions options;
  MR_TRY(options.account, required(settings, "storage.azure_account"));
  MR_TRY(auto key, required(settings, "storage.azure_key"));
  options.key = Secret<std::string>(std::move(key));
  MR_TRY(options.container, required(settings, "storage.azure_container"));
  options.prefix = settings.text("storage.prefix");
  options.endpoint = settings.text("storage.azure_endpoint");
  options.public_endpoint = settings.text("storage.azure_public_endpoint");
  MR_TRY(options.limits, remote_limits(settings));
  return blob::StoreOptions(std::move(options));
}

Result<blob::StoreOptions> supabase_options(const Settings& settings) {
  blob::SupabaseOptions options;
  MR_TRY(options.url, required(settings, "storage.supabase_url"));
  options.public_url = settings.text("storage.supabase_public_url");
  MR_TRY(options.bucket, required(settings, "storage.supabase_bucket"));
  options.prefix = settings.text("storage.prefix");
  MR_TRY(auto key, required(settings, "storage.supabase_key"));
  options.api_key = Secret<std::string>(std::move(key));
  options.bearer = Secret<std::string>(settings.text("storage.supabase_bearer"));
  MR_TRY(options.limits, remote_limits(settings));
  return blob::StoreOptions(std::move(options));
}

void append(std::vector<api::Operation>& all, std::vector<api::Operation> more) {
  std::ranges::move(more, std::back_inserter(all));
}

// The others compare the age and remove in one step.
api::BlobSweeper::Options sweep_options(const Settings& settings) {
  const auto& kind = settings.text("storage.kind");
  return {.dead = settings.duration("storage.sweep_interval"),
          .orphans = settings.duration("storage.orphan_interval"),
          .marks = kind == "s3" || kind == "supabase"};
}

}  // namespace

Result<blob::StoreOptions> store_options(const Settings& settings) {
  const auto& kind = settings.text("storage.kind");
  if (kind == "s3") return s3_options(settings);
  if (kind == "azure") return azure_options(settings);
  if (kind == "supabase") return supabase_options(settings);
  return blob::StoreOptions(
      blob::FilesystemOptions{.root = folder_of(settings, "storage.folder", "blobs"),
                              .prefix = settings.text("storage.prefix"),
                              .at_step = note_step});
}

struct BlobParts::Impl {
  Impl(const Services& given, blob::StoreOptions chosen)
      : services(given),
        options(std::move(chosen)),
        pool(given.executor, connect_as(given.database, "millrace_api", "millrace-upload"),
             {.connections_max = static_cast<std::size_t>(
                  given.context.settings.integer("storage.database_connections")),
              .waiters_max = 100'000},
             given.context.random),
        disk(static_cast<std::size_t>(given.context.settings.integer("storage.threads"))) {}

  Services services;
  blob::StoreOptions options;
  // Uploads come in crowds and can wait for their turn; who asks for something small must not have
  // to wait behind them.
  pg::Pool pool;
  store::ApiSession session{pool, {.acquire = kUploadPatience}};
  boost::asio::thread_pool disk;
  LateStore blobs;
  std::unique_ptr<store::UploadStore> uploads = store::make_upload_store(session);
  std::unique_ptr<store::FileStore> files = store::make_file_store(services.session);
  std::unique_ptr<store::DocumentCatalog> documents =
      store::make_document_catalog(services.session);
  std::unique_ptr<store::BlobLedger> ledger = store::make_blob_ledger(session);
  api::SignedLinks links{{.tickets = services.tickets,
                          .directory = services.directory,
                          .policies = services.policies,
                          .clock = services.context.clock},
                         services.context.settings.text("server.public_url")};
  api::UploadEngine engine{{.uploads = *uploads,
                            .blobs = blobs,
                            .clock = services.context.clock,
                            .random = services.context.random,
                            .log = services.context.log}};
  api::BlobSweeper sweeper{{.uploads = *uploads,
                            .ledger = *ledger,
                            .blobs = blobs,
                            .clock = services.context.clock,
                            .random = services.context.random,
                            .log = services.context.log},
                           sweep_options(services.context.settings)};
};

BlobParts::BlobParts(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

BlobParts::~BlobParts() { impl_->disk.join(); }

Result<std::unique_ptr<BlobParts>> BlobParts::make(Services services) {
  MR_TRY(auto options, store_options(services.context.settings));
  auto impl = std::make_unique<Impl>(services, std::move(options));
  return std::unique_ptr<BlobParts>(new BlobParts(std::move(impl)));
}

Result<void> BlobParts::open() {
  MR_TRY(auto store, blob::make_store(impl_->options, {.client = impl_->services.client,
                                                       .disk = impl_->disk.get_executor(),
                                                       .clock = impl_->services.context.clock,
                                                       .random = impl_->services.context.random}));
  impl_->blobs.put(std::move(store));
  return {};
}

awaitable<void> BlobParts::sweep(CancelToken stop) { return impl_->sweeper.run(std::move(stop)); }

void BlobParts::close() { impl_->pool.close(); }

std::vector<api::Operation> BlobParts::operations() {
  const auto time_max = impl_->services.context.settings.duration("server.upload_timeout");
  auto all = api::upload_operations(impl_->engine, {.time_max = time_max});
  append(all, api::tus_operations(impl_->engine, {.time_max = time_max}));
  append(all, api::file_operations(
                  {.files = *impl_->files, .blobs = impl_->blobs, .links = impl_->links},
                  {.time_max = time_max}));
  append(all, api::document_operations({.documents = *impl_->documents,
                                        .blobs = impl_->blobs,
                                        .links = impl_->links,
                                        .signer = impl_->services.signer},
                                       {.time_max = time_max}));
  return all;
}

blob::BlobStore& BlobParts::store() { return impl_->blobs; }
api::UploadEngine& BlobParts::engine() { return impl_->engine; }
store::FileStore& BlobParts::files() { return *impl_->files; }
const api::SignedLinks& BlobParts::links() const { return impl_->links; }

}  // namespace millrace::app
