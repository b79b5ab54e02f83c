// All pages together: what repeats at the edges of pages is header or footer, not what the document
// says. Pages are looked at by the window, so that a document of thousands needs no more memory
// than one of dozens.
#include "blob/disk.h"
#include "layout/page_json.h"
#include "layout/running_text.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <utility>
#include <vector>

namespace millrace::pipeline {
namespace {

constexpr int kWindow = 64;  // Pages.

// Of pages as JSON, looked at together. Ordinary ones never come to it.
constexpr std::uint64_t kWindowBytes = std::uint64_t{6} * 1024 * 1024;
// Their maps, and they as bytes; of one of them the text and what is made of it.
constexpr std::uint64_t kFactor = 4;

struct Marked {
  Pack pack;
  std::vector<json::Object> parts;
  std::vector<json::Object> metas;
};

Marked mark(std::vector<layout::PageMap> pages, std::uint64_t bytes) {
  for (auto& page : pages) layout::mark_page_number(page);
  layout::mark_running_text(pages);
  Marked marked;
  marked.pack.bytes.reserve(bytes + bytes / 16);
  for (auto& one : pages) {
    auto page = std::exchange(one, {});  // Gone when its bytes are made.
    page.info.page = kKeptPage;
    json::Object meta;
    meta["words"] = static_cast<std::int64_t>(page.words.size());
    meta["text_bytes"] = static_cast<std::int64_t>(page.text.size());
    meta["blocks"] = static_cast<std::int64_t>(page.blocks.size());
    meta["tables"] = static_cast<std::int64_t>(page.tables.size());
    meta["pairs"] = static_cast<std::int64_t>(page.pairs.size());
    marked.parts.push_back(marked.pack.add(layout::page_json(page)));
    marked.metas.push_back(std::move(meta));
  }
  return marked;
}

std::uint64_t bytes_of(const store::PageResult& page) {
  return static_cast<std::uint64_t>(page.result.content.size_bytes);
}

// The pages from the front that are looked at together: at least one.
std::uint64_t cut_window(std::vector<store::PageResult>& window) {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  while (count < window.size() && bytes < kWindowBytes) bytes += bytes_of(window[count++]);
  window.erase(window.begin() + static_cast<std::ptrdiff_t>(count), window.end());
  return bytes;
}

}  // namespace

Task<Outcome> run_spatial(StageJob job) {
  const auto* words = stage_doing(*job.pipeline, RunKind::ocr);
  if (words == nullptr)
    co_return Outcome::permanent("no_words", "no stage of the pipeline reads pages");
  const auto version = stage_version(*job.stage);
  json::Array results;
  std::int64_t word_count = 0;
  std::int64_t table_count = 0;
  for (int after = 0;;) {
    MR_CO_TRY(auto window, co_await steadily(*job.context, [&] {
                return job.services.store.page_results(job.work.file.id, {words->name}, after,
                                                       kWindow);
              }));
    if (window.empty()) {
      // Pages without a result are failed ones; behind them there may be more.
      after += kWindow;
      if (after >= job.work.document->page_count) break;
      continue;
    }
    const auto bytes = cut_window(window);
    MR_CO_TRY(const auto share, co_await take_memory(job, kFactor * bytes));
    std::vector<layout::PageMap> pages;
    for (const auto& one : window) {
      MR_CO_TRY(auto page, co_await steadily(*job.context, [&] {
                  return load_page(job.services, one.result, static_cast<std::uint32_t>(one.page));
                }));
      pages.push_back(std::move(page));
    }
    auto marked = co_await blob::on_disk(job.services.threads,
                                         [&] { return mark(std::exchange(pages, {}), bytes); });
    MR_CO_TRY(const auto blob, co_await steadily(*job.context, [&] {
                return keep_bytes(job.services.blobs, marked.pack.bytes, "application/json");
              }));
    for (std::size_t i = 0; i < window.size(); ++i) {
      word_count += marked.metas[i].at("words").to_number<std::int64_t>();
      table_count += marked.metas[i].at("tables").to_number<std::int64_t>();
      json::Object item;
      item["page"] = window[i].page;
      item["stage"] = job.stage->name;
      item["reuse_key"] = sha256_hex(version + window[i].result.content.sha256);
      item["blob"] = blob;
      item["part"] = std::move(marked.parts[i]);
      item["meta"] = std::move(marked.metas[i]);
      results.push_back(std::move(item));
    }
    after = window.back().page;
    job.context->progress(
        static_cast<int>(90LL * after / std::max(1, job.work.document->page_count)));
    if (after >= job.work.document->page_count) break;
  }
  json::Object summary;
  summary["words"] = word_count;
  summary["tables"] = table_count;
  json::Object item;
  item["results"] = std::move(results);
  item["pages_of"] = job.stage->name;
  item["summary"] = std::move(summary);
  co_return settled_stage(job, std::move(item));
}

}  // namespace millrace::pipeline
