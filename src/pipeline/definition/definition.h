// Pipeline: what is done with a document, stage by stage, as plain values.
//
// Flow: made by parse_pipeline from a file (or pipeline_from_json from the database, where the
// definition a document began with is kept), never changed afterwards, read by whoever starts jobs.
// A pipeline that a reader returned is whole: names are unique, `after` names stages of it, there
// is no cycle, and stages stand in an order in which each comes after what it waits for.
//
// Threading: immutable values, shared freely.
#pragma once

#include "base/json.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

// What does the work of a stage. The last two are their author's, the others are built in.
enum class RunKind {
  scan,
  ocr,
  spatial,
  detect,
  extract,
  narrate,
  parse,
  validate,
  chunk,
  embed,
  publish,
  render,
  exec,
  http
};

std::string_view to_string(RunKind kind);

// What a pipeline begins with: a file that somebody sends, or an export that somebody orders.
enum class Takes { file, order };

std::string_view to_string(Takes takes);

// One job for the document, or one for each of its pages.
enum class Each { document, page };

std::string_view to_string(Each each);

// What the failure of one page means to the document: the others go on, or it fails.
enum class OnPageFailure { go_on, fail };

std::string_view to_string(OnPageFailure choice);  // "continue", "fail"

// Nothing: whoever runs the stage has a limit of its own.
struct StageLimits {
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::chrono::milliseconds> cpu = {};
  std::optional<std::chrono::milliseconds> wall = {};
  std::optional<std::uint64_t> output_bytes = {};
  std::optional<std::uint64_t> file_bytes = {};  // Of one file that is written.
  std::optional<std::int64_t> files = {};        // Open at once.
  std::optional<std::int64_t> processes = {};

  friend bool operator==(const StageLimits&, const StageLimits&) = default;
};

inline constexpr std::string_view kNoProvider = "none";
inline constexpr std::string_view kLocalProvider = "local";

struct Stage {
  std::string name;   // The job type.
  std::string title;  // For people.
  RunKind kind = RunKind::scan;
  std::string run;  // As written: "scan", "exec:./label.py --fast", "https://...".
  std::string queue;
  Each each = Each::document;
  std::vector<std::string> after = {};  // Sorted as in the file; only the first stage has none.
  std::string provider = std::string(kNoProvider);
  std::chrono::milliseconds timeout{};                         // Of one job.
  std::optional<std::chrono::milliseconds> call_timeout = {};  // Of one call to the provider.
  std::optional<std::int64_t> max_attempts = {};               // Nothing: the queue's.
  OnPageFailure on_page_failure = OnPageFailure::go_on;
  StageLimits limits = {};
  std::vector<std::string> required = {};  // What it reads of earlier stages: "words", "map".
  std::vector<std::string> outputs = {};   // What it makes.
  std::int64_t revision = 1;  // Raised by an author when results of before must not be used again.
  json::Object options = {};  // In canonical form; for built-in stages of known names and types.

  friend bool operator==(const Stage&, const Stage&) = default;
};

// The policy a queue gets when it does not exist yet; names are those of [[queue]] in
// millrace.toml, times are texts such as "300s".
struct QueuePolicy {
  std::string name;
  json::Object policy = {};

  friend bool operator==(const QueuePolicy&, const QueuePolicy&) = default;
};

struct Pipeline {
  std::string name;
  std::string version;  // "1.4.0"
  std::string description;
  Takes takes = Takes::file;
  std::vector<QueuePolicy> queues = {};
  std::vector<Stage> stages = {};  // Each behind all it waits for; the first is where it begins.
  std::string hash;                // SHA-256 of the canonical form, 64 hexadecimal digits.

  const Stage* find(std::string_view stage) const;  // Null: there is none.
  // Stages that wait for this one, in order.
  std::vector<const Stage*> followers(std::string_view stage) const;
  // Everything that comes before it, at any distance, in order.
  std::vector<const Stage*> ancestors(std::string_view stage) const;
  // The stage before it that makes this; null: none does.
  const Stage* maker(std::string_view stage, std::string_view output) const;

  friend bool operator==(const Pipeline&, const Pipeline&) = default;
};

// Changes if, and only if, the stage would make something else of the same input: what runs, with
// which provider and options. A new timeout does not. 64 hexadecimal digits.
std::string result_fingerprint(const Stage& stage);

// -1, 0, 1 by the numbers; "1.0.0-rc.1" comes before "1.0.0". Both must be well formed.
int compare_versions(std::string_view a, std::string_view b);
bool is_version(std::string_view text);

}  // namespace millrace::pipeline
