#include "app/documents/document_worker.h"

#include "app/compute/worker_blobs.h"
#include "app/context.h"
#include "app/documents/embedding_services.h"
#include "app/documents/parser_parts.h"
#include "app/documents/pipelines.h"
#include "pipeline/document_handler.h"
#include "pipeline/model_pass.h"
#include "provider/anthropic_chat.h"
#include "provider/openai_chat.h"
#include "store/document_store.h"
#include "store/ingest_store.h"

#include <boost/asio/thread_pool.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <thread>
#include <unistd.h>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;

Result<std::int64_t> price_of(const Settings& settings, std::string_view name) {
  auto price = provider::parse_money(settings.text(name));
  if (!price) return fail_with_context(name, price.error());
  return price;
}

// Of the models of a provider that answers questions.
Result<provider::PriceTable> chat_prices(const Settings& settings, const std::string& provider) {
  MR_TRY(auto prices, model_prices(settings, provider));
  provider::Price price;
  MR_TRY(price.input_per_million, price_of(settings, provider + ".price_input"));
  MR_TRY(price.output_per_million, price_of(settings, provider + ".price_output"));
  if (const auto& model = settings.text(provider + ".model"); !model.empty()) {
    prices.set(model, price);
  }
  return prices;
}

// What limits are of where neither stage nor settings name a model (L-03).
constexpr std::string_view kAnyAnthropic = "claude-3";

// As limits name the provider of a stage; empty for what costs nothing.
std::string limited_provider(const Settings& settings, const pipeline::Stage& stage) {
  if (stage.provider == pipeline::kLocalProvider || stage.provider == pipeline::kNoProvider) {
    return {};
  }
  if (stage.provider == "google") return "google:vision-api";
  const bool embeds = stage.kind == pipeline::RunKind::embed;
  if (embeds || stage.provider == "openai" || stage.provider == "anthropic") {
    const auto* named = stage.options.if_contains("model");
    auto model = named != nullptr && named->is_string()
                     ? std::string(named->get_string())
                     : settings.text(stage.provider + (embeds ? ".embed_model" : ".model"));
    // An author's stage asks whom it likes; for any other without a model nobody is asked.
    if (model.empty() && stage.provider == "anthropic" && pipeline::is_authors(stage)) {
      model = kAnyAnthropic;
    }
    return model.empty() ? std::string() : stage.provider + ":" + model;
  }
  return limited_parser(stage.provider);
}

Result<provider::ClamdOptions> clamd_options(const std::string& text) {
  provider::ClamdOptions options;
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) {
    options.socket_path = text.substr(kUnix.size());
  } else {
    const auto colon = text.rfind(':');
    int port = 0;
    const auto digits =
        colon == text.npos ? std::string_view() : std::string_view(text).substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size() || port < 1 || port > 65'535) {
      return fail(ErrorKind::invalid_argument, "documents.clamd must be unix:/path or host:port");
    }
    options.socket_path.clear();
    options.host = text.substr(0, colon);
    options.port = static_cast<std::uint16_t>(port);
  }
  MR_TRY_VOID(provider::check_options(options));
  return options;
}

// Everything that the handlers of documents share, and the order in which it goes away.
class DocumentWorker {
 public:
  static Result<std::shared_ptr<DocumentWorker>> make(Context& context, const HandlerParts& parts);
  ~DocumentWorker() {
    threads_.stop();
    threads_.join();
  }

  pipeline::Services& services() { return *services_; }
  const pipeline::PipelineSet& pipelines() const { return pipelines_; }
  const std::shared_ptr<pipeline::PipelineCache>& cache() const { return cache_; }

 private:
  DocumentWorker() = default;
  Result<void> add_openai(Context& context, http::Client& client);
  Result<void> add_anthropic(Context& context, http::Client& client);
  Result<void> add_vision(Context& context, http::Client& client);
  void warn_of_models(Logger& log) const;

