#include "layout/json_fields.h"
#include "output/manifest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <array>

namespace millrace::output {
namespace {

using layout::Fields;

constexpr double kCountMax = 9'007'199'254'740'992.0;  // What JSON can hold exactly.
constexpr std::uint32_t kPageMax = 1'000'000;

// -- writing --

json::Value or_null(const std::optional<std::string>& text) {
  return text ? json::Value(json::String(*text)) : json::Value(nullptr);
}

json::Value or_null(const std::optional<Instant>& time) {
  return time ? json::Value(json::String(to_text(*time))) : json::Value(nullptr);
}

json::Value or_null(const std::optional<double>& number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

json::Object input_json(const SourceFile& file) {
  return {{"file_name", file.file_name},
          {"sha256", file.sha256},
          {"size_bytes", file.size_bytes},
          {"mime", file.mime}};
}

json::Object stage_json(const ManifestStage& stage) {
  return {{"name", stage.name},
          {"engine", stage.engine},
          {"provider", stage.provider},
          {"model", stage.model},
          {"schema", stage.schema},
          {"prompt_sha256", or_null(stage.prompt_sha256)},
          {"input_sha256", or_null(stage.input_sha256)},
          {"output_sha256", or_null(stage.output_sha256)},
          {"tokens_in", stage.tokens_in},
          {"tokens_out", stage.tokens_out},
          {"cost_micros", stage.cost_micros},
          {"currency", stage.currency},
          {"pages_done", stage.pages_done},
          {"pages_reused", stage.pages_reused},
          {"pages_failed", stage.pages_failed},
          {"started_at", or_null(stage.started_at)},
          {"ended_at", or_null(stage.ended_at)}};
}

json::Object page_json(const ManifestPage& page) {
  json::Array results;
  for (const auto& result : page.results) {
    results.push_back(json::Object{{"stage", result.stage},
                                   {"sha256", result.sha256},
                                   {"input_sha256", or_null(result.input_sha256)}});
  }
  return {{"page", page.page},
          {"content_sha256", page.content_sha256},
          {"source", to_string(page.source)},
          {"engine", page.engine},
          {"confidence", or_null(page.confidence)},
          {"results", std::move(results)}};
}

json::Object artifact_json(const ManifestArtifact& artifact) {
  return {{"name", artifact.name},
          {"kind", artifact.kind},
          {"mime", artifact.mime},
          {"sha256", artifact.sha256},
          {"size_bytes", artifact.size_bytes}};
}

json::Value pictures_json(const std::optional<ManifestPictures>& pictures) {
  if (!pictures) return nullptr;
  json::Array stages;
  for (const auto& stage : pictures->stages) stages.emplace_back(stage);
  return json::Object{{"made", "when asked for"},
                      {"name", pictures->name},
                      {"mime", pictures->mime},
                      {"generator", pictures->generator},
                      {"width_px_max", pictures->width_px_max},
                      {"stages", std::move(stages)}};
}

json::Object finding_json(const ManifestFinding& finding) {
  return {{"stage", finding.stage},
          {"severity", finding.severity},
          {"rule", finding.rule},
          {"path", finding.path},
          {"page", finding.page}};
}

template <class Items, class Write>
json::Array array_json(const Items& items, Write write) {
  json::Array out;
  for (const auto& item : items) out.push_back(write(item));
  return out;
}

// -- reading --

class Reader {
 public:
  explicit Reader(const ManifestLimits& limits) : limits_(limits) {}

  Result<std::string> text(const Fields& fields, std::string_view name) const {
    MR_TRY(const auto value, fields.text(name, limits_.text_bytes_max));
    return std::string(value);
  }

  Result<std::optional<std::string>> optional_text(const Fields& fields,
                                                   std::string_view name) const {
    MR_TRY(const auto value, fields.optional_text(name, limits_.text_bytes_max));
    return value ? std::optional(std::string(*value)) : std::nullopt;
  }

  static Result<std::uint64_t> count(const Fields& fields, std::string_view name) {
    MR_TRY(const auto value, fields.number(name, 0, kCountMax));
    const auto whole = static_cast<std::uint64_t>(value);
    if (static_cast<double>(whole) != value) return fields.wrong(name, "must be a whole number");
    return whole;
  }

  Result<std::optional<Instant>> time(const Fields& fields, std::string_view name) const {
    MR_TRY(const auto value, fields.optional_text(name, limits_.text_bytes_max));
    if (!value) return std::nullopt;
    const auto time = parse_instant(*value);
    if (!time) return fields.wrong(name, "must be a time like 2026-11-16T12:00:00.000Z");
    return time;
  }

  template <class Item>
  Result<std::vector<Item>> list(const Fields& fields, std::string_view name, std::size_t max,
                                 Result<Item> (Reader::*read)(const Fields&) const) const {
    MR_TRY(const auto* array, fields.array(name, max));
    std::vector<Item> out;
    for (std::size_t i = 0; i < array->size(); ++i) {
      MR_TRY(const auto item, Fields::of((*array)[i], fields.path_of(name, i)));
      MR_TRY(auto value, (this->*read)(item));
      out.push_back(std::move(value));
    }
    return out;
  }

  Result<SourceFile> input(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"file_name", "sha256", "size_bytes", "mime"}));
    SourceFile out;
    MR_TRY(out.file_name, text(fields, "file_name"));
    MR_TRY(out.sha256, text(fields, "sha256"));
    MR_TRY(out.size_bytes, count(fields, "size_bytes"));
    MR_TRY(out.mime, text(fields, "mime"));
    return out;
  }

