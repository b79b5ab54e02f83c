#include "pipeline/definition/stage_kind.h"

#include "base/assert.h"

#include <algorithm>

namespace millrace::pipeline {
namespace {

std::vector<StageKind> make_kinds() {
  using enum OptionSpec::Type;
  const OptionSpec model{.name = "model", .type = text};
  const std::vector<std::string_view> nobody{kNoProvider};
  const std::vector<std::string_view> readers{kLocalProvider, "google"};
  const std::vector<std::string_view> models{kLocalProvider, "openai", "anthropic"};
  const std::vector<std::string_view> any{kNoProvider, "openai", "anthropic", "google"};
  return {
      {.kind = RunKind::scan,
       .each = Each::document,
       .provider = kNoProvider,
       .providers = nobody,
       .in_child = true,
       .outputs = {"pages"},
       .options = {{.name = "active_content", .type = choice, .choices = {"refuse", "flag"}},
                   {.name = "pages_max", .type = integer, .min = 1, .max = 5'000}}},
      {.kind = RunKind::ocr,
       .each = Each::page,
       .provider = kLocalProvider,
       .providers = readers,
       .in_child = true,
       .required = {"pages"},
       .outputs = {"words", "text"},
       .options = {{.name = "mode", .type = choice, .choices = {"auto", "text", "ocr"}},
                   {.name = "languages", .type = languages},
                   {.name = "confidence_min", .type = number, .min = 0, .max = 1}}},
      {.kind = RunKind::spatial,
       .each = Each::document,
       .provider = kNoProvider,
       .providers = nobody,
       .required = {"words"},
       .outputs = {"map"}},
      {.kind = RunKind::detect,
       .each = Each::page,
       .provider = kLocalProvider,
       .providers = models,
       .required = {"map"},
       .outputs = {"entities"},
       .options = {model}},
      {.kind = RunKind::extract,
       .each = Each::page,
       .provider = kLocalProvider,
       .providers = models,
       .required = {"map", "entities"},
       .outputs = {"facts"},
       .options = {model,
                   {.name = "accept_min", .type = number, .min = 0, .max = 1},
                   {.name = "accept_min_critical", .type = number, .min = 0, .max = 1},
                   {.name = "review_min", .type = number, .min = 0, .max = 1}}},
      {.kind = RunKind::narrate,
       .each = Each::document,
       .provider = kLocalProvider,
       .providers = models,
       .required = {"map", "entities", "facts"},
       .outputs = {"narrative"},
       .options = {model}},
      {.kind = RunKind::render,
       .each = Each::document,
       .provider = kNoProvider,
       .providers = nobody,
       .in_child = true,
       .outputs = {"pdf"},
       .options = {{.name = "preview_width", .type = integer, .min = 0, .max = 1'200}}},
      {.kind = RunKind::parse,
       .each = Each::document,
       .provider = kLocalProvider,
       .providers = {kLocalProvider, "llamaparse", "webhook"},
       .in_child = true,
       .outputs = {"markdown"},
       .options = {{.name = "ocr", .type = choice, .choices = {"auto", "never"}},
                   {.name = "ocr_pages_max", .type = integer, .min = 0, .max = 5'000},
                   {.name = "languages", .type = languages}}},
      {.kind = RunKind::validate,
       .each = Each::document,
       .provider = kNoProvider,
       .providers = nobody,
       .required = {"markdown"},
       .outputs = {"normal_text"}},
      {.kind = RunKind::chunk,
       .each = Each::document,
       .provider = kNoProvider,
       .providers = nobody,
       .required = {"normal_text"},
       .outputs = {"chunks"},
       .options = {{.name = "max_tokens", .type = integer, .min = 64, .max = 1'000'000},
                   {.name = "target_tokens", .type = integer, .min = 1, .max = 1'000'000},
                   {.name = "min_tokens", .type = integer, .min = 0, .max = 500'000},
                   {.name = "overlap_tokens", .type = integer, .min = 0, .max = 150'000},
                   {.name = "prefix_share_percent", .type = integer, .min = 0, .max = 50}}},
      {.kind = RunKind::embed,
       .each = Each::document,
       .provider = kLocalProvider,
       .providers = {kLocalProvider, "openai"},
       .required = {"chunks"},
       .outputs = {"vectors"},
       .options = {model, {.name = "batch_max", .type = integer, .min = 1, .max = 256}}},
      {.kind = RunKind::publish,
       .each = Each::document,
       .provider = kNoProvider,
       .providers = nobody,
       .required = {"chunks", "vectors"},
       .outputs = {"published"}},
      // Of these the provider says whose limits the jobs count against.
      {.kind = RunKind::exec,
       .each = std::nullopt,
       .provider = kNoProvider,
       .providers = any,
       .in_child = true},
      {.kind = RunKind::http, .each = std::nullopt, .provider = kNoProvider, .providers = any},
  };
}

}  // namespace

std::span<const StageKind> stage_kinds() {
  static const std::vector<StageKind> kinds = make_kinds();
  return kinds;
}

const StageKind& stage_kind(RunKind kind) {
  const auto kinds = stage_kinds();
  const auto found = std::ranges::find(kinds, kind, &StageKind::kind);
  MR_ASSERT(found != kinds.end());
  return *found;
}

const StageKind* find_built_in(std::string_view name) {
  for (const auto& kind : stage_kinds()) {
    if (kind.built_in() && to_string(kind.kind) == name) return &kind;
  }
  return nullptr;
}

}  // namespace millrace::pipeline
