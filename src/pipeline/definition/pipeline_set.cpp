#include "pipeline/definition/pipeline_set.h"

#include "base/assert.h"
#include "base/file.h"
#include "embedded/pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace millrace::pipeline {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> toml_files(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    const auto& path = entry->path();
    const bool hidden = path.filename().string().starts_with('.');
    if (hidden || path.extension() != ".toml") continue;
    files.push_back(path);
    if (files.size() > PipelineSet::kFilesMax) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} has more than {} pipeline files", folder.string(),
                              PipelineSet::kFilesMax));
    }
  }
  if (code) {
    const bool missing = code == std::errc::no_such_file_or_directory;
    return fail(
        missing ? ErrorKind::not_found : ErrorKind::unavailable,
        fmt::format("cannot read the pipelines of {}: {}", folder.string(), code.message()));
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string_view built_in_text(std::string_view file) {
  for (const auto& embedded : embedded::pipelines()) {
    if (embedded.name == file) return embedded.text;
  }
  return {};
}

Result<PipelineSet::Loaded> PipelineSet::load(const std::optional<fs::path>& folder,
                                              const Known& known) {
  Loaded loaded;
  for (const auto& embedded : embedded::pipelines()) {
    auto checked = parse_pipeline(embedded.text, known);
    for (const auto& warning : checked.warnings) {
      loaded.warnings.push_back(warning.text(fmt::format("built-in {}", embedded.name)));
    }
    MR_ASSERT(checked.pipeline.has_value());  // A test reads them all.
    const auto wrong = loaded.set.add({.pipeline = std::move(*checked.pipeline),
                                       .file = fmt::format("built-in {}", embedded.name),
                                       .built_in = true});
    MR_ASSERT(!wrong.has_value());
  }
  if (!folder) return loaded;
  MR_TRY(const auto files, toml_files(*folder));
  for (const auto& path : files) {
    const auto file = path.string();
    ++loaded.files;
    const auto text = read_file(path, kPipelineFileMaxBytes);
    if (!text) {
      loaded.problems.push_back(fmt::format("{}: {}", file, text.error().message));
      continue;
    }
    auto checked = parse_pipeline(*text, known);
    for (const auto& problem : checked.problems) loaded.problems.push_back(problem.text(file));
    for (const auto& warning : checked.warnings) loaded.warnings.push_back(warning.text(file));
    if (!checked.pipeline) continue;
    auto wrong = loaded.set.add({.pipeline = std::move(*checked.pipeline), .file = file});
    if (wrong) loaded.problems.push_back(std::move(*wrong));
  }
  return loaded;
}

std::optional<std::string> PipelineSet::add(LoadedPipeline loaded) {
  const auto& added = loaded.pipeline;
  for (auto& other : pipelines_) {
    if (other.pipeline.name != added.name || other.pipeline.version != added.version) continue;
    if (other.pipeline.hash != added.hash) {
      return fmt::format("{}: {} {} is another than that of {}; a change needs a new version",
                         loaded.file, added.name, added.version, other.file);
    }
    if (!other.built_in) {
      return fmt::format("{}: {} {} is defined by {} too", loaded.file, added.name, added.version,
                         other.file);
    }
    other = std::move(loaded);  // The same, but a person put it there.
    return std::nullopt;
  }
  pipelines_.push_back(std::move(loaded));
  std::ranges::sort(pipelines_, [](const LoadedPipeline& a, const LoadedPipeline& b) {
    if (a.pipeline.name != b.pipeline.name) return a.pipeline.name < b.pipeline.name;
    if (a.built_in != b.built_in) return b.built_in;
    return compare_versions(a.pipeline.version, b.pipeline.version) > 0;
  });
  return std::nullopt;
}

void PipelineSet::pin_models(const ModelOf& model_of) {
  for (auto& loaded : pipelines_) {
    for (auto& stage : loaded.pipeline.stages) {
      const bool asks = stage.kind == RunKind::detect || stage.kind == RunKind::extract ||
                        stage.kind == RunKind::narrate;
      if (!asks || stage.provider == kLocalProvider || stage.provider == kNoProvider) continue;
      if (stage.options.contains("model")) continue;
      if (auto model = model_of(stage); !model.empty()) stage.options["model"] = std::move(model);
    }
    loaded.pipeline.hash = pipeline_hash(loaded.pipeline);
  }
}

const Pipeline* PipelineSet::find(std::string_view name) const {
  for (const auto& loaded : pipelines_) {
    if (loaded.pipeline.name == name) return &loaded.pipeline;
  }
  return nullptr;
}

const Pipeline* PipelineSet::find(std::string_view name, std::string_view version) const {
  for (const auto& loaded : pipelines_) {
    if (loaded.pipeline.name == name && loaded.pipeline.version == version) {
      return &loaded.pipeline;
    }
  }
  return nullptr;
}

std::vector<const LoadedPipeline*> PipelineSet::versions(std::string_view name) const {
  std::vector<const LoadedPipeline*> out;
  for (const auto& loaded : pipelines_) {
    if (loaded.pipeline.name == name) out.push_back(&loaded);
  }
  return out;
}

std::vector<std::string> PipelineSet::names() const {
  std::vector<std::string> out;
  for (const auto& loaded : pipelines_) {
    if (out.empty() || out.back() != loaded.pipeline.name) out.push_back(loaded.pipeline.name);
  }
  return out;
}

}  // namespace millrace::pipeline
