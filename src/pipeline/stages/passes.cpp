// Passes 1 and 2, page by page: what is mentioned, and what is said of it. By rules (`local`) or by
// a model; both are held to the same checks before anything is kept.
#include "blob/disk.h"
#include "extract/extract.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/grounding.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/routing.h"
#include "layout/clinical/validation.h"
#include "layout/page_json.h"
#include "pipeline/model_pass.h"
#include "pipeline/pass_facts.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

namespace clinical = layout::clinical;

// A line of it is larger than a request may be, or there would be too many.
constexpr std::string_view kPageTooLarge = "page_too_large";

Task<layout::SpatialMap> page_map(StageJob& job, const store::StageResult& result) {
  MR_CO_TRY(auto page, co_await steadily(*job.context, [&] {
              return load_page(job.services, result, kKeptPage);
            }));
  layout::SpatialMap map;
  map.pages.push_back(std::move(page));
  co_return map;
}

// What the page before leaves open: a list of medications goes on at the top of the next page.
Task<extract::Context> context_before(StageJob& job) {
  const auto* spatial = stage_doing(*job.pipeline, RunKind::spatial);
  const auto found =
      spatial == nullptr ? job.work.previous.end() : job.work.previous.find(spatial->name);
  if (found == job.work.previous.end()) co_return extract::Context();
  MR_CO_TRY(const auto map, co_await page_map(job, found->second));
  co_return co_await blob::on_disk(job.services.threads, [&map] {
    return Result<extract::Context>(extract::context_after(extract::detect(map)));
  });
}

// Rules and counts, never the text: what a model invented must leave a trace.
void note_findings(json::Object& meta, std::span<const clinical::Finding> findings) {
  json::Object counts;
  for (const auto& [rule, count] : clinical::count_rules(findings)) {
    counts[clinical::to_string(rule)] = static_cast<std::int64_t>(count);
  }
  if (!counts.empty()) meta["findings"] = std::move(counts);
}

std::uint64_t bytes_before(const StageJob& job) {
  const auto* spatial = stage_doing(*job.pipeline, RunKind::spatial);
  const auto found =
      spatial == nullptr ? job.work.previous.end() : job.work.previous.find(spatial->name);
  return found == job.work.previous.end()
             ? 0
             : static_cast<std::uint64_t>(found->second.content.size_bytes);
}

struct Detected {
  clinical::Detection detection;
  json::Object meta;
};

awaitable<std::expected<Detected, Outcome>> detect_by_model(StageJob& job,
                                                            const ModelService& service,
                                                            const layout::SpatialMap& map) {
  std::vector<clinical::Detection> parts;
  std::vector<clinical::Finding> findings;
  const auto make = [&map](const clinical::PromptOptions& options) {
    return clinical::detect_requests(map, options);
  };
  const auto begin = [&] {
    parts.clear();
    findings.clear();
  };
  const auto take = [&](const json::Value& value) -> Result<void> {
    MR_TRY(auto part, clinical::detection_from_json(value, clinical::Form::answer, map));
    // What is not on the page is dropped there; the rest gets its place, and what is doubtful about
    // it goes with it to the facts.
    auto grounded = clinical::ground(std::move(part), map);
    parts.push_back(std::move(grounded.detection));
    std::ranges::move(grounded.findings, std::back_inserter(findings));
    return {};
  };
  auto answers = co_await ask_model(
      job, service, {.make = make, .cannot_be_made = kPageTooLarge, .begin = begin, .take = take});
  if (!answers) co_return std::unexpected(std::move(answers).error().outcome);
  Detected detected{.detection = clinical::merge_detections(std::move(parts))};
  note_answers(detected.meta, asked_name(job, service), *answers);
  note_findings(detected.meta, findings);
  co_return detected;
}

Task<PageAnswer> made_of(StageJob& job, const layout::SpatialMap& map, Detected detected) {
  if (clinical::has_rejections(clinical::validate_detection(detected.detection, map))) {
    co_return Outcome::permanent("invalid_result", "entities are not in the text of the page");
  }
  auto bytes = co_await blob::on_disk(job.services.threads, [&] {
    return canonical_json(clinical::detection_to_json(detected.detection, map));
  });
  auto& meta = detected.meta;
  meta["entities"] = static_cast<std::int64_t>(detected.detection.entities.size());
  meta["language"] = detected.detection.language;
  meta["document_type"] = detected.detection.document_type.value;
  meta["document_type_conf"] = detected.detection.document_type.conf;
  co_return PageMade{.bytes = std::move(bytes), .meta = std::move(meta)};
}

