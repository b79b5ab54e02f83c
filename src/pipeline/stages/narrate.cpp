// Pass 3: the facts of all pages become one, and are told.
//
// Pages come one after the other; of their entities only those stay that a fact rests on. Facts
// that say the same on several pages are one fact with more evidence.
#include "blob/disk.h"
#include "extract/extract.h"
#include "layout/clinical/merge.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/validation.h"
#include "pipeline/document_facts.h"
#include "pipeline/fact_limit.h"
#include "pipeline/model_pass.h"
#include "pipeline/pass_facts.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::pipeline {
namespace {

namespace clinical = layout::clinical;

constexpr int kWindow = 200;  // Pages.
// What the facts of a page take in memory, in all of their forms, and those of the longest
// document.
constexpr std::uint64_t kFactsBytesPage = std::uint64_t{32} * 1024;
constexpr std::uint64_t kFactsBytesMax = std::uint64_t{40} * 1024 * 1024;

struct Gathered {
  std::vector<StoredFacts> pages;
  FactLimit limit{kDocumentFactsMax};
  std::map<std::string, double> types;  // Of the document, by confidence.
  std::map<std::string, int> languages;
};

std::string best(const std::map<std::string, double>& weights) {
  const auto found =
      std::ranges::max_element(weights, {}, [](const auto& one) { return one.second; });
  return found == weights.end() ? std::string("other") : found->first;
}

void note_page(Gathered& gathered, const json::Object& meta) {
  const auto text = [&meta](std::string_view name) {
    const auto* value = meta.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string())
                                                  : std::string();
  };
  const auto* conf = meta.if_contains("document_type_conf");
  if (const auto type = text("document_type"); !type.empty() && type != "other") {
    gathered.types[type] += conf != nullptr && conf->is_number() ? conf->to_number<double>() : 0.5;
  }
  if (const auto language = text("language"); !language.empty()) ++gathered.languages[language];
}

// Of a page that is not told: as many as its rows.
std::size_t facts_noted(const json::Object& meta) {
  const auto* facts = meta.if_contains("facts");
  return facts != nullptr && facts->is_int64() && facts->get_int64() > 0
             ? static_cast<std::size_t>(facts->get_int64())
             : 0;
}

Task<Gathered> gather(StageJob& job, const Stage& detect, const Stage& extract) {
  Gathered gathered;
  const auto page_count = job.work.document->page_count;
  for (int after = 0; after < page_count;) {
    MR_CO_TRY(const auto window, co_await steadily(*job.context, [&] {
                return job.services.store.page_results(job.work.file.id,
                                                       {detect.name, extract.name}, after, kWindow);
              }));
    for (const auto& one : window) {
      if (one.stage == detect.name) {
        note_page(gathered, one.result.meta);
        continue;
      }
      if (gathered.limit.full()) {
        gathered.limit.take(facts_noted(one.result.meta));
        continue;
      }
      MR_CO_TRY(const auto text, co_await steadily(*job.context, [&] {
                  return read_content(job.services.blobs, one.result.content, kPassBytesMax);
                }));
      MR_CO_TRY(auto facts, read_page_facts(text));
      if (!gathered.limit.take(facts.extraction.facts.size())) continue;
      if (facts.extraction.facts.empty()) continue;
      number_page(facts, static_cast<std::uint32_t>(one.page));
      gathered.pages.push_back(std::move(facts));
    }
    after = window.empty() ? after + kWindow : std::max(after + 1, window.back().page);
  }
  co_return gathered;
}

struct Told {
  clinical::Narrative narrative;
  json::Object meta;  // With `review`: there is no narrative, because of this answer.
  std::optional<std::int64_t> tokens_of_claim = {};  // Where `meta` does not say it.
};

