#include "output/manifest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace millrace::output {
namespace {

std::unexpected<Error> wrong(std::string_view path, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("{} {}", path, rule));
}

constexpr std::string_view kDigestRule = "must be a SHA-256 in small hexadecimal";

Result<void> check_digest(const std::optional<std::string>& digest, const std::string& path) {
  if (digest && !is_sha256(*digest)) return wrong(path, kDigestRule);
  return ok();
}

template <class Items, class Name>
Result<void> check_names(const Items& items, std::string_view list, std::string_view field,
                         Name name) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& text = std::invoke(name, items[i]);
    const auto path = fmt::format("{}[{}].{}", list, i, field);
    if (text.empty()) return wrong(path, "must not be empty");
    if (!seen.insert(text).second) return wrong(path, "is there twice");
  }
  return ok();
}

Result<void> check_stage(const ManifestStage& stage, std::size_t index) {
  const auto path = fmt::format("stages[{}]", index);
  MR_TRY_VOID(check_digest(stage.prompt_sha256, path + ".prompt_sha256"));
  MR_TRY_VOID(check_digest(stage.input_sha256, path + ".input_sha256"));
  MR_TRY_VOID(check_digest(stage.output_sha256, path + ".output_sha256"));
  if (stage.started_at && stage.ended_at && *stage.ended_at < *stage.started_at) {
    return wrong(path + ".ended_at", "must not be before started_at");
  }
  return ok();
}

Result<void> check_page(const Manifest& manifest, std::size_t index) {
  const auto& page = manifest.pages[index];
  const auto path = fmt::format("pages[{}]", index);
  const auto before = index == 0 ? 0 : manifest.pages[index - 1].page;
  if (page.page <= before) return wrong(path + ".page", "must be after the page before it");
  MR_TRY_VOID(check_digest(page.content_sha256, path + ".content_sha256"));
  if (page.confidence && !(*page.confidence >= 0 && *page.confidence <= 1)) {
    return wrong(path + ".confidence", "must be between 0 and 1");
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < page.results.size(); ++i) {
    const auto& result = page.results[i];
    const auto at = fmt::format("{}.results[{}]", path, i);
    const auto stage = std::ranges::find(manifest.stages, result.stage, &ManifestStage::name);
    if (stage == manifest.stages.end()) return wrong(at + ".stage", "is none of the stages");
    if (!seen.insert(result.stage).second) return wrong(at + ".stage", "is there twice");
    MR_TRY_VOID(check_digest(result.sha256, at + ".sha256"));
    MR_TRY_VOID(check_digest(result.input_sha256, at + ".input_sha256"));
  }
  return ok();
}

Result<void> check_pictures(const Manifest& manifest) {
  if (!manifest.pictures) return ok();
  for (std::size_t i = 0; i < manifest.pictures->stages.size(); ++i) {
    const auto& name = manifest.pictures->stages[i];
    if (std::ranges::find(manifest.stages, name, &ManifestStage::name) == manifest.stages.end()) {
      return wrong(fmt::format("pictures.stages[{}]", i), "is none of the stages");
    }
  }
  return ok();
}

template <class Items>
Result<void> check_count(const Items& items, std::string_view list, std::size_t max) {
  if (items.size() > max) return wrong(list, fmt::format("must be at most {}", max));
  return ok();
}

// Contents by name against a list of the manifest.
template <class Items, class Name>
void compare(std::vector<std::string>& out, std::string_view list, const Items& items, Name name,
             const std::map<std::string, ContentDigest, std::less<>>& contents) {
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& text = std::invoke(name, items[i]);
    known.insert(text);
    const auto content = contents.find(text);
    if (content == contents.end()) {
      out.push_back(fmt::format("{}[{}] has no content", list, i));
      continue;
    }
    if (content->second.sha256 != items[i].sha256) {
      out.push_back(fmt::format("{}[{}].sha256 differs from the content", list, i));
    }
    if (content->second.size_bytes != items[i].size_bytes) {
      out.push_back(fmt::format("{}[{}].size_bytes differs from the content", list, i));
    }
  }
  const auto unknown = std::ranges::count_if(
      contents, [&](const auto& content) { return !known.contains(content.first); });
  if (unknown > 0) out.push_back(fmt::format("{} lacks {} of the contents", list, unknown));
}

