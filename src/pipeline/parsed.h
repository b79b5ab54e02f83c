// Parsed: what a parser made of a document, whoever it was, and how the stage `parse` ends with it.
//
// Flow: the built-in parser (stages/parse.cpp) or one outside (parse_remote.h) stores the Markdown
// as content, fills in a Parsed and calls settled_parse(): result row, audit and the job of the
// next stage commit with the job itself. Content that no row names is swept, so a death before that
// costs a parse and nothing else. Nothing of the sender's is believed: the hash that counts is
// computed by the stage `validate` over the normalised text (B-07).
#pragma once

#include "base/json.h"
#include "pipeline/stage_job.h"

#include <optional>
#include <string>
#include <vector>

namespace millrace::pipeline {

struct Parsed {
  // As keep_content and describe_content give it: sha256, size_bytes, content_type, store_key,
  // stored_at. Content of type text/markdown, at least one byte.
  json::Object markdown;
  std::string parser_name;             // "builtin", "llamaparse"
  std::string parser_version;          // Of the parser; part of parse_id (B-10).
  std::optional<int> page_count = {};  // Nothing: the kind of document has no pages.
  json::Array warnings = {};  // {"rule","detail","count"}, shown to the owner; no text of it.
  std::vector<int> pages_failed = {};  // The document is `partial` when it has some.
  // For people and for search; of the document itself, not needed.
  std::string title = {};
  std::string language = {};  // BCP 47: "de"
  // Ids of the parser's own, sizes: what is worth keeping with the result.
  json::Object meta = {};
};

// permanent "no_text" when there is nothing in it.
Outcome settled_parse(StageJob& job, Parsed parsed);

}  // namespace millrace::pipeline
