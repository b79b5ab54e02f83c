// manifest/1: how the results of a document came to be, so that an auditor can compute them again.
//
// Written when a run has ended, as canonical JSON, from what the database has of it: written again
// for the same run it has the same bytes, and their digest can be signed or kept elsewhere. Every
// content is named by its SHA-256 in small hexadecimal. Nothing of the content itself is in it;
// findings name places and rules.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "output/document_info.h"
#include "output/instant.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::output {

inline constexpr std::string_view kManifestSchema = "manifest/1";

struct ManifestPipeline {
  std::string name = {};
  std::string version = {};
  std::string sha256 = {};  // Of the pipeline file as it was used.
  friend bool operator==(const ManifestPipeline&, const ManifestPipeline&) = default;
};

// One stage over the whole document. Of a stage that works page by page the sums; digests of single
// pages are with the pages.
struct ManifestStage {
  std::string name = {};                          // "ai_queue_pass2"
  std::string engine = {};                        // "tesseract@5.3", "local@1"
  std::string provider = {};                      // Empty when nobody outside was asked.
  std::string model = {};                         // As the provider names it, with its version.
  std::string schema = {};                        // Of the result: "clinical.extract/1"
  std::optional<std::string> prompt_sha256 = {};  // Of the instructions.
  std::optional<std::string> input_sha256 = {};   // Of all it read.
  std::optional<std::string> output_sha256 = {};
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::uint64_t cost_micros = 0;  // Millionths of the currency.
  std::string currency = "USD";
  std::uint32_t pages_done = 0;
  std::uint32_t pages_reused = 0;  // Taken over from an earlier run.
  std::uint32_t pages_failed = 0;
  // From when its first job was made to its last result, those of earlier runs that stand included.
  std::optional<Instant> started_at = {};
  std::optional<Instant> ended_at = {};
  friend bool operator==(const ManifestStage&, const ManifestStage&) = default;
};

struct ManifestResult {
  std::string stage = {};
  std::string sha256 = {};
  std::optional<std::string> input_sha256 = {};
  friend bool operator==(const ManifestResult&, const ManifestResult&) = default;
};

enum class PageSource {
  none,  // It could not be read.
  text,  // The file's own text layer.
  ocr,
};

std::string_view to_string(PageSource source);

struct ManifestPage {
  std::uint32_t page = 0;
  std::string content_sha256 = {};  // Of what the page shows.
  PageSource source = PageSource::none;
  std::string engine = {};
  std::optional<double> confidence = {};  // 0 to 1; nothing when the engine does not say.
  std::vector<ManifestResult> results = {};
  friend bool operator==(const ManifestPage&, const ManifestPage&) = default;
};

struct ManifestArtifact {
  std::string name = {};  // "facts.json"
  std::string kind = {};  // "facts"
  std::string mime = {};
  std::string sha256 = {};
  std::uint64_t size_bytes = 0;
  friend bool operator==(const ManifestArtifact&, const ManifestArtifact&) = default;
};

// Pictures of pages with what was found drawn in are made when somebody asks for one, and so they
// are none of the artifacts. This is how: the same inputs give the same picture.
struct ManifestPictures {
  std::string name = {};  // "page-{page}.png"
  std::string mime = {};
  std::string generator = {};  // That draws them: "millrace@0.1.0"
  std::uint32_t width_px_max = 0;
  // Of the file, and by page of the results of these stages: their digests stand with each page.
  std::vector<std::string> stages = {};
  friend bool operator==(const ManifestPictures&, const ManifestPictures&) = default;
};

struct ManifestFinding {
  std::string stage = {};
  std::string severity = {};  // "review", "reject", "flag", "refuse"
  std::string rule = {};
  std::string path = {};   // "facts[3].value.dose", or empty.
  std::uint32_t page = 0;  // 0: of the document.
  friend bool operator==(const ManifestFinding&, const ManifestFinding&) = default;
};

struct Manifest {
  std::string document_id = {};
  std::string generator = {};  // "millrace@0.1.0"
  std::uint32_t run = 1;       // Of the document: counts the times it was begun.
  Instant started_at = {};     // When the file was taken in.
  Instant created_at = {};     // When the last stage of this run had its result.
  std::string state = {};      // The document's: "completed", "partial", "failed", "rejected".
  std::vector<SourceFile> inputs = {};
  ManifestPipeline pipeline = {};
  std::vector<ManifestStage> stages = {};         // In the order they ran.
  std::vector<ManifestPage> pages = {};           // By number.
  std::vector<ManifestArtifact> artifacts = {};   // By name.
  std::optional<ManifestPictures> pictures = {};  // Nothing where no page was read.
  std::vector<ManifestFinding> findings = {};
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

struct ManifestLimits {
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;
  std::size_t inputs_max = 1'000;
  std::size_t stages_max = 100;
  std::uint32_t pages_max = 5'000;
  std::size_t artifacts_max = 20'000;  // Images of pages are artifacts.
  std::size_t findings_max = 100'000;
  std::size_t text_bytes_max = 1'024;
};

json::Value manifest_to_json(const Manifest& manifest);
std::string manifest_json(const Manifest& manifest);  // Canonical: the bytes to keep and to hash.

// invalid_argument with the place and the rule: "pages[3].content_sha256 must be …".
Result<Manifest> manifest_from_json(const json::Value& value, const ManifestLimits& limits = {});
Result<Manifest> parse_manifest(std::string_view text, const ManifestLimits& limits = {});

// Whether it fits together: names once, pages in order, results of stages that are there, times in
// order, digests that are digests. The readers call it.
Result<void> check_manifest(const Manifest& manifest, const ManifestLimits& limits = {});

struct ContentDigest {
  std::string sha256 = {};
  std::uint64_t size_bytes = 0;
};

// What somebody has computed of the contents that lie before them.
struct RecomputedDigests {
  std::map<std::string, ContentDigest, std::less<>> inputs = {};     // By file name.
  std::map<std::string, ContentDigest, std::less<>> artifacts = {};  // By name.
  // By page and stage; empty when they were not computed, else all of them.
  std::map<std::pair<std::uint32_t, std::string>, std::string> results = {};
};

// Every place where manifest and contents differ, "artifacts[2].sha256 differs from the content",
// and contents that the manifest does not know.
std::vector<std::string> manifest_differences(const Manifest& manifest,
                                              const RecomputedDigests& digests);
// conflict with the first of them, invalid_argument for a manifest that does not fit together.
Result<void> verify_manifest(const Manifest& manifest, const RecomputedDigests& digests);

}  // namespace millrace::output