  boost::asio::thread_pool threads_{2};
  pipeline::PipelineSet pipelines_;
  std::unique_ptr<store::DocumentStore> store_;
  std::unique_ptr<store::IngestStore> ingest_;
  std::unique_ptr<EmbeddingServices> embeddings_;
  std::unique_ptr<WorkerBlobs> blobs_;
  std::unique_ptr<pipeline::ContentFiles> contents_;
  std::unique_ptr<pipeline::Children> children_;
  std::unique_ptr<provider::ChatProvider> openai_;
  std::unique_ptr<provider::ChatProvider> anthropic_;
  std::unique_ptr<provider::GoogleVisionOcr> vision_;
  std::unique_ptr<provider::Clamd> clamd_;
  std::unique_ptr<ParserParts> parsers_;
  pipeline::MemoryBudget memory_{pipeline::kPageMemoryBytes};
  std::optional<pipeline::Services> services_;
  std::shared_ptr<pipeline::PipelineCache> cache_ = std::make_shared<pipeline::PipelineCache>();
};

Result<void> DocumentWorker::add_openai(Context& context, http::Client& client) {
  const auto& settings = context.settings;
  provider::OpenAiOptions options;
  const auto standard = options.base_url;
  options.base_url = settings.text("openai.base_url");
  options.api_key = Secret<std::string>(settings.text("openai.api_key"));
  const bool keyed = !options.api_key.reveal().empty();
  if (!keyed && options.base_url == standard) return {};
  if (!keyed) options.auth = provider::OpenAiOptions::Auth::none;
  // Servers other than OpenAI's own know the older name.
  if (options.base_url != standard) options.max_tokens_field = "max_tokens";
  const auto& form = settings.text("openai.structured_output");
  options.structured_output = form == "json_schema"   ? provider::StructuredOutput::json_schema
                              : form == "json_object" ? provider::StructuredOutput::json_object
                                                      : provider::StructuredOutput::none;
  options.allow_http = settings.boolean("openai.allow_http");
  MR_TRY_VOID(provider::check_options(options));
  openai_ = std::make_unique<provider::OpenAiChat>(client, context.clock, std::move(options));
  pipeline::ModelService service{.chat = openai_.get(), .model = settings.text("openai.model")};
  service.provider = "openai";
  MR_TRY(service.prices, chat_prices(settings, "openai"));
  service.max_output_tokens = static_cast<int>(settings.integer("openai.max_output_tokens"));
  services_->models["openai"] = std::move(service);
  return {};
}

Result<void> DocumentWorker::add_anthropic(Context& context, http::Client& client) {
  const auto& settings = context.settings;
  if (settings.text("anthropic.api_key").empty()) return {};
  provider::AnthropicOptions options;
  options.base_url = settings.text("anthropic.base_url");
  options.api_key = Secret<std::string>(settings.text("anthropic.api_key"));
  options.allow_http = settings.boolean("anthropic.allow_http");
  MR_TRY_VOID(provider::check_options(options));
  anthropic_ = std::make_unique<provider::AnthropicChat>(client, context.clock, std::move(options));
  pipeline::ModelService service{.chat = anthropic_.get(),
                                 .model = settings.text("anthropic.model")};
  service.provider = "anthropic";
  MR_TRY(service.prices, chat_prices(settings, "anthropic"));
  service.max_output_tokens = static_cast<int>(settings.integer("anthropic.max_output_tokens"));
  services_->models["anthropic"] = std::move(service);
  return {};
}

Result<void> DocumentWorker::add_vision(Context& context, http::Client& client) {
  const auto& settings = context.settings;
  if (settings.text("google.api_key").empty()) return {};
  provider::VisionOptions options;
  options.base_url = settings.text("google.vision_url");
  options.credential = Secret<std::string>(settings.text("google.api_key"));
  options.allow_http = settings.boolean("google.allow_http");
  MR_TRY_VOID(provider::check_options(options));
  vision_ = std::make_unique<provider::GoogleVisionOcr>(client, context.clock, std::move(options));
  services_->vision = vision_.get();
  services_->vision_provider = "google:vision-api";
  MR_TRY(services_->vision_price.per_call, price_of(settings, "google.price_page"));
  return {};
}