awaitable<std::expected<Told, Outcome>> tell(StageJob& job, const DocumentFacts& facts,
                                             std::span<const clinical::Conflict> conflicts) {
  const auto service = model_of(job);
  if (!service) co_return std::unexpected(service.error());
  Told told;
  if (*service == nullptr) {
    told.narrative = co_await blob::on_disk(
        job.services.threads, [&] { return extract::narrate(facts.extraction, facts.routed); });
    told.meta["provider"] = extract::kProvider;
    told.meta["model"] = extract::kModel;
    co_return told;
  }
  std::vector<clinical::Narrative> parts;
  const auto make = [&](const clinical::PromptOptions& options) {
    return clinical::narrate_requests(facts.extraction, facts.routed, conflicts, options);
  };
  const auto take = [&parts](const json::Value& value) -> Result<void> {
    MR_TRY(auto part, clinical::narrative_from_json(value));
    parts.push_back(std::move(part));
    return {};
  };
  auto answers = co_await ask_model(job, **service,
                                    {.make = make,
                                     .cannot_be_made = "too_many_facts",
                                     .begin = [&parts] { parts.clear(); },
                                     .take = take});
  if (!answers && answers.error().review.empty()) {
    co_return std::unexpected(std::move(answers).error().outcome);
  }
  if (!answers) {
    // What was found on the pages is worth more than how it is told: the document goes on without
    // that, partial, and a person looks at what was answered, or why it was refused.
    auto& ended = answers.error();
    told.tokens_of_claim = ended.outcome.actual_tokens;
    told.meta["provider"] = asked_name(job, **service);
    told.meta["review"] = ended.review;
    co_return told;
  }
  told.narrative = clinical::merge_narratives(std::move(parts));
  note_answers(told.meta, asked_name(job, **service), *answers);
  co_return told;
}

}  // namespace

Task<Outcome> run_narrate(StageJob job) {
  const auto* detect = stage_doing(*job.pipeline, RunKind::detect);
  const auto* extract = stage_doing(*job.pipeline, RunKind::extract);
  if (detect == nullptr || extract == nullptr) {
    co_return Outcome::permanent("no_facts", "no stage of the pipeline finds facts");
  }
  const auto page_count = static_cast<std::uint64_t>(job.work.document->page_count);
  MR_CO_TRY(const auto share,
            co_await take_memory(job, std::min(kFactsBytesMax, page_count * kFactsBytesPage)));
  MR_CO_TRY(auto gathered, co_await gather(job, *detect, *extract));
  auto facts = co_await blob::on_disk(
      job.services.threads, [&gathered] { return join_pages(std::move(gathered.pages)); });
  facts.document_type = best(gathered.types);
  const auto language =
      std::ranges::max_element(gathered.languages, {}, [](const auto& one) { return one.second; });
  if (language != gathered.languages.end()) facts.language = language->first;
  const auto conflicts = clinical::find_conflicts(facts.extraction);
  auto told = co_await tell(job, facts, conflicts);
  if (!told) co_return std::move(told).error();
  const auto uncertain = clinical::facts_with(facts.routed, clinical::Route::review);
  auto narrative =
      clinical::complete_narrative(std::move(told->narrative), facts.routed, conflicts);
  const auto findings =
      clinical::validate_narrative(narrative, facts.extraction, narrative.uncertain);
  facts.narrative = clinical::without_rejected(std::move(narrative), findings);
  MR_CO_TRY(auto blob, co_await steadily(*job.context, [&] {
              return keep_content(job.services.blobs, document_facts_json(facts),
                                  "application/json");
            }));
  json::Object result;
  result["page"] = 0;
  result["stage"] = job.stage->name;
  result["reuse_key"] =
      sha256_hex(stage_version(*job.stage) + std::string(blob.at("sha256").as_string()));
  result["blob"] = std::move(blob);
  result["meta"] = std::move(told->meta);
  json::Object summary;
  summary["document_type"] = facts.document_type;
  summary["language"] = facts.language;
  // Those that have rows: what was dropped is in facts.json only, and says so.
  const auto dropped = clinical::facts_with(facts.routed, clinical::Route::reject).size();
  summary["facts"] = static_cast<std::int64_t>(facts.extraction.facts.size() - dropped);
  // Beyond what is told together: they have rows, and are in no fact of the whole document.
  summary["facts_left_out"] = static_cast<std::int64_t>(gathered.limit.left_out());
  summary["facts_to_review"] = static_cast<std::int64_t>(uncertain.size());
  summary["conflicts"] = static_cast<std::int64_t>(conflicts.size());
  summary["sentences"] = static_cast<std::int64_t>(facts.narrative.sentences.size());
  json::Object item;
  item["results"] = json::Array{std::move(result)};
  item["summary"] = std::move(summary);
  auto outcome = settled_stage(job, std::move(item));
  if (told->tokens_of_claim) outcome.actual_tokens = told->tokens_of_claim;
  co_return outcome;
}

}  // namespace millrace::pipeline
