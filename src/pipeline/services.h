// Services: what the stages of documents work with. Everything outlives the handlers.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/task.h"
#include "blob/blob_store.h"
#include "pipeline/children.h"
#include "pipeline/content_files.h"
#include "pipeline/definition/pipeline_set.h"
#include "pipeline/memory_budget.h"
#include "provider/chat.h"
#include "provider/clamd.h"
#include "provider/embeddings.h"
#include "provider/price.h"
#include "provider/vision_ocr.h"
#include "store/document_store.h"
#include "store/ingest_store.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace millrace::http {
class Client;
}

namespace millrace::pipeline {

struct RemoteParsers;

// A model that pipeline files may name as provider.
struct ModelService {
  provider::ChatProvider* chat = nullptr;
  std::string provider;  // "openai"; limits name it with the model: "openai:gpt-4o-mini".
  std::string model;     // Of stages that name none; empty: those are not asked.
  provider::PriceTable prices = {};
  int max_output_tokens = 8'192;
};

// What embeds, opened: a model in this process, or a service.
struct EmbeddingService {
  provider::EmbeddingProvider* provider = nullptr;
  provider::Price price = {};
};
// By the name of a model; empty: the configured one. not_found says what is missing here.
using OpenEmbedding = std::function<Task<EmbeddingService>(std::string model)>;

// For stages that are programs or addresses of the pipeline's author.
struct AuthorServices {
  http::Client* client = nullptr;  // Null: there is no network here.
  // Whose limits a stage says its jobs count against, as limits name it; empty: nobody's.
  std::function<std::string(const Stage&)> limited_by = {};
  std::string folder = {};  // Of the pipeline files: programs lie and run in it.
  std::map<std::string, std::string> env = {};  // All that a program gets besides the job's own.
};

struct Services {
  store::DocumentStore& store;
  blob::BlobStore& blobs;
  Children& children;
  ContentFiles& contents;
  const PipelineSet& pipelines;
  Executor threads;  // For what computes longer than a moment.
  Clock& clock;
  Random& random;
  Logger log;
  store::IngestStore* ingest = nullptr;  // Of the stages from parse to publish.
  std::map<std::string, ModelService, std::less<>> models = {};
  // By the provider of the stage: "local", "openai".
  std::map<std::string, OpenEmbedding, std::less<>> embeddings = {};
  provider::GoogleVisionOcr* vision = nullptr;  // Null: not configured.
  std::string vision_provider = {};             // "google:vision-api"
  provider::Price vision_price = {};
  provider::Clamd* clamd = nullptr;
  MemoryBudget* memory = nullptr;    // For what pages take; null: nobody waits.
  RemoteParsers* parsers = nullptr;  // Null: none is configured.
  AuthorServices authors = {};
};

}  // namespace millrace::pipeline