struct Extracted {
  clinical::Extraction extraction;
  json::Object meta;
};

awaitable<std::expected<Extracted, Outcome>> extract_by_model(
    StageJob& job, const ModelService& service, const layout::SpatialMap& map,
    const clinical::Detection& detection) {
  Extracted extracted;
  std::vector<clinical::Extraction> parts;
  const auto make = [&](const clinical::PromptOptions& options) {
    return clinical::extract_requests(map, detection, options);
  };
  const auto take = [&parts](const json::Value& value) -> Result<void> {
    MR_TRY(auto part, clinical::extraction_from_json(value, clinical::Form::answer));
    parts.push_back(std::move(part));
    return {};
  };
  auto answers = co_await ask_model(job, service,
                                    {.make = make,
                                     .cannot_be_made = kPageTooLarge,
                                     .begin = [&parts] { parts.clear(); },
                                     .take = take});
  if (!answers) co_return std::unexpected(std::move(answers).error().outcome);
  extracted.extraction = clinical::merge_extractions(std::move(parts));
  note_answers(extracted.meta, asked_name(job, service), *answers);
  co_return extracted;
}

// Nothing is told of a later year. Results are taken over by pages that are equal, and those are as
// old.
int year_taken_in(const StageJob& job) {
  int year = 0;
  const std::string_view text = job.work.file.created_at;
  std::from_chars(text.data(), text.data() + std::min<std::size_t>(text.size(), 4), year);
  return year;
}

clinical::RoutingRules rules_of(const StageJob& job) {
  clinical::RoutingRules rules;
  rules.accept_min = job.number("accept_min", rules.accept_min);
  rules.accept_min_critical = job.number("accept_min_critical", rules.accept_min_critical);
  rules.review_min = job.number("review_min", rules.review_min);
  return rules;
}

Task<PageAnswer> made_of(StageJob& job, const layout::SpatialMap& map,
                         const clinical::Detection& detection, Extracted extracted) {
  const auto rules = rules_of(job);
  const auto year = year_taken_in(job);
  auto made = co_await blob::on_disk(job.services.threads, [&] {
    clinical::normalise_units(extracted.extraction);
    auto findings = clinical::validate_extraction(extracted.extraction, detection, map);
    auto kept = clinical::without_rejected(std::move(extracted.extraction), findings);
    auto again = clinical::validate_extraction(kept, detection, map);
    const auto dates = extract::check_dates(kept, detection, map, year);
    findings.insert(findings.end(), dates.begin(), dates.end());
    again.insert(again.end(), dates.begin(), dates.end());
    const auto routed = clinical::route_facts(kept, detection, map, again, rules);
    extracted.meta["rejected"] = static_cast<std::int64_t>(
        std::ranges::count(findings, clinical::Severity::reject, &clinical::Finding::severity));
    note_findings(extracted.meta, findings);
    return page_facts(kept, detection, map, routed);
  });
  auto& meta = extracted.meta;
  meta["facts"] = static_cast<std::int64_t>(made.rows.size());
  co_return PageMade{
      .bytes = std::move(made.stored), .meta = std::move(meta), .facts = std::move(made.rows)};
}

// What detection without the page before makes of the page that was done last: the next one asks
// for it again.
struct Before {
  int page = 0;
  clinical::Detection detection = {};
};

Task<PageAnswer> detect_by_rules(StageJob& job, const layout::SpatialMap& map, Before* before) {
  extract::Context context;
  if (before != nullptr && before->page > 0 && before->page == job.page() - 1) {
    context = extract::context_after(before->detection);
  } else {
    MR_CO_TRY(context, co_await context_before(job));
  }
  Detected detected;
  detected.meta["provider"] = extract::kProvider;
  detected.meta["model"] = extract::kModel;
  detected.detection = co_await blob::on_disk(job.services.threads, [&] {
    if (before == nullptr) return extract::detect(map, context);
    *before = {.page = job.page(), .detection = extract::detect(map)};
    const bool same =
        context.open_section.empty() && context.language == before->detection.language;
    return same ? before->detection : extract::detect(map, context);
  });
  co_return co_await made_of(job, map, std::move(detected));
}