// A call that asks no model, or whose cost nobody knows, is not made: whoever is waiting for it
// should have been told.
void DocumentWorker::warn_of_models(Logger& log) const {
  for (const auto& loaded : pipelines_.all()) {
    for (const auto& stage : loaded.pipeline.stages) {
      const auto service = services_->models.find(stage.provider);
      const auto* model = stage.options.if_contains("model");
      // What embeds says so itself, when it is opened; an author's stage asks for what it likes.
      if (stage.kind == pipeline::RunKind::embed || pipeline::is_authors(stage) ||
          service == services_->models.end()) {
        continue;
      }
      if (model == nullptr || !model->is_string()) {
        if (!service->second.model.empty()) continue;
        log.warn("pipeline", {{"warning", fmt::format("{}: stage {}: {}", loaded.file, stage.name,
                                                      pipeline::no_model(stage.provider))}});
        continue;
      }
      const std::string name(model->get_string());
      if (service->second.prices.find(name) != nullptr) continue;
      log.warn("pipeline",
               {{"warning", fmt::format("{}: stage {} asks {}, of which {}.prices says no price: "
                                        "it is not asked here",
                                        loaded.file, stage.name, name, stage.provider)}});
    }
  }
}

Result<fs::path> scratch_folder(const Settings& settings) {
  fs::path folder = settings.text("documents.scratch_dir");
  if (folder.empty()) folder = fs::path(settings.text("database.data_dir")) / "scratch";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("documents.scratch_dir: cannot make {}: {}", folder.string(), error.message()));
  }
  return folder;
}

Result<std::shared_ptr<DocumentWorker>> DocumentWorker::make(Context& context,
                                                             const HandlerParts& parts) {
  const auto& settings = context.settings;
  std::shared_ptr<DocumentWorker> made(new DocumentWorker());
  MR_TRY(auto loaded, load_pipelines(settings));
  for (const auto& warning : loaded.warnings) {
    context.log.warn("pipeline", {{"warning", warning}});
  }
  made->pipelines_ = std::move(loaded.set);
  made->store_ = store::make_document_store(parts.pool);
  made->ingest_ = store::make_ingest_store(parts.pool);
  MR_TRY(made->blobs_,
         WorkerBlobs::open(
             settings, {.client = parts.client, .clock = context.clock, .random = context.random}));
  MR_TRY(auto folder, scratch_folder(settings));
  made->contents_ = std::make_unique<pipeline::ContentFiles>(
      made->blobs_->store(), made->threads_.get_executor(),
      pipeline::ContentFiles::Options{
          .folder = std::move(folder),
          .bytes_max = static_cast<std::uint64_t>(settings.integer("documents.scratch_bytes"))});
  auto children = static_cast<std::size_t>(settings.integer("documents.children_max"));
  if (children == 0) children = std::max(1U, std::thread::hardware_concurrency());
  made->children_ = std::make_unique<pipeline::Children>(
      parts.executor, sandbox::PoolSpec{.program = document_program(settings).string(),
                                        .env = {{"OMP_THREAD_LIMIT", "1"}, {"LC_ALL", "C.UTF-8"}},
                                        .size = children,
                                        .log = context.log});
  made->services_.emplace(pipeline::Services{.store = *made->store_,
                                             .blobs = made->blobs_->store(),
                                             .children = *made->children_,
                                             .contents = *made->contents_,
                                             .pipelines = made->pipelines_,
                                             .threads = made->threads_.get_executor(),
                                             .clock = context.clock,
                                             .random = context.random,
                                             .log = context.log,
                                             .ingest = made->ingest_.get()});
  MR_TRY(made->embeddings_,
         EmbeddingServices::make(settings, {.client = parts.client,
                                            .clock = context.clock,
                                            .threads = made->threads_.get_executor()}));
  made->services_->embeddings = made->embeddings_->openers();
  made->services_->memory = &made->memory_;
  auto& authors = made->services_->authors;
  authors.client = &parts.client;
  authors.limited_by = [&settings](const pipeline::Stage& stage) {
    return limited_provider(settings, stage);
  };
  if (const auto dir = pipeline_folder(settings)) authors.folder = dir->string();
  if (const auto path = context.environment.find("PATH"); path != context.environment.end()) {
    authors.env["PATH"] = path->second;
  }
  MR_TRY_VOID(made->add_openai(context, parts.client));
  MR_TRY_VOID(made->add_anthropic(context, parts.client));
  MR_TRY_VOID(made->add_vision(context, parts.client));
  made->warn_of_models(context.log);
  MR_TRY(made->parsers_, ParserParts::make({.settings = settings,
                                            .client = parts.client,
                                            .pool = parts.pool,
                                            .clock = context.clock,
                                            .random = context.random,
                                            .blobs = made->blobs_->store()}));
  if (made->parsers_) made->services_->parsers = &made->parsers_->parsers();
  if (const auto& clamd = settings.text("documents.clamd"); !clamd.empty()) {
    MR_TRY(auto options, clamd_options(clamd));
    made->clamd_ = std::make_unique<provider::Clamd>(std::move(options));
    made->services_->clamd = made->clamd_.get();
  }
  return made;
}

