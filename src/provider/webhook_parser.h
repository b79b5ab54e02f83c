// WebhookParser: a parser that is given a link to a document and answers by webhook (B-05).
//
//   POST <url>/parse {"job_id", "source_url", "webhook_url", "output_format": "markdown",
//                     "webhook_secret"}   →   {"parse_job_id"}
//
// The secret is of this job only and is kept nowhere by us (W-04). What the parser then sends to
// webhook_url is the API server's business. Nothing is retried here.
// Threading: any thread. Lifetime: client and clock outlive it; it outlives its calls.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/secret.h"
#include "http/client.h"
#include "provider/call.h"
#include "provider/exchange.h"

#include <string>
#include <string_view>

namespace millrace::provider {

struct WebhookParserOptions {
  std::string name = "parser";
  std::string url = {};
  Secret<std::string> token = {};  // Sent as bearer; empty: none.
  std::string version = "1";       // Of the parser, as we count it.
  CallTimeouts timeouts = {};
  bool allow_http = false;  // For a parser on a network that is trusted.
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const WebhookParserOptions& options);

struct WebhookParseRequest {
  std::string job_id;
  Secret<std::string> source_url;
  std::string webhook_url;
  Secret<std::string> webhook_secret;
};

class WebhookParser final {
 public:
  WebhookParser(http::Client& client, const Clock& clock, WebhookParserOptions options);

  std::string_view name() const { return options_.name; }
  const std::string& parser_version() const { return options_.version; }

  // The parser's own id; the job's where it gives none.
  awaitable<Answer<std::string>> ask(WebhookParseRequest wanted, CancelToken cancel) const;

 private:
  http::Client& client_;
  const Clock& clock_;
  WebhookParserOptions options_;
};

}  // namespace millrace::provider
