// EmbeddingServices: what embeds for the documents of a worker, made of the settings: models in
// this process, and OpenAI or whoever speaks its language. Each is made when it is first asked for.
// Threading: any. Lifetime: client, clock and threads outlive it; it outlives the handlers.
#pragma once

#include "app/config/settings.h"
#include "base/clock.h"
#include "http/client.h"
#include "pipeline/local_embeddings.h"
#include "pipeline/services.h"
#include "provider/openai_embeddings.h"
#include "provider/price.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace millrace::app {

// openai.prices, anthropic.prices: of models besides the one that the settings name.
Result<provider::PriceTable> model_prices(const Settings& settings, const std::string& provider);

// embeddings.models_dir, or where models lie beside this program.
std::filesystem::path models_folder(const Settings& settings);

class EmbeddingServices {
 public:
  struct Parts {
    http::Client& client;
    Clock& clock;
    Executor threads;
  };

  // invalid_argument names the setting that is wrong.
  static Result<std::unique_ptr<EmbeddingServices>> make(const Settings& settings, Parts parts);

  // By the provider of a stage; only those that are configured.
  std::map<std::string, pipeline::OpenEmbedding, std::less<>> openers();

 private:
  EmbeddingServices(Parts parts, pipeline::LocalModels::Options local)
      : parts_(std::move(parts)), local_(std::move(local), parts_.threads) {}
  Result<pipeline::EmbeddingService> open_openai(std::string model);

  Parts parts_;
  pipeline::LocalModels local_;
  std::optional<provider::OpenAiEmbedOptions> openai_;  // Nothing: not configured.
  provider::PriceTable openai_prices_ = {};
  std::mutex mutex_;  // Guards the following.
  std::map<std::string, std::unique_ptr<provider::OpenAiEmbeddings>, std::less<>> openai_models_;
};

}  // namespace millrace::app
