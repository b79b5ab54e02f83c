// The last stage: a document in every form that somebody may want: text, words, hOCR, ALTO, facts,
// FHIR, narrative, a PDF that can be searched, and the manifest that says how all of it came to be.
//
// Pages go by one at a time, into all files at once. What a page could not be read for is missing
// in them, and said.
#include "base/free_memory.h"
#include "blob/disk.h"
#include "layout/page_json.h"
#include "output/alto.h"
#include "output/evidence_table.h"
#include "output/facts.h"
#include "output/fhir/bundle.h"
#include "output/hocr.h"
#include "output/manifest.h"
#include "output/narrative_text.h"
#include "output/plain_text.h"
#include "output/words.h"
#include "pipeline/author_results.h"
#include "pipeline/document_facts.h"
#include "pipeline/output_files.h"
#include "pipeline/run_record.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace millrace::pipeline {
namespace {

output::DocumentInfo info_of(const StageJob& job, const RunRecord& record) {
  output::DocumentInfo info;
  info.document_id = job.work.file.id.to_string();
  info.source = {.file_name = job.work.file.name,
                 .sha256 = job.work.file.content.sha256,
                 .size_bytes = static_cast<std::uint64_t>(job.work.file.content.size_bytes),
                 .mime = job.work.document->mime};
  info.patient_id = job.work.file.patient.to_string();
  info.engines = record.engines();
  info.page_count = static_cast<std::uint32_t>(job.work.document->page_count);
  // By the database: written again, the same run has the same bytes.
  info.processed_at = record.times.whole.ended;
  return info;
}

Result<void> append(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(ErrorKind::unavailable, "cannot write a scratch file");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// One document on its way out.
struct Writing {
  StageJob& job;
  OutputFiles files;
  output::DocumentInfo info;
  output::EvidenceTable evidence = {};
  bool source_is_pdf = false;  // There is nothing to add to it.
  sandbox::UniqueFd lines;     // Else: pages for the writer of the PDF, line N is page N.
};

// A page as text and as a map, and in the largest of its forms, one after the other.
constexpr std::uint64_t kPageFactor = 5;
// The tree of its entities.
constexpr std::uint64_t kEntitiesFactor = 10;

Task<void> write_forms(Writing& out, const layout::PageMap& page) {
  const auto& info = out.info;
  const auto write = [&out](std::string_view kind, auto make) -> Task<void> {
    auto text = co_await blob::on_disk(out.job.services.threads, std::move(make));
    co_return co_await out.files.write(kind, std::move(text));
  };
  MR_CO_TRY_VOID(co_await write(
      "text", [&] { return output::page_text(page, {.page_count = info.page_count}); }));
  MR_CO_TRY_VOID(co_await write("words", [&] { return output::words_json(page); }));
  MR_CO_TRY_VOID(co_await write("hocr", [&] { return output::hocr_page(page, info); }));
  MR_CO_TRY_VOID(co_await write("alto", [&] { return output::alto_page(page, info); }));
  if (out.source_is_pdf) co_return ok();
  const int fd = out.lines.get();
  co_return co_await blob::on_disk(out.job.services.threads,
                                   [&] { return append(fd, layout::page_json(page) + '\n'); });
}

Task<void> write_page(Writing& out, int number, const store::StageResult& map,
                      const store::StageResult* entities) {
  auto& job = out.job;
  const auto bytes = [](const store::StageResult& result) {
    return static_cast<std::uint64_t>(result.content.size_bytes);
  };
  MR_CO_TRY(const auto share,
            co_await take_memory(
                job, kPageFactor * bytes(map) +
                         (entities == nullptr ? 0 : kEntitiesFactor * bytes(*entities))));
  MR_CO_TRY(auto page, co_await load_page(job.services, map, static_cast<std::uint32_t>(number)));
  MR_CO_TRY_VOID(co_await write_forms(out, page));
  if (entities == nullptr) co_return ok();
  MR_CO_TRY(const auto text,
            co_await read_content(job.services.blobs, entities->content, kPassBytesMax));
  MR_CO_TRY(const auto value, parse_json(text, {.max_bytes = kPassBytesMax, .max_depth = 32}));
  // Entities are kept for a page without a number.
  layout::SpatialMap kept;
  kept.pages.push_back(std::move(page));
  kept.pages.front().info.page = kKeptPage;
  MR_CO_TRY(auto detection,
            layout::clinical::detection_from_json(value, layout::clinical::Form::stored, kept));
  number_page(detection, static_cast<std::uint32_t>(number));
  kept.pages.front().info.page = static_cast<std::uint32_t>(number);
  out.evidence.add_page(kept.pages.front(), detection);
  co_return ok();
}

// The stage whose pages are handed out; null: no stage of the pipeline reads pages.
const Stage* reading_stage(const Pipeline& pipeline) {
  const auto* spatial = stage_doing(pipeline, RunKind::spatial);
  return spatial != nullptr ? spatial : stage_doing(pipeline, RunKind::ocr);
}

Task<void> write_pages(Writing& out, const Stage& reading, const RunRecord& record) {
  auto& job = out.job;
  const auto* detect = stage_doing(*job.pipeline, RunKind::detect);
  const auto last = job.work.document->page_count;
  for (int number = 1; number <= last; ++number) {
    const auto* map = record.find(number, reading.name);
    if (map == nullptr) {
      MR_CO_TRY_VOID(co_await out.files.write(
          "text", output::missing_page_text(static_cast<std::uint32_t>(number),
                                            {.page_count = out.info.page_count})));
      if (!out.source_is_pdf) {
        // Its line is empty: the writer keeps the page as it is.
        const int fd = out.lines.get();
        MR_CO_TRY_VOID(
            co_await blob::on_disk(job.services.threads, [fd] { return append(fd, "\n"); }));
      }
      continue;
    }
    const auto* entities = detect == nullptr ? nullptr : record.find(number, detect->name);
    MR_CO_TRY_VOID(co_await write_page(out, number, *map, entities));
    if (number % 10 == 0) job.context->progress(80 * number / last, "writing pages");
  }
  co_return ok();
}

// A PDF whose pages all bring their own text: there is nothing to add to it.
bool brings_its_text(const StageJob& job, const RunRecord& record) {
  if (job.work.document->kind != "pdf") return false;
  return std::ranges::all_of(record.pages, [&](const store::PageState& page) {
    const auto found = record.readings.find(page.page);
    return found != record.readings.end() && found->second.source == output::PageSource::text;
  });
}

bool reads_nothing(const StageJob& job, const RunRecord& record) {
  const auto* reading = reading_stage(*job.pipeline);
  if (reading == nullptr) return false;
  return std::ranges::none_of(record.pages, [&](const store::PageState& page) {
    return record.find(page.page, reading->name) != nullptr;
  });
}

// By a child: it takes the file apart again.
Task<std::optional<Outcome>> write_pdf(Writing& out) {
  auto& job = out.job;
  json::Object request;
  request["op"] = "assemble";
  request["kind"] = job.work.document->kind;
  request["title"] = job.work.file.name;
  // A picture that killed its reader may kill the writer, too: that costs a delivery, and not the
  // document.
  if (job.context->job().delivery_count > 1) request["unread"] = "blank";
  MR_CO_TRY_VOID(co_await out.files.open("pdf", "document.pdf", "application/pdf"));
  MR_CO_TRY(auto file, co_await job.services.contents.open(job.work.file.content));
  MR_CO_TRY(auto lines, ContentFiles::reopened(out.lines));
  sandbox::TaskSpec task{.request = to_json(request)};
  task.files.push_back(std::move(file));
  task.files.push_back(std::move(lines));
  // A picture that was packed tightly may take more room as it is embedded.
  task.limits.output_max_bytes = std::uint64_t{256} * 1024 * 1024 +
                                 4 * static_cast<std::uint64_t>(job.work.file.content.size_bytes);
  task.limits.cpu = std::chrono::minutes(5);
  task.limits.wall = std::chrono::minutes(10);
  auto& writer = out.files.writer("pdf");
  task.on_output = [&writer](std::span<const std::byte> bytes) -> Task<void> {
    co_return co_await writer.write(bytes);
  };
  const auto done = co_await run_child(job, std::move(task));
  co_return failed_task(done, "searchable PDF");
}

Task<void> open_files(Writing& out) {
  auto& files = out.files;
  MR_CO_TRY_VOID(co_await files.open("text", "text.txt", "text/plain; charset=utf-8"));
  MR_CO_TRY_VOID(co_await files.open("words", "words.jsonl", "application/jsonl"));
  MR_CO_TRY_VOID(co_await files.open("hocr", "document.hocr.html", "text/html; charset=utf-8"));
  MR_CO_TRY_VOID(co_await files.open("alto", "document.alto.xml", "application/xml"));
  MR_CO_TRY_VOID(co_await files.write("hocr", output::hocr_begin(out.info)));
  MR_CO_TRY_VOID(co_await files.write("alto", output::alto_begin(out.info)));
  if (!out.source_is_pdf) {
    MR_CO_TRY(out.lines, out.job.services.contents.scratch());
  }
  co_return ok();
}

Task<void> write_facts(Writing& out, const DocumentFacts& facts) {
  auto& info = out.info;
  info.language = facts.language;
  auto& threads = out.job.services.threads;
  // One form after the other: each may take megabytes.
  MR_CO_TRY_VOID(co_await out.files.add(
      "facts", "facts.json", "application/json", co_await blob::on_disk(threads, [&] {
        return output::facts_json(facts.extraction, facts.routed, out.evidence, info);
      })));
  MR_CO_TRY_VOID(co_await out.files.add(
      "facts_csv", "facts.csv", "text/csv; charset=utf-8", co_await blob::on_disk(threads, [&] {
        return output::facts_csv(facts.extraction, facts.routed, out.evidence);
      })));
  auto agents = out.info.engines;
  agents.push_back(info.generator);
  MR_CO_TRY(auto fhir, co_await blob::on_disk(threads, [&] {
              return output::fhir_bundle({.info = info,
                                          .extraction = facts.extraction,
                                          .evidence = out.evidence,
                                          .routed = facts.routed,
                                          .document_type = facts.document_type,
                                          .agents = std::move(agents)});
            }));
  MR_CO_TRY_VOID(co_await out.files.add("fhir", "fhir.json", "application/fhir+json",
                                        std::exchange(fhir.bundle, {})));
  co_return co_await out.files.add(
      "narrative", "narrative.md", "text/markdown; charset=utf-8",
      co_await blob::on_disk(threads, [&] {
        return output::narrative_markdown({.narrative = facts.narrative,
                                           .extraction = facts.extraction,
                                           .evidence = out.evidence,
                                           .info = info,
                                           .missing = lacks_narrative(out.job)});
      }));
}

// Nothing where no stage tells the document.
Task<std::optional<DocumentFacts>> load_facts(StageJob& job) {
  const auto* narrate = stage_doing(*job.pipeline, RunKind::narrate);
  if (narrate == nullptr) co_return std::optional<DocumentFacts>();
  const auto found = job.work.results.find(narrate->name);
  if (found == job.work.results.end()) co_return std::optional<DocumentFacts>();
  MR_CO_TRY(const auto text,
            co_await read_content(job.services.blobs, found->second.content, kPassBytesMax));
  MR_CO_TRY(auto facts, read_document_facts(text));
  co_return std::optional<DocumentFacts>(std::move(facts));
}

// Of an ingested document: its text, and what was published of it.
Task<void> write_chunks(StageJob& job, OutputFiles& files) {
  constexpr int kWindow = 200;
  MR_CO_TRY_VOID(co_await files.open("chunks", "chunks.jsonl", "application/jsonl"));
  for (int after = -1;;) {
    MR_CO_TRY(const auto window, co_await steadily(*job.context, [&] {
                return job.services.ingest->list_chunks(job.work.file.id, after, kWindow);
              }));
    if (window.empty()) break;
    std::string lines;
    for (const auto& line : window) lines += line + '\n';
    MR_CO_TRY_VOID(co_await files.write("chunks", std::move(lines)));
    after += static_cast<int>(window.size());  // They are numbered without a gap.
  }
  co_return ok();
}

Task<void> write_ingested(StageJob& job, OutputFiles& files) {
  const auto* normal = stage_doing(*job.pipeline, RunKind::validate);
  const auto found =
      normal == nullptr ? job.work.results.end() : job.work.results.find(normal->name);
  if (found != job.work.results.end()) {
    files.add_result(normal->name, found->second.content, "markdown", "document.md",
                     "text/markdown; charset=utf-8");
  }
  if (stage_doing(*job.pipeline, RunKind::publish) != nullptr) {
    MR_CO_TRY_VOID(co_await write_chunks(job, files));
  }
  co_return ok();
}

Task<Outcome> write_all(StageJob& job) {
  MR_CO_TRY(const auto record, co_await read_record(job));
  // Nothing of it could be read: there is nothing to hand out, and the document ends as failed.
  if (reads_nothing(job, record)) co_return settled_stage(job, {});
  Writing out{.job = job, .files = OutputFiles(job.services.blobs), .info = info_of(job, record)};
  MR_CO_TRY(const auto facts, co_await load_facts(job));
  if (facts) {
    out.info.language = facts->language;
    out.evidence.only_for(facts->extraction);
  }
  out.source_is_pdf = brings_its_text(job, record);
  if (const auto* reading = reading_stage(*job.pipeline)) {
    MR_CO_TRY_VOID(co_await open_files(out));
    MR_CO_TRY_VOID(co_await write_pages(out, *reading, record));
    MR_CO_TRY_VOID(co_await out.files.write("hocr", output::hocr_end()));
    MR_CO_TRY_VOID(co_await out.files.write("alto", output::alto_end()));
    if (out.source_is_pdf) {
      out.files.add_source(job.work.file.content);
    } else {
      MR_CO_TRY(auto failed, co_await write_pdf(out));
      if (failed) co_return *std::move(failed);
    }
  }
  MR_CO_TRY_VOID(co_await write_ingested(job, out.files));
  MR_CO_TRY_VOID(co_await write_author_results(job, record, out.files));
  MR_CO_TRY_VOID(co_await out.files.finish());
  if (facts) MR_CO_TRY_VOID(co_await write_facts(out, *facts));
  const auto manifest = manifest_of(job, record, out.info, out.files.artifacts());
  MR_CO_TRY_VOID(output::check_manifest(manifest));
  MR_CO_TRY_VOID(co_await out.files.add("manifest", "manifest.json", "application/json",
                                        output::manifest_json(manifest)));
  json::Object item;
  item["outputs"] = out.files.outputs();
  co_return settled_stage(job, std::move(item));
}

}  // namespace

Task<Outcome> run_outputs(StageJob job) {
  // What it writes is found by its content: beginning again costs time only.
  auto outcome = co_await steadily(*job.context, [&job] { return write_all(job); });
  // Facts and pages of a large document came and went.
  return_free_memory();
  co_return outcome;
}

}  // namespace millrace::pipeline