// Keeps what it needs alive.
class SharedHandler final : public worker::Handler {
 public:
  SharedHandler(std::shared_ptr<DocumentWorker> owner, std::string type)
      : owner_(std::move(owner)), handler_(owner_->services(), owner_->cache(), std::move(type)) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override {
    return handler_.run(std::move(context));
  }
  std::chrono::milliseconds wait_limit(std::chrono::milliseconds run_timeout) const override {
    return handler_.wait_limit(run_timeout);
  }
  std::chrono::milliseconds stop_grace() const override { return handler_.stop_grace(); }

 private:
  std::shared_ptr<DocumentWorker> owner_;  // Shared by the handlers of all stages.
  pipeline::DocumentHandler handler_;
};

}  // namespace

fs::path document_program(const Settings& settings) {
  const auto& chosen = settings.text("documents.program");
  if (!chosen.empty()) return chosen;
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / "millrace-document";
}

bool takes_documents(const Settings& settings) {
  return settings.boolean("documents.enabled") &&
         ::access(document_program(settings).c_str(), X_OK) == 0;
}

std::vector<std::pair<std::string, std::string>> document_types(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> types;
  const auto loaded = load_pipelines(settings);
  if (!loaded) return types;  // add_document_handlers says what is wrong.
  for (auto& one : pipeline::document_job_types(loaded->set)) {
    types.emplace_back(std::move(one.job_type), std::move(one.queue));
  }
  return types;
}

json::Object document_bindings(const Settings& settings) {
  const auto loaded = load_pipelines(settings);
  if (!loaded) return {};
  return pipeline::provider_bindings(
      loaded->set, [&](const pipeline::Stage& stage) { return limited_provider(settings, stage); });
}

Result<void> add_document_handlers(Context& context, const HandlerParts& parts,
                                   worker::HandlerRegistry& registry) {
  MR_TRY(auto owner, DocumentWorker::make(context, parts));
  const auto add = [&](const std::string& type, const std::string& queue) -> Result<void> {
    // The settings say otherwise, or it is in two queues.
    if (registry.find(type) != nullptr) return {};
    return registry.add(type, std::make_unique<SharedHandler>(owner, type), {.queue = queue});
  };
  for (const auto& type : pipeline::document_job_types(owner->pipelines())) {
    MR_TRY_VOID(add(type.job_type, type.queue));
  }
  for (const auto& [type, queue] : context.kept_types) MR_TRY_VOID(add(type, queue));
  return {};
}

Result<json::Array> document_registration(const Settings& settings) {
  MR_TRY(const auto loaded, load_pipelines(settings));
  json::Object defaults;
  if (!settings.get("queue_defaults.max_attempts").value.empty()) {
    defaults["max_attempts"] = settings.integer("queue_defaults.max_attempts");
  }
  return pipeline::registration_of(loaded.set, pipeline::Takes::file, defaults);
}

}  // namespace millrace::app
