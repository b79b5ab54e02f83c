#include "pipeline/run_record.h"

#include "base/json_members.h"
#include "layout/clinical/pass_prompt.h"
#include "pipeline/picture.h"
#include "pipeline/steadily.h"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace millrace::pipeline {
namespace {

constexpr int kWindow = 200;  // Pages.

std::uint64_t count_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_number()
             ? static_cast<std::uint64_t>(std::max(0.0, value->to_number<double>()))
             : 0;
}

void add_meta(output::ManifestStage& stage, const json::Object& meta) {
  if (stage.engine.empty()) stage.engine = text_member(meta, "engine");
  if (stage.provider.empty()) stage.provider = text_member(meta, "provider");
  if (stage.model.empty()) stage.model = text_member(meta, "model");
}

void add_costs(output::ManifestStage& stage, const json::Object& meta) {
  stage.tokens_in += count_of(meta, "tokens_in");
  stage.tokens_out += count_of(meta, "tokens_out");
  stage.cost_micros += count_of(meta, "cost_micros");
}

// Of a stage that asks a model: the form of its answers, and the fixed part of what it is asked.
void add_question(output::ManifestStage& out, const Stage& stage) {
  namespace clinical = layout::clinical;
  std::optional<clinical::Pass> pass;
  if (stage.kind == RunKind::detect) pass = clinical::Pass::detect;
  if (stage.kind == RunKind::extract) pass = clinical::Pass::extract;
  if (stage.kind == RunKind::narrate) pass = clinical::Pass::narrate;
  if (!pass) return;
  out.schema = clinical::schema_id(*pass);
  if (stage.provider == kLocalProvider) return;  // Rules are asked nothing.
  out.prompt_sha256 = sha256_hex(clinical::instructions_of(*pass));
}

output::ManifestStage manifest_stage(const StageJob& job, const RunRecord& record,
                                     const Stage& stage) {
  output::ManifestStage out;
  if (const auto found = record.stages.find(stage.name); found != record.stages.end()) {
    out = found->second;
  }
  out.name = stage.name;
  add_question(out, stage);
  if (const auto times = record.times.stages.find(stage.name); times != record.times.stages.end()) {
    out.started_at = times->second.started;
    out.ended_at = times->second.ended;
  }
  for (const auto& page : record.pages) {
    if (page.failed_stage == stage.name) ++out.pages_failed;
  }
  // Of the whole document.
  if (const auto found = job.work.results.find(stage.name); found != job.work.results.end()) {
    add_meta(out, found->second.meta);
    add_costs(out, found->second.meta);
    out.output_sha256 = found->second.content.sha256;
  }
  return out;
}

output::ManifestPage manifest_page(const StageJob& job, const RunRecord& record,
                                   const store::PageState& state) {
  output::ManifestPage page;
  page.page = static_cast<std::uint32_t>(state.page);
  page.content_sha256 = state.content_sha256;
  for (const auto& stage : job.pipeline->stages) {
    if (const auto* result = record.find(state.page, stage.name)) {
      page.results.push_back({.stage = stage.name, .sha256 = result->content.sha256});
    }
  }
  if (const auto found = record.readings.find(state.page); found != record.readings.end()) {
    page.source = found->second.source;
    page.engine = found->second.engine;
    if (found->second.confidence) page.confidence = *found->second.confidence;
  }
  return page;
}

}  // namespace

const store::StageResult* RunRecord::find(int page, std::string_view stage) const {
  const auto found = results.find(std::pair(page, std::string(stage)));
  return found == results.end() ? nullptr : &found->second.result;
}

std::vector<std::string> RunRecord::engines() const {
  return {engine_names.begin(), engine_names.end()};
}