void compare_results(std::vector<std::string>& out, const Manifest& manifest,
                     const RecomputedDigests& digests) {
  if (digests.results.empty()) return;
  std::size_t found = 0;
  for (std::size_t i = 0; i < manifest.pages.size(); ++i) {
    const auto& page = manifest.pages[i];
    for (std::size_t k = 0; k < page.results.size(); ++k) {
      const auto content = digests.results.find({page.page, page.results[k].stage});
      if (content == digests.results.end()) {
        out.push_back(fmt::format("pages[{}].results[{}] has no content", i, k));
        continue;
      }
      ++found;
      if (content->second != page.results[k].sha256) {
        out.push_back(fmt::format("pages[{}].results[{}].sha256 differs from the content", i, k));
      }
    }
  }
  if (found < digests.results.size()) {
    out.push_back(fmt::format("pages lacks {} of the results", digests.results.size() - found));
  }
}

}  // namespace

std::string_view to_string(PageSource source) {
  switch (source) {
    case PageSource::none:
      return "none";
    case PageSource::text:
      return "text";
    case PageSource::ocr:
      return "ocr";
  }
  return "none";
}

Result<void> check_manifest(const Manifest& manifest, const ManifestLimits& limits) {
  MR_TRY_VOID(check_count(manifest.inputs, "inputs", limits.inputs_max));
  MR_TRY_VOID(check_count(manifest.stages, "stages", limits.stages_max));
  MR_TRY_VOID(check_count(manifest.pages, "pages", limits.pages_max));
  MR_TRY_VOID(check_count(manifest.artifacts, "artifacts", limits.artifacts_max));
  MR_TRY_VOID(check_count(manifest.findings, "findings", limits.findings_max));
  if (manifest.document_id.empty()) return wrong("document_id", "must not be empty");
  if (manifest.inputs.empty()) return wrong("inputs", "must have one at least");
  MR_TRY_VOID(check_names(manifest.inputs, "inputs", "file_name", &SourceFile::file_name));
  MR_TRY_VOID(check_names(manifest.stages, "stages", "name", &ManifestStage::name));
  MR_TRY_VOID(check_names(manifest.artifacts, "artifacts", "name", &ManifestArtifact::name));
  MR_TRY_VOID(check_digest(manifest.pipeline.sha256, "pipeline.sha256"));
  if (manifest.created_at < manifest.started_at) {
    return wrong("created_at", "must not be before started_at");
  }
  MR_TRY_VOID(check_pictures(manifest));
  for (std::size_t i = 0; i < manifest.inputs.size(); ++i) {
    MR_TRY_VOID(check_digest(manifest.inputs[i].sha256, fmt::format("inputs[{}].sha256", i)));
  }
  for (std::size_t i = 0; i < manifest.stages.size(); ++i) {
    MR_TRY_VOID(check_stage(manifest.stages[i], i));
  }
  for (std::size_t i = 0; i < manifest.pages.size(); ++i) MR_TRY_VOID(check_page(manifest, i));
  for (std::size_t i = 0; i < manifest.artifacts.size(); ++i) {
    MR_TRY_VOID(check_digest(manifest.artifacts[i].sha256, fmt::format("artifacts[{}].sha256", i)));
  }
  return ok();
}

std::vector<std::string> manifest_differences(const Manifest& manifest,
                                              const RecomputedDigests& digests) {
  std::vector<std::string> out;
  compare(out, "inputs", manifest.inputs, &SourceFile::file_name, digests.inputs);
  compare(out, "artifacts", manifest.artifacts, &ManifestArtifact::name, digests.artifacts);
  compare_results(out, manifest, digests);
  return out;
}

Result<void> verify_manifest(const Manifest& manifest, const RecomputedDigests& digests) {
  MR_TRY_VOID(check_manifest(manifest));
  const auto differences = manifest_differences(manifest, digests);
  if (differences.empty()) return ok();
  const auto more = differences.size() - 1;
  return fail(ErrorKind::conflict,
              more == 0 ? differences[0] : fmt::format("{} (and {} more)", differences[0], more));
}

}  // namespace millrace::output
