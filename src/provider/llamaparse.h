// LlamaParse: documents to Markdown by LlamaCloud, version 2 of its API.
//
// Flow: ask() sends a document, or a link to it, and gives the service's id of the parse; look()
// says how far it is and, once it is COMPLETED, gives the pages. A parse that is COMPLETED may have
// pages that failed. Callbacks are wake-ups only and are not authenticated by the service: the
// result is what look() says (INTEGRATIONS §2). The version of the parser is always said: `latest`
// would give other text for the same document. Nothing is retried here.
// Threading: any thread. Lifetime: client, clock and random outlive it; it outlives its calls.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "base/secret.h"
#include "http/client.h"
#include "provider/call.h"
#include "provider/classify.h"
#include "provider/exchange.h"
#include "provider/parse_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::provider {

struct LlamaParseOptions {
  std::string name = "llamaparse";
  std::string base_url = "https://api.cloud.llamaindex.ai";
  Secret<std::string> api_key = {};
  std::string tier = "cost_effective";
  std::string version = {};  // Of the parser.
  CallTimeouts timeouts = {};
  std::uint64_t upload_max_bytes = std::uint64_t{100} * 1024 * 1024;
  std::size_t response_max_bytes = std::size_t{128} * 1024 * 1024;
  bool allow_http = false;  // For a gateway on a network that is trusted.
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const LlamaParseOptions& options);

struct ParsedPage {
  int number = 0;
  bool success = false;
  std::string markdown = {};
  std::string error = {};  // One line.
};

struct ParseProgress {
  enum class State { running, completed, failed };
  State state = State::running;
  std::string status = {};             // As the service says it; what is not known is running.
  std::string error = {};              // Of one that failed or was cancelled; one line.
  std::vector<ParsedPage> pages = {};  // In order, each number once.
};

class LlamaParse final {
 public:
  LlamaParse(http::Client& client, const Clock& clock, Random& random, LlamaParseOptions options);

  std::string_view name() const { return options_.name; }
  // "cost_effective/2026-01-08": what decides, besides the document, what comes of it.
  std::string parser_version() const { return options_.tier + "/" + options_.version; }
  std::uint64_t upload_max_bytes() const { return options_.upload_max_bytes; }

  // The id of the parse.
  awaitable<Answer<std::string>> ask(ParseSource source, ParseCallback callback,
                                     CancelToken cancel) const;
  awaitable<Answer<ParseProgress>> look(std::string id, CancelToken cancel) const;

 private:
  json::Object configuration(const ParseCallback& callback) const;
  http::Request request(std::string method, std::string path) const;
  http::Request upload(ParseSource source, const ParseCallback& callback) const;
  CallFailure read_refusal(const http::Response& response, const json::Value& body,
                           std::string_view secret) const;

  http::Client& client_;
  const Clock& clock_;
  Random& random_;
  LlamaParseOptions options_;
};

// Pages as one text, each behind a line "<!-- page N -->"; marks of pages that a page itself holds
// are taken apart. Pages that failed are left out.
std::string join_pages(const std::vector<ParsedPage>& pages);

// What such services answer an error with: FastAPI's {"detail": "…"} or {"detail": [{"msg": …}]},
// or {"error": …}.
Refusal parser_refusal(const json::Value& body, int status);

}  // namespace millrace::provider