  Result<ManifestPipeline> pipeline(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"name", "version", "sha256"}));
    ManifestPipeline out;
    MR_TRY(out.name, text(fields, "name"));
    MR_TRY(out.version, text(fields, "version"));
    MR_TRY(out.sha256, text(fields, "sha256"));
    return out;
  }

  Result<ManifestStage> stage(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"name", "engine", "provider", "model", "schema", "prompt_sha256",
                             "input_sha256", "output_sha256", "tokens_in", "tokens_out",
                             "cost_micros", "currency", "pages_done", "pages_reused",
                             "pages_failed", "started_at", "ended_at"}));
    ManifestStage out;
    MR_TRY(out.name, text(fields, "name"));
    MR_TRY(out.engine, text(fields, "engine"));
    MR_TRY(out.provider, text(fields, "provider"));
    MR_TRY(out.model, text(fields, "model"));
    MR_TRY(out.schema, text(fields, "schema"));
    MR_TRY(out.prompt_sha256, optional_text(fields, "prompt_sha256"));
    MR_TRY(out.input_sha256, optional_text(fields, "input_sha256"));
    MR_TRY(out.output_sha256, optional_text(fields, "output_sha256"));
    MR_TRY(out.tokens_in, count(fields, "tokens_in"));
    MR_TRY(out.tokens_out, count(fields, "tokens_out"));
    MR_TRY(out.cost_micros, count(fields, "cost_micros"));
    MR_TRY(out.currency, text(fields, "currency"));
    MR_TRY(out.pages_done, fields.count("pages_done", kPageMax));
    MR_TRY(out.pages_reused, fields.count("pages_reused", kPageMax));
    MR_TRY(out.pages_failed, fields.count("pages_failed", kPageMax));
    MR_TRY(out.started_at, time(fields, "started_at"));
    MR_TRY(out.ended_at, time(fields, "ended_at"));
    return out;
  }

  Result<ManifestResult> result(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"stage", "sha256", "input_sha256"}));
    ManifestResult out;
    MR_TRY(out.stage, text(fields, "stage"));
    MR_TRY(out.sha256, text(fields, "sha256"));
    MR_TRY(out.input_sha256, optional_text(fields, "input_sha256"));
    return out;
  }

  Result<ManifestPage> page(const Fields& fields) const {
    MR_TRY_VOID(
        fields.only({"page", "content_sha256", "source", "engine", "confidence", "results"}));
    ManifestPage out;
    MR_TRY(out.page, fields.count("page", kPageMax));
    MR_TRY(out.content_sha256, text(fields, "content_sha256"));
    MR_TRY(const auto source, text(fields, "source"));
    constexpr std::array kSources = {PageSource::none, PageSource::text, PageSource::ocr};
    bool known = false;
    for (const auto value : kSources) {
      if (to_string(value) != source) continue;
      out.source = value;
      known = true;
    }
    if (!known) return fields.wrong("source", "must be none, text or ocr");
    MR_TRY(out.engine, text(fields, "engine"));
    MR_TRY(out.confidence, fields.optional_number("confidence", 0, 1));
    MR_TRY(out.results, list(fields, "results", limits_.stages_max, &Reader::result));
    return out;
  }

  Result<ManifestArtifact> artifact(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"name", "kind", "mime", "sha256", "size_bytes"}));
    ManifestArtifact out;
    MR_TRY(out.name, text(fields, "name"));
    MR_TRY(out.kind, text(fields, "kind"));
    MR_TRY(out.mime, text(fields, "mime"));
    MR_TRY(out.sha256, text(fields, "sha256"));
    MR_TRY(out.size_bytes, count(fields, "size_bytes"));
    return out;
  }

  Result<ManifestPictures> pictures(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"made", "name", "mime", "generator", "width_px_max", "stages"}));
    ManifestPictures out;
    MR_TRY(out.name, text(fields, "name"));
    MR_TRY(out.mime, text(fields, "mime"));
    MR_TRY(out.generator, text(fields, "generator"));
    MR_TRY(out.width_px_max, fields.count("width_px_max", kPageMax));
    MR_TRY(const auto* stages, fields.array("stages", limits_.stages_max));
    for (const auto& stage : *stages) {
      if (!stage.is_string()) return fields.wrong("stages", "must be names");
      out.stages.emplace_back(stage.get_string());
    }
    return out;
  }

  Result<ManifestFinding> finding(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"stage", "severity", "rule", "path", "page"}));
    ManifestFinding out;
    MR_TRY(out.stage, text(fields, "stage"));
    MR_TRY(out.severity, text(fields, "severity"));
    MR_TRY(out.rule, text(fields, "rule"));
    MR_TRY(out.path, text(fields, "path"));
    MR_TRY(out.page, fields.count("page", kPageMax));
    return out;
  }

  Result<Manifest> manifest(const Fields& fields) const {
    MR_TRY_VOID(fields.only({"schema", "document_id", "generator", "run", "started_at",
                             "created_at", "state", "inputs", "pipeline", "stages", "pages",
                             "artifacts", "pictures", "findings"}));
    MR_TRY(const auto schema, text(fields, "schema"));
    if (schema != kManifestSchema) return fields.wrong("schema", "must be manifest/1");
    Manifest out;
    MR_TRY(out.document_id, text(fields, "document_id"));
    MR_TRY(out.generator, text(fields, "generator"));
    MR_TRY(const auto created, time(fields, "created_at"));
    if (!created) return fields.wrong("created_at", "is missing");
    out.created_at = *created;
    // Those that were written first say neither.
    MR_TRY(out.run, fields.count_or("run", 1, kPageMax));
    MR_TRY(const auto started, time(fields, "started_at"));
    out.started_at = started.value_or(*created);
    MR_TRY(out.state, text(fields, "state"));
    MR_TRY(out.inputs, list(fields, "inputs", limits_.inputs_max, &Reader::input));
    MR_TRY(const auto pipeline_fields, fields.object("pipeline"));
    MR_TRY(out.pipeline, pipeline(pipeline_fields));
    MR_TRY(out.stages, list(fields, "stages", limits_.stages_max, &Reader::stage));
    MR_TRY(out.pages, list(fields, "pages", limits_.pages_max, &Reader::page));
    MR_TRY(out.artifacts, list(fields, "artifacts", limits_.artifacts_max, &Reader::artifact));
    if (fields.has("pictures")) {
      MR_TRY(const auto picture_fields, fields.object("pictures"));
      MR_TRY(out.pictures, pictures(picture_fields));
    }
    MR_TRY(out.findings, list(fields, "findings", limits_.findings_max, &Reader::finding));
    return out;
  }

 private:
  const ManifestLimits& limits_;
};

}  // namespace

