#include "pipeline/stage_plan.h"

#include "extract/extract.h"
#include "layout/clinical/pass_prompt.h"
#include "layout/clinical/pass_schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace millrace::pipeline {
namespace {

// Raised when the code of a stage makes something else of the same input.
constexpr int kScanRevision = 3;
constexpr int kReadRevision = 3;
constexpr int kSpatialRevision = 1;
constexpr int kPassRevision = 3;
constexpr int kExtractRevision = 4;  // Of its own: the answers of models to other passes stand.
constexpr int kIngestRevision = 2;

std::size_t place_of(const Pipeline& pipeline, std::string_view stage) {
  const auto found = std::ranges::find(pipeline.stages, stage, &Stage::name);
  return static_cast<std::size_t>(found - pipeline.stages.begin());
}

const Stage* stage_behind(const Pipeline& pipeline, std::string_view stage) {
  const auto place = place_of(pipeline, stage) + 1;
  return place < pipeline.stages.size() ? &pipeline.stages[place] : nullptr;
}

json::Object job_fields(const Stage& stage) {
  json::Object job;
  job["queue"] = stage.queue;
  if (stage.max_attempts) job["max_attempts"] = *stage.max_attempts;
  job["run_timeout_seconds"] = std::chrono::duration<double>(stage.timeout).count();
  return job;
}

// Thousands of pages are written into a dozen files.
json::Object outputs_job() {
  json::Object job;
  job["run_timeout_seconds"] = 900;
  return job;
}

// Of an author's stage: what it says it requires.
json::Array required_inputs(const Pipeline& pipeline, const Stage& stage) {
  json::Array inputs;
  for (const auto& required : stage.required) {
    const auto* maker = pipeline.maker(stage.name, required);
    if (maker == nullptr || maker->kind == RunKind::scan) continue;
    json::Value input(makes_page_results(*maker) ? maker->name : "document:" + maker->name);
    if (std::ranges::find(inputs, input) == inputs.end()) inputs.push_back(std::move(input));
  }
  if (inputs.empty()) inputs.emplace_back("content");
  return inputs;
}

// What the result of a page depends on besides stage and version.
json::Array inputs_of(const Pipeline& pipeline, const Stage& stage) {
  if (is_authors(stage)) return required_inputs(pipeline, stage);
  if (stage.kind == RunKind::ocr) return {"content"};
  json::Array inputs;
  const auto add = [&](RunKind kind, bool previous) {
    const auto* source = stage_doing(pipeline, kind);
    if (source == nullptr || source->name == stage.name) return;
    inputs.emplace_back(source->name);
    if (previous) inputs.emplace_back("previous:" + source->name);
  };
  // A section may go on from the page before.
  add(RunKind::spatial, stage.kind == RunKind::detect);
  if (stage.kind == RunKind::extract) add(RunKind::detect, false);
  if (inputs.empty()) inputs.emplace_back("content");
  return inputs;
}

}  // namespace

std::string_view mode_of(const Stage& stage) {
  const auto* mode = stage.options.if_contains("mode");
  return mode != nullptr && mode->is_string() ? std::string_view(mode->get_string()) : "auto";
}

bool is_authors(const Stage& stage) {
  return stage.kind == RunKind::exec || stage.kind == RunKind::http;
}

bool makes_page_results(const Stage& stage) {
  return stage.each == Each::page || stage.kind == RunKind::spatial;
}

json::Object job_of(const Stage& stage) {
  auto job = job_fields(stage);
  job["job_type"] = stage.name;
  return job;
}

const Stage* stage_doing(const Pipeline& pipeline, RunKind kind) {
  const auto found = std::ranges::find(pipeline.stages, kind, &Stage::kind);
  return found == pipeline.stages.end() ? nullptr : &*found;
}