Task<PageAnswer> make_detection(StageJob& job, Before* before) {
  MR_CO_TRY(const auto* spatial, result_of(job, RunKind::spatial));
  MR_CO_TRY(const auto map, co_await page_map(job, *spatial));
  const auto service = model_of(job);
  if (!service) co_return service.error();
  if (*service == nullptr) co_return co_await detect_by_rules(job, map, before);
  auto detected = co_await detect_by_model(job, **service, map);
  if (!detected) co_return std::move(detected).error();
  co_return co_await made_of(job, map, *std::move(detected));
}

Task<clinical::Detection> kept_detection(StageJob& job, const store::StageResult& entities,
                                         const layout::SpatialMap& map) {
  MR_CO_TRY(const auto text, co_await steadily(*job.context, [&] {
              return read_content(job.services.blobs, entities.content, kPassBytesMax);
            }));
  MR_CO_TRY(const auto value, parse_json(text, {.max_bytes = kPassBytesMax, .max_depth = 32}));
  co_return clinical::detection_from_json(value, clinical::Form::stored, map);
}

Task<PageAnswer> make_extraction(StageJob& job) {
  MR_CO_TRY(const auto* spatial, result_of(job, RunKind::spatial));
  MR_CO_TRY(const auto* entities, result_of(job, RunKind::detect));
  MR_CO_TRY(const auto map, co_await page_map(job, *spatial));
  MR_CO_TRY(const auto detection, co_await kept_detection(job, *entities, map));
  const auto service = model_of(job);
  if (!service) co_return service.error();
  Extracted extracted;
  if (*service != nullptr) {
    auto asked = co_await extract_by_model(job, **service, map, detection);
    if (!asked) co_return std::move(asked).error();
    extracted = *std::move(asked);
  } else {
    extracted.extraction = co_await blob::on_disk(job.services.threads, [&] {
      return extract::extract(detection, map, {}, year_taken_in(job));
    });
    extracted.meta["provider"] = extract::kProvider;
    extracted.meta["model"] = extract::kModel;
  }
  co_return co_await made_of(job, map, detection, std::move(extracted));
}

Task<Outcome> keep(StageJob& job, PageAnswer answer) {
  if (auto* outcome = std::get_if<Outcome>(&answer)) co_return std::move(*outcome);
  co_return co_await keep_page(job, std::get<PageMade>(std::move(answer)));
}

void add(GroupMade& group, const store::DocumentWork::GroupPage& page, PageAnswer answer) {
  if (auto* made = std::get_if<PageMade>(&answer)) {
    group.done.push_back({.page = &page, .made = std::move(*made)});
  } else {
    group.left.push_back(page.page.page);
  }
}

}  // namespace

// The page, or the one before it, as text and as a map; what is found on it, as a tree and as
// bytes.
Task<Outcome> run_detect(StageJob job) {
  MR_CO_TRY(const auto share,
            co_await take_memory(
                job, 4 * std::max(result_bytes(job, RunKind::spatial), bytes_before(job))));
  MR_CO_TRY(auto answer, co_await make_detection(job, nullptr));
  co_return co_await keep(job, std::move(answer));
}

// A tree takes about ten times the room of its text.
Task<Outcome> run_extract(StageJob job) {
  MR_CO_TRY(const auto share,
            co_await take_memory(job, 3 * result_bytes(job, RunKind::spatial) +
                                          10 * result_bytes(job, RunKind::detect)));
  MR_CO_TRY(auto answer, co_await make_extraction(job));
  co_return co_await keep(job, std::move(answer));
}

Task<GroupMade> detect_group(StageJob& job) {
  GroupMade group;
  Before before;
  for (const auto& page : job.work.group) {
    auto one = job_of_page(job, page);
    MR_CO_TRY(auto answer, co_await make_detection(one, &before));
    add(group, page, std::move(answer));
  }
  co_return group;
}

Task<GroupMade> extract_group(StageJob& job) {
  GroupMade group;
  for (const auto& page : job.work.group) {
    auto one = job_of_page(job, page);
    MR_CO_TRY(auto answer, co_await make_extraction(one));
    add(group, page, std::move(answer));
  }
  co_return group;
}

}  // namespace millrace::pipeline