json::Value manifest_to_json(const Manifest& manifest) {
  return json::Object{{"schema", kManifestSchema},
                      {"document_id", manifest.document_id},
                      {"generator", manifest.generator},
                      {"run", manifest.run},
                      {"started_at", to_text(manifest.started_at)},
                      {"created_at", to_text(manifest.created_at)},
                      {"state", manifest.state},
                      {"inputs", array_json(manifest.inputs, input_json)},
                      {"pipeline", json::Object{{"name", manifest.pipeline.name},
                                                {"version", manifest.pipeline.version},
                                                {"sha256", manifest.pipeline.sha256}}},
                      {"stages", array_json(manifest.stages, stage_json)},
                      {"pages", array_json(manifest.pages, page_json)},
                      {"artifacts", array_json(manifest.artifacts, artifact_json)},
                      {"pictures", pictures_json(manifest.pictures)},
                      {"findings", array_json(manifest.findings, finding_json)}};
}

std::string manifest_json(const Manifest& manifest) {
  return canonical_json(manifest_to_json(manifest));
}

Result<Manifest> manifest_from_json(const json::Value& value, const ManifestLimits& limits) {
  MR_TRY(const auto fields, Fields::of(value, ""));
  MR_TRY(auto manifest, Reader(limits).manifest(fields));
  MR_TRY_VOID(check_manifest(manifest, limits));
  return manifest;
}

Result<Manifest> parse_manifest(std::string_view text, const ManifestLimits& limits) {
  MR_TRY(const auto value, parse_json(text, {.max_bytes = limits.bytes_max}));
  return manifest_from_json(value, limits);
}

}  // namespace millrace::output