void RunRecord::add(store::PageResult one, bool reads_words) {
  const auto meta = std::exchange(one.result.meta, {});
  one.result.reuse_key = {};
  auto& stage = stages[one.stage];
  ++(one.reused ? stage.pages_reused : stage.pages_done);
  add_meta(stage, meta);
  if (!one.reused) add_costs(stage, meta);  // Else they were another document's.
  if (const auto engine = text_member(meta, "engine"); !engine.empty()) engine_names.insert(engine);
  if (reads_words) {
    Reading reading{.source = text_member(meta, "source") == "text" ? output::PageSource::text
                                                                    : output::PageSource::ocr,
                    .engine = text_member(meta, "engine")};
    const auto* confidence = meta.if_contains("confidence");
    if (confidence != nullptr && confidence->is_number()) {
      reading.confidence = std::clamp(confidence->to_number<double>(), 0.0, 1.0);
    }
    readings[one.page] = std::move(reading);
  }
  auto key = std::pair(one.page, one.stage);
  results.emplace(std::move(key), std::move(one));
}

bool lacks_narrative(const StageJob& job) {
  const auto* narrate = stage_doing(*job.pipeline, RunKind::narrate);
  if (narrate == nullptr) return false;
  const auto found = job.work.results.find(narrate->name);
  return found != job.work.results.end() && found->second.meta.contains("review");
}

Task<RunRecord> read_record(StageJob& job) {
  RunRecord record;
  MR_CO_TRY(record.times, co_await steadily(*job.context, [&] {
              return job.services.store.document_times(job.work.file.id, job.id());
            }));
  MR_CO_TRY(record.pages, co_await steadily(*job.context, [&] {
              return job.services.store.pages_of(job.work.file.id);
            }));
  std::vector<std::string> stages;
  for (const auto& stage : job.pipeline->stages) stages.push_back(stage.name);
  const auto* words = stage_doing(*job.pipeline, RunKind::ocr);
  const auto last = record.pages.empty() ? 0 : record.pages.back().page;
  for (int after = 0; after < last; after += kWindow) {
    MR_CO_TRY(auto window, co_await steadily(*job.context, [&] {
                return job.services.store.page_results(job.work.file.id, stages, after, kWindow);
              }));
    for (auto& one : window) {
      const bool reads_words = words != nullptr && one.stage == words->name;
      record.add(std::move(one), reads_words);
    }
  }
  co_return record;
}

output::Manifest manifest_of(const StageJob& job, const RunRecord& record,
                             const output::DocumentInfo& info,
                             std::vector<output::ManifestArtifact> artifacts) {
  output::Manifest manifest;
  manifest.document_id = info.document_id;
  manifest.generator = info.generator;
  manifest.run = static_cast<std::uint32_t>(record.times.run);
  manifest.started_at = record.times.whole.started;
  manifest.created_at = record.times.whole.ended;
  const auto failed = std::ranges::count(record.pages, "failed", &store::PageState::state);
  // A parser tells of its pages in one word.
  const auto* lost = job.work.document->summary.if_contains("pages_failed");
  const bool some = lost != nullptr && lost->is_array() && !lost->get_array().empty();
  // And an answer about the whole document may be none that could be used.
  const bool lacks = lacks_narrative(job);
  manifest.state = failed == 0 && !some && !lacks ? "completed" : "partial";
  manifest.inputs = {info.source};
  manifest.pipeline = {
      .name = job.pipeline->name, .version = job.pipeline->version, .sha256 = job.pipeline->hash};
  for (const auto& stage : job.pipeline->stages) {
    manifest.stages.push_back(manifest_stage(job, record, stage));
  }
  for (const auto& page : record.pages) {
    manifest.pages.push_back(manifest_page(job, record, page));
  }
  manifest.artifacts = std::move(artifacts);
  std::ranges::sort(manifest.artifacts, {}, &output::ManifestArtifact::name);
  manifest.pictures = picture_recipe(*job.pipeline, info.generator);
  for (const auto& one : job.work.document->findings) {
    if (!one.is_object()) continue;
    const auto& finding = one.get_object();
    manifest.findings.push_back({.stage = job.pipeline->stages.front().name,
                                 .severity = text_member(finding, "severity"),
                                 .rule = text_member(finding, "rule")});
  }
  return manifest;
}

}  // namespace millrace::pipeline
