// RemoteParsers: parsers outside that a stage `parse` may name as its provider, and what they are
// given. Everything outlives the handlers.
#pragma once

#include "base/secret.h"
#include "base/task.h"
#include "provider/llamaparse.h"
#include "provider/webhook_parser.h"
#include "store/document_store.h"
#include "store/parse_store.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace millrace::pipeline {

// What only a parse knows, and what is kept of it.
struct ParseCapability {
  std::string sha256;                     // Hexadecimal.
  provider::ParseCallback callback = {};  // Empty: the service is only asked.
};

struct RemoteParsers {
  store::ParseStore& store;
  std::chrono::milliseconds deadline{std::chrono::hours(1)};

  provider::LlamaParse* llamaparse = nullptr;  // Null: not configured.
  std::int64_t llamaparse_page_micros = 0;
  bool llamaparse_by_url = false;  // A link is sent in place of the document.

  provider::WebhookParser* parser = nullptr;  // Null: not configured.
  std::int64_t parser_document_micros = 0;
  std::string webhook_url = {};  // Where it delivers.
  std::function<Secret<std::string>(JobId)> job_secret = {};

  // A new one each time.
  std::function<ParseCapability()> make_capability = {};
  // A link to the document of a job that holds for an hour (T-13). Empty: there is none here.
  std::function<Task<Secret<std::string>>(const store::DocumentWork& work)> source_link = {};
};

}  // namespace millrace::pipeline
