#include "pipeline/parsed.h"

#include "chunk/identity.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <utility>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kWarningsMax = 100;
constexpr std::size_t kPagesToldMax = 1'000;

std::string text_of(const json::Value& value, std::string_view name, std::size_t bytes_max) {
  const auto* found = value.is_object() ? value.get_object().if_contains(name) : nullptr;
  if (found == nullptr || !found->is_string()) return {};
  return storable_text(found->get_string(), bytes_max);
}

// A parser's own words, cut to what the record may hold.
json::Array told_warnings(const json::Array& warnings) {
  json::Array told;
  for (const auto& one : warnings) {
    if (told.size() >= kWarningsMax) break;
    json::Object warning;
    warning["rule"] = text_of(one, "rule", 64);
    warning["detail"] = text_of(one, "detail", 300);
    const auto* count = one.is_object() ? one.get_object().if_contains("count") : nullptr;
    if (count != nullptr && count->is_number()) warning["count"] = *count;
    told.push_back(std::move(warning));
  }
  return told;
}

}  // namespace

Outcome settled_parse(StageJob& job, Parsed parsed) {
  const auto* size = parsed.markdown.if_contains("size_bytes");
  if (size == nullptr || !size->is_number() || size->to_number<std::int64_t>() <= 0) {
    return Outcome::permanent("no_text", "the document has no text");
  }
  const auto version = storable_text(parsed.parser_version, 64);
  json::Object meta = std::move(parsed.meta);
  meta["parser"] = storable_text(parsed.parser_name, 64);
  meta["parser_version"] = version;
  meta["parse_id"] =
      chunk::parse_id(job.work.file.id, {.name = parsed.parser_name, .version = version})
          .to_string();
  if (!parsed.title.empty()) meta["title"] = storable_text(parsed.title, 300);
  if (!parsed.language.empty()) meta["language"] = storable_text(parsed.language, 35);
  json::Array failed;
  for (const int page : parsed.pages_failed) {
    if (failed.size() < kPagesToldMax) failed.emplace_back(page);
  }
  json::Object summary;
  summary["parser"] = meta.at("parser");
  if (meta.contains("title")) summary["title"] = meta.at("title");
  summary["warnings"] = told_warnings(parsed.warnings);
  summary["pages_failed"] = std::move(failed);

  json::Object describes;
  const auto kind = meta.if_contains("kind");
  describes["kind"] = kind == nullptr ? json::Value(nullptr) : *kind;
  describes["mime"] = text_of(meta, "mime", 128);
  describes["page_count"] =
      parsed.page_count ? json::Value(*parsed.page_count) : json::Value(nullptr);

  json::Object result;
  result["page"] = 0;
  result["stage"] = job.stage->name;
  result["reuse_key"] =
      sha256_hex("parse" + stage_version(*job.stage) + version + job.work.file.content.sha256);
  result["blob"] = std::move(parsed.markdown);
  result["meta"] = std::move(meta);
  json::Object item;
  item["results"] = json::Array{std::move(result)};
  item["describes"] = std::move(describes);
  item["summary"] = std::move(summary);
  return settled_stage(job, std::move(item));
}

}  // namespace millrace::pipeline
