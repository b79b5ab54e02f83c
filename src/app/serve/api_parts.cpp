#include "app/serve/api_parts.h"

#include "api/credential_maker.h"
#include "api/directories.h"
#include "api/guard.h"
#include "api/rest/rest_api.h"
#include "api/routes/audit.h"
#include "api/routes/export_documents.h"
#include "api/routes/export_templates.h"
#include "api/routes/exports.h"
#include "api/routes/jobs.h"
#include "api/routes/operate.h"
#include "api/routes/scale.h"
#include "api/routes/streams.h"
#include "api/routes/tenants.h"
#include "api/routes/tokens.h"
#include "api/schemas.h"
#include "api/server_metrics.h"
#include "api/storage/storage_api.h"
#include "api/trace/request_span.h"
#include "app/exports/export_worker.h"
#include "app/observe/call_metrics.h"
#include "app/observe/process_metrics.h"
#include "app/serve/blob_parts.h"
#include "app/serve/search_parts.h"
#include "app/serve/server_options.h"
#include "app/serve/stream_service.h"
#include "app/serve/template_catalog.h"
#include "app/serve/webhook_parts.h"
#include "app/serve/work_parts.h"
#include "base/cancel.h"
#include "base/either.h"
#include "base/metrics.h"
#include "base/spawn.h"
#include "base/version.h"
#include "http/client.h"
#include "identity/content_signer.h"
#include "identity/jwks_cache.h"
#include "pg/pool.h"
#include "store/api/health.h"
#include "store/api/session.h"
#include "store/pg_wake_source.h"
#include "store/wake_fan.h"

#include <iterator>
#include <optional>
#include <utility>

