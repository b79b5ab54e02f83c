#include "app/documents/embedding_services.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;

Result<std::optional<provider::OpenAiEmbedOptions>> openai_options(const Settings& settings) {
  provider::OpenAiEmbedOptions options;
  const auto standard = options.base_url;
  options.base_url = settings.text("openai.base_url");
  options.api_key = Secret<std::string>(settings.text("openai.api_key"));
  const bool keyed = !options.api_key.reveal().empty();
  if (!keyed && options.base_url == standard) return std::nullopt;
  if (!keyed) options.auth = provider::OpenAiEmbedOptions::Auth::none;
  options.allow_http = settings.boolean("openai.allow_http");
  options.model = settings.text("openai.embed_model");
  options.version = settings.text("openai.embed_version");
  options.dimensions = static_cast<int>(settings.integer("openai.embed_dimensions"));
  options.inputs_max = static_cast<std::size_t>(settings.integer("openai.embed_inputs_max"));
  MR_TRY_VOID(provider::check_options(options));
  return options;
}

}  // namespace

Result<provider::PriceTable> model_prices(const Settings& settings, const std::string& provider) {
  provider::PriceTable prices;
  const auto key = provider + ".prices";
  for (const auto& text : settings.list(key)) {
    auto one = provider::parse_model_price(text);
    if (!one) return fail_with_context(key, one.error());
    if (one->model == "*") {
      prices.set_otherwise(one->price);
    } else {
      prices.set(std::move(one->model), one->price);
    }
  }
  return prices;
}

fs::path models_folder(const Settings& settings) {
  const auto& chosen = settings.text("embeddings.models_dir");
  if (!chosen.empty()) return chosen;
  std::error_code ignored;
  const auto here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  // Installed beside the program, or built: build/models.
  const auto installed = here.parent_path() / "share" / "millrace" / "models";
  return fs::is_directory(installed, ignored) ? installed : here.parent_path() / "models";
}

Result<std::unique_ptr<EmbeddingServices>> EmbeddingServices::make(const Settings& settings,
                                                                   Parts parts) {
  std::unique_ptr<EmbeddingServices> made(new EmbeddingServices(
      std::move(parts),
      {.folder = models_folder(settings), .model = settings.text("embeddings.model")}));
  MR_TRY(made->openai_, openai_options(settings));
  auto price = provider::parse_money(settings.text("openai.price_embed"));
  if (!price) return fail_with_context("openai.price_embed", price.error());
  MR_TRY(made->openai_prices_, model_prices(settings, "openai"));
  made->openai_prices_.set(settings.text("openai.embed_model"), {.input_per_million = *price});
  return made;
}

Result<pipeline::EmbeddingService> EmbeddingServices::open_openai(std::string model) {
  auto options = *openai_;
  // What the settings say of dimensions is said of the model that they name.
  if (!model.empty() && model != options.model) options.dimensions = 0;
  if (!model.empty()) options.model = std::move(model);
  MR_TRY_VOID(provider::check_options(options));
  const auto* price = openai_prices_.find(options.model);
  if (price == nullptr) {
    return fail(ErrorKind::not_found,
                fmt::format("openai.prices says no price of {}: it is not asked", options.model));
  }
  const std::lock_guard lock(mutex_);
  auto& kept = openai_models_[options.model];
  if (kept == nullptr) {
    kept = std::make_unique<provider::OpenAiEmbeddings>(parts_.client, parts_.clock, options);
  }
  return pipeline::EmbeddingService{.provider = kept.get(), .price = *price};
}

std::map<std::string, pipeline::OpenEmbedding, std::less<>> EmbeddingServices::openers() {
  std::map<std::string, pipeline::OpenEmbedding, std::less<>> openers;
  openers[std::string(pipeline::kLocalProvider)] =
      [this](std::string model) -> Task<pipeline::EmbeddingService> {
    MR_CO_TRY(auto* provider, co_await local_.open(std::move(model)));
    co_return pipeline::EmbeddingService{.provider = provider};
  };
  if (openai_) {
    openers["openai"] = [this](std::string model) -> Task<pipeline::EmbeddingService> {
      co_return open_openai(std::move(model));
    };
  }
  return openers;
}

}  // namespace millrace::app
