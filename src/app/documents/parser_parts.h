// ParserParts: the parsers outside that this installation knows, made of llamaparse.*, parser.* and
// webhook.*, for the stages of a worker.
//
// Lifetime: the needs outlive it, and it outlives the handlers.
#pragma once

#include "app/config/settings.h"
#include "base/clock.h"
#include "base/random.h"
#include "blob/blob_store.h"
#include "http/client.h"
#include "identity/ticket.h"
#include "pipeline/remote_parsers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::pg {
class Pool;
}

namespace millrace::app {

// "llamaparse", "webhook": those that are configured, for pipeline files.
std::vector<std::string> known_parsers(const Settings& settings);
// As limits name the provider of a stage that parses; empty: it is no parser outside.
std::string limited_parser(std::string_view provider);

class ParserParts {
 public:
  struct Needs {
    const Settings& settings;
    http::Client& client;
    pg::Pool& pool;
    Clock& clock;
    Random& random;
    blob::BlobStore& blobs;
  };

  // Null where no parser is configured. invalid_argument names the setting that is wrong.
  static Result<std::unique_ptr<ParserParts>> make(Needs needs);

  pipeline::RemoteParsers& parsers() { return *parsers_; }

 private:
  explicit ParserParts(Needs needs);
  Result<void> add_links();
  Result<void> add_llamaparse();
  Result<void> add_parser();
  pipeline::ParseCapability new_capability() const;
  Task<Secret<std::string>> link_to(const store::DocumentWork& work) const;

  Needs needs_;
  std::string public_url_;                        // Without a slash at its end.
  std::optional<Secret<std::string>> master_;     // webhook.secret
  std::optional<identity::TicketMaker> tickets_;  // For links to this installation.
  std::unique_ptr<store::ParseStore> store_;
  std::unique_ptr<provider::LlamaParse> llamaparse_;
  std::unique_ptr<provider::WebhookParser> parser_;
  std::optional<pipeline::RemoteParsers> parsers_;
};

}  // namespace millrace::app