namespace millrace::app {
namespace {

using namespace either;

constexpr std::chrono::seconds kTouchInterval{30};
constexpr std::int64_t kDepthWarning = 1000;            // H-18
constexpr std::chrono::milliseconds kWatchTime{1'000};  // To connect, and again to answer.
constexpr std::chrono::milliseconds kCountsAge{500};
// How long the end of a server waits for what it does by itself, after its last request.
constexpr std::chrono::seconds kStopTime{2};

// Notifications do not come through a pooler: where there is one, the other address is set.
pg::ConnectOptions listen_options(const Context& context, Database database) {
  const auto& direct = context.settings.text("database.direct_url");
  if (!direct.empty()) database.url = direct;
  return connect_as(database, "millrace_api", "millrace-listen");
}

// What runs until then can be repeated by the next server: nothing is lost where it is cut off.
awaitable<void> cut_off(awaitable<void> task, CancelToken end) {
  co_await (std::move(task) || end.wait());
}

void append(std::vector<api::Operation>& all, std::vector<api::Operation> more) {
  std::ranges::move(more, std::back_inserter(all));
}

}  // namespace

struct ApiParts::Impl {
  Impl(Context& owner, Executor own_executor, Options& options)
      : context(owner),
        executor(own_executor),
        pool(own_executor, connect_as(options.database, "millrace_api", "millrace-api"),
             {.connections_max =
                  static_cast<std::size_t>(owner.settings.integer("server.database_connections")),
              .waiters_max = 100'000},
             owner.random),
        apart_pool(own_executor, connect_as(options.database, "millrace_api", "millrace-api-apart"),
                   {.connections_max = 1, .waiters_max = 16}, owner.random),
        watch_pool(own_executor, connect_as(options.database, "millrace_api", "millrace-api-watch"),
                   {.connections_max = 1}, owner.random),
        listener(listen_options(owner, options.database)),
        client(own_executor, {.call_watch = &calls}),
        tasks(own_executor, owner.log) {}

  Result<void> build(const Options& options);
  Result<void> build_identity(const Options& options);
  Result<void> build_pipeline();
  std::vector<api::HealthCheck> checks();
  Task<api::CheckResult> check_database();
  Task<api::CheckResult> check_queue_depth();
  Task<api::CheckResult> check_keeper();
  Task<api::CheckResult> check_storage();
  std::vector<api::Operation> operations();
  api::ExportServices export_services();
  std::vector<api::Operation> export_operations();
  awaitable<void> touch_tokens();

  Context& context;
  Executor executor;

  pg::Pool pool;
  pg::Pool apart_pool;  // Calls that take long stand in line there, and hold up each other only.
  pg::Pool watch_pool;  // Whether the database is there is not a question of how many ask for it.
  store::PgWakeSource listener;  // Streams, long polls and a worker in this process share it.
  store::WakeFan wake{listener, context.clock};
  store::ApiSession session{pool, {}, context.log};
  store::ApiSession apart{apart_pool};
  store::ApiSession watch{watch_pool, {.acquire = kWatchTime, .call = kWatchTime}};
  std::unique_ptr<store::TenantStore> tenants = store::make_tenant_store(session);
  std::unique_ptr<store::TokenStore> tokens = store::make_token_store(session);
  std::unique_ptr<store::RequestStore> requests = store::make_request_store(session);
  std::unique_ptr<store::JobReader> reader = store::make_job_reader(session, &apart);
  std::unique_ptr<store::JobWriter> writer = store::make_job_writer(session);
  std::unique_ptr<store::OperationStore> operation_store = store::make_operation_store(session);
  std::unique_ptr<store::EvidenceStore> evidence = store::make_evidence_store(session, &apart);
  std::unique_ptr<store::HealthStore> health_store = store::make_health_store(session);
  std::unique_ptr<store::HealthStore> watch_store = store::make_health_store(watch);
  // One question for all checks of a page.
  api::KeyedCache<int, store::HealthCounts> counts{
      context.clock, {.ttl = kCountsAge, .entries_max = 1}, [this](int) {
        return watch_store->health_counts();
      }};
  std::unique_ptr<store::ExportStore> export_store = store::make_export_store(session);
  TemplateCatalog templates{template_folders(context.settings), context.log};
  std::unique_ptr<store::RestStore> rest_store = store::make_rest_store(session);
  api::RestApi rest{*rest_store, context.clock};

  CallMetrics calls{context.metrics};
  http::Client client;
  std::optional<identity::JwksCache> jwks;
  std::optional<identity::TokenVerifier> verifier;
  std::optional<identity::TokenMaker> token_maker;
  std::optional<identity::TicketMaker> tickets;
  std::optional<identity::ContentSigner> signer;
  std::optional<api::CredentialMaker> credentials;
  api::StoredKeys keys{*tokens, context.clock};
  api::StoredPolicies policies{*tenants, context.clock};
  std::optional<identity::Authenticator> authenticator;
  std::optional<api::Guard> guard;
  std::unique_ptr<BlobParts> blobs;  // Uploads, files.
  std::unique_ptr<WorkParts> work;   // Compute jobs, remote workers.
  std::unique_ptr<WebhookParts> webhooks;
  std::unique_ptr<SearchParts> search;

  MetricRegistry& registry = context.metrics;
  ProcessMetrics process{registry, context.clock};
  api::ServerMetrics metrics{registry};
  api::StageMetrics stages{registry};
  std::function<std::size_t()> connections;
  http::RateLimiter limiter{context.clock};
  std::optional<api::Health> health;
  std::optional<StreamService> streams;
  std::optional<api::MetricsPage> metrics_page;
  api::ApiDocumentsPtr documents = std::make_shared<api::ApiDocuments>();
  std::optional<api::Pipeline> pipeline;

  CancelSource stopping;
  CancelSource ending;  // A while after it.
  TaskGroup tasks;
};

Result<void> ApiParts::Impl::build(const Options& options) {
  MR_TRY_VOID(build_identity(options));
  health.emplace(context.clock, std::string(kVersion), checks());
  streams.emplace(context, executor, options.database, *reader, wake.outlet());
  metrics_page.emplace(registry, *health_store, context.clock, [this] {
    if (connections) metrics.set_connections(connections());
    process.update();
  });
  MR_TRY(blobs, BlobParts::make({.context = context,
                                 .executor = executor,
                                 .database = options.database,
                                 .session = session,
                                 .client = client,
                                 .tickets = *tickets,
                                 .directory = keys,
                                 .policies = policies,
                                 .signer = signer ? &*signer : nullptr}));
  MR_TRY(work, WorkParts::make({.context = context,
                                .session = session,
                                .requests = *requests,
                                .tickets = *tickets,
                                .wake = wake.outlet(),
                                .blobs = &blobs->store()}));
  MR_TRY(webhooks, WebhookParts::make(context, session, blobs->store()));
  // Questions take longer than requests for a row: they stand in their own line.
  MR_TRY(search, SearchParts::make(context, apart, client));
  return build_pipeline();
}

Result<void> ApiParts::Impl::build_identity(const Options& options) {
  const auto& settings = context.settings;
  identity::TokenVerifier::Options verify;
  for (const auto& secret : options.secrets.all) {
    MR_TRY(auto key, identity::VerifyKey::from_secret(secret));
    MR_TRY_VOID(verify.keys.add(std::move(key)));
  }
  if (const auto& url = settings.text("auth.jwks_url"); !url.empty()) {
    identity::JwksOptions jwks_options{.url = url};
    auto good = identity::check_jwks_options(jwks_options);
    if (!good) return fail_with_context("auth.jwks_url", good.error());
    jwks.emplace(executor, client, context.clock, context.log, std::move(jwks_options));
    verify.jwks = &*jwks;
    verify.jwks_rules.audiences = settings.list("auth.audiences");
    verify.jwks_rules.issuers = settings.list("auth.issuers");
    if (verify.jwks_rules.issuers.empty()) {
      context.log.warn("no_issuers",
                       {{"meaning",
                         "auth.issuers is not set: tokens of any issuer count that the keys of "
                         "auth.jwks_url fit"}});
    }
  }
  MR_TRY(verifier, identity::TokenVerifier::make(std::move(verify), context.clock));
  MR_TRY(tickets, identity::TicketMaker::make(options.secrets.all, context.clock));
  if (!options.secrets.ephemeral) {
    MR_TRY(token_maker, identity::TokenMaker::make({.secret = options.secrets.all.front()},
                                                   context.clock, context.random));
    MR_TRY(signer, identity::ContentSigner::make(options.secrets.all.front()));
  }
  credentials.emplace(token_maker ? &*token_maker : nullptr, context.clock, context.random);
  authenticator.emplace(*verifier, keys, context.clock);
  guard.emplace(*authenticator, *tickets, keys, policies);
  return {};
}

// All operations there are. A part of the API that is not in this list does not exist.
std::vector<api::Operation> ApiParts::Impl::operations() {
  const auto& settings = context.settings;
  std::vector<api::Operation> all;
  const api::JobStores jobs{.reader = *reader, .writer = *writer};
  append(all, api::meta_operations(*tickets, context.clock, documents));
  append(all, health->operations());
  append(all, metrics_page->operations());
  append(all, api::scale_operations(*health_store));
  append(all, api::job_read_operations(jobs));
  append(all, api::job_write_operations(jobs));
  append(all, api::batch_operations(jobs));
  append(all, api::dead_letter_operations(jobs));
  append(all, api::queue_operations(*operation_store));
  append(all, api::limit_operations(*operation_store));
  append(all, api::cron_operations(*operation_store));
  append(all, api::system_operations(*operation_store));
  append(all, api::audit_operations(*evidence, *reader));
  append(all, api::tenant_operations(*tenants));
  append(all, api::profile_operations(*tenants));
  append(all, api::token_operations(*tokens, *credentials));
  append(all, api::stream_operations({.hub = streams->hub(),
                                      .jobs = *reader,
                                      .operations = *operation_store,
                                      .exports = export_services()}));
  append(all, blobs->operations());
  append(all, export_operations());
  append(all, work->operations());
  append(all, webhooks->operations());
  append(all, search->operations());
  append(all, rest.operations());
  append(all, api::storage_operations({.files = blobs->files(),
                                       .uploads = blobs->engine(),
                                       .blobs = blobs->store(),
                                       .links = blobs->links()},
                                      {.time_max = settings.duration("server.upload_timeout")}));
  return all;
}

api::ExportServices ApiParts::Impl::export_services() {
  return {.exports = *export_store,
          .jobs = *reader,
          .writer = *writer,
          .files = blobs->files(),
          .blobs = blobs->store(),
          .links = blobs->links(),
          .templates = templates};
}

std::vector<api::Operation> ApiParts::Impl::export_operations() {
  const auto services = export_services();
  const api::ExportRouteOptions options{.time_max =
                                            context.settings.duration("server.upload_timeout")};
  auto all = api::export_operations(services, options);
  append(all, api::export_batch_operations(services, options));
  append(all, api::export_document_operations({.exports = *export_store, .templates = templates}));
  append(all, api::export_template_operations(templates));
  return all;
}

Result<void> ApiParts::Impl::build_pipeline() {
  MR_TRY(auto table, api::OperationTable::make(operations(), api::component_schemas()));
  api::fill_documents(*documents, table, {.version = std::string(kVersion)});
  pipeline.emplace(std::move(table),
                   api::Pipeline::Parts{.guard = *guard,
                                        .limiter = limiter,
                                        .metrics = metrics,
                                        .log = context.log,
                                        .requests = requests.get(),
                                        .tracer = context.tracer},
                   pipeline_options(context.settings));
  return {};
}

Task<api::CheckResult> ApiParts::Impl::check_database() {
  MR_CO_TRY_VOID(co_await counts.get(0));
  co_return api::CheckResult{};
}

Task<api::CheckResult> ApiParts::Impl::check_queue_depth() {
  MR_CO_TRY(const auto now, co_await counts.get(0));
  co_return api::CheckResult{.ok = now.queue_depth <= kDepthWarning, .value = now.queue_depth};
}

Task<api::CheckResult> ApiParts::Impl::check_keeper() {
  MR_CO_TRY(const auto now, co_await counts.get(0));
  co_return api::CheckResult{.ok = now.keeper};
}

Task<api::CheckResult> ApiParts::Impl::check_storage() {
  MR_CO_TRY_VOID(co_await blobs->store().check());
  co_return api::CheckResult{};
}

std::vector<api::HealthCheck> ApiParts::Impl::checks() {
  std::vector<api::HealthCheck> out;
  out.push_back(
      {.name = "database", .essential = true, .run = [this] { return check_database(); }});
  out.push_back({.name = "queue_depth", .run = [this] { return check_queue_depth(); }});
  out.push_back({.name = "keeper", .run = [this] { return check_keeper(); }});
  out.push_back({.name = "storage", .run = [this] { return check_storage(); }});
  return out;
}

// Which credentials are in use, for whoever looks at the list of them; kept to minutes, so a note
// that is lost with the process matters to nobody.
awaitable<void> ApiParts::Impl::touch_tokens() {
  while (!stopping.cancelled()) {
    co_await (context.clock.sleep_for(kTouchInterval) || stopping.token().wait());
    auto used = keys.take_used();
    if (used.empty()) continue;
    const auto touched = co_await tokens->touch_api_tokens(std::move(used));
    if (!touched) context.log.debug("touch_tokens", {{"error", touched.error().message}});
  }
}

ApiParts::ApiParts(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ApiParts::~ApiParts() = default;

Result<std::unique_ptr<ApiParts>> ApiParts::make(Context& context, Executor executor,
                                                 Options options) {
  auto impl = std::make_unique<Impl>(context, std::move(executor), options);
  MR_TRY_VOID(impl->build(options));
  return std::unique_ptr<ApiParts>(new ApiParts(std::move(impl)));
}

Result<void> ApiParts::start() {
  MR_TRY_VOID(impl_->blobs->open());
  if (impl_->jwks) impl_->jwks->start();
  impl_->tasks.add("listener", impl_->wake.run());
  impl_->streams->start();
  impl_->tasks.add("touch tokens", cut_off(impl_->touch_tokens(), impl_->ending.token()));
  impl_->work->start();
  impl_->tasks.add("claim line", impl_->work->run());
  impl_->tasks.add("sweep blobs",
                   cut_off(impl_->blobs->sweep(impl_->stopping.token()), impl_->ending.token()));
  return {};
}

awaitable<void> ApiParts::stop() {
  impl_->stopping.cancel("stopping");
  impl_->work->stop();
  impl_->wake.stop();
  // A database or a store that does not answer is not waited for.
  co_await (impl_->tasks.join() || impl_->context.clock.sleep_for(kStopTime));
  impl_->ending.cancel("stopping");
  co_await impl_->tasks.join();
  co_await impl_->streams->stop();
  if (impl_->jwks) co_await impl_->jwks->stop();
  impl_->blobs->close();
  impl_->pool.close();
  impl_->apart_pool.close();
  impl_->watch_pool.close();
}

const api::Pipeline& ApiParts::requests() const { return *impl_->pipeline; }
const api::ApiDocuments& ApiParts::documents() const { return *impl_->documents; }
api::Health& ApiParts::health() { return *impl_->health; }
std::unique_ptr<store::WakeSource> ApiParts::wake_source() { return impl_->wake.outlet(); }

void ApiParts::note_request(const http::AccessRecord& record) {
  http::log_access(impl_->context.log, record);
  impl_->metrics.note_request(record);
  const auto& context = impl_->context;
  if (context.tracer != nullptr) api::trace_request(*context.tracer, record, context.clock.wall());
}

void ApiParts::on_metrics(std::function<std::size_t()> connections) {
  impl_->connections = std::move(connections);
}

}  // namespace millrace::app