std::string stage_version(const Stage& stage) {
  const auto fingerprint = result_fingerprint(stage);
  switch (stage.kind) {
    case RunKind::scan:
      return fmt::format("{}/{}", fingerprint, kScanRevision);
    case RunKind::ocr:
      return fmt::format("{}/{}", fingerprint, kReadRevision);
    case RunKind::spatial:
      return fmt::format("{}/{}", fingerprint, kSpatialRevision);
    case RunKind::detect:
    case RunKind::extract:
    case RunKind::narrate: {
      const int revision = stage.kind == RunKind::extract ? kExtractRevision : kPassRevision;
      return stage.provider == kLocalProvider
                 ? fmt::format("{}/{}/{}", fingerprint, revision, extract::version())
                 : fmt::format("{}/{}", fingerprint, revision);
    }
    case RunKind::parse:
    case RunKind::validate:
    case RunKind::chunk:
    case RunKind::embed:
    case RunKind::publish:
      return fmt::format("{}/{}", fingerprint, kIngestRevision);
    case RunKind::render:
    case RunKind::exec:
    case RunKind::http:
      return fingerprint;
  }
  return fingerprint;
}

json::Object job_after(const Pipeline& pipeline, std::string_view stage) {
  if (const auto* next = stage_behind(pipeline, stage)) return job_of(*next);
  auto job = outputs_job();
  job["job_type"] = kOutputsType;
  return job;
}

namespace {

// Of a stage that asks a model: instructions, the form of the answer, and the answer.
std::optional<std::size_t> tokens_of(const Stage& stage) {
  namespace clinical = layout::clinical;
  if (stage.provider == kLocalProvider || stage.provider == kNoProvider) return std::nullopt;
  // Each call takes its own tokens at the limiter when its size is known.
  if (stage.kind == RunKind::embed || stage.kind == RunKind::parse) return 1;
  const auto pass = stage.kind == RunKind::detect    ? clinical::Pass::detect
                    : stage.kind == RunKind::extract ? clinical::Pass::extract
                                                     : clinical::Pass::narrate;
  if (stage.kind != RunKind::narrate && pass == clinical::Pass::narrate) return std::nullopt;
  constexpr std::size_t kAnswerTokens = 4'096;
  return clinical::instructions_of(pass).size() +
         to_json(clinical::pass_schema(pass, clinical::Form::answer)).size() + kAnswerTokens;
}

}  // namespace

namespace {

// Of a stage whose pages take milliseconds: then a job for each costs more than the page.
std::optional<json::Object> group_of(const Stage& stage) {
  constexpr int kPages = 16;
  const bool reads_text = stage.kind == RunKind::ocr && mode_of(stage) == "auto";
  const bool has_rules = (stage.kind == RunKind::detect || stage.kind == RunKind::extract) &&
                         stage.provider == kLocalProvider;
  if (stage.each != Each::page || (!reads_text && !has_rules)) return std::nullopt;
  json::Object group{{"pages", kPages}};
  if (reads_text) group["text_chars_min"] = kOwnTextChars;
  return group;
}

}  // namespace

json::Value plan_of(const Pipeline& pipeline, const Stage& stage) {
  json::Object plan;
  if (const auto tokens = tokens_of(stage)) plan["tokens"] = *tokens;
  plan["stage"] = stage.name;
  plan["each"] = to_string(stage.each);
  plan["version"] = stage_version(stage);
  plan["inputs"] = inputs_of(pipeline, stage);
  plan["job"] = job_fields(stage);
  if (auto group = group_of(stage)) plan["group"] = *std::move(group);
  if (stage.each == Each::page) plan["next"] = job_after(pipeline, stage.name);
  return plan;
}

json::Value plan_after(const Pipeline& pipeline, std::string_view stage) {
  if (stage == kOutputsType) return nullptr;
  if (const auto* next = stage_behind(pipeline, stage)) return plan_of(pipeline, *next);
  json::Object plan;
  plan["stage"] = kOutputsType;
  plan["each"] = "document";
  plan["job"] = outputs_job();
  return plan;
}

const Stage* pages_before(const Pipeline& pipeline, std::string_view stage) {
  const auto place = stage == kOutputsType ? pipeline.stages.size() : place_of(pipeline, stage);
  if (place == 0 || place > pipeline.stages.size()) return nullptr;
  const auto& before = pipeline.stages[place - 1];
  return before.each == Each::page ? &before : nullptr;
}

}  // namespace millrace::pipeline
