#include "pipeline/stage_job.h"

#include "blob/digest.h"
#include "blob/disk.h"
#include "layout/page_json.h"
#include "pipeline/steadily.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::pipeline {
std::string StageJob::option(std::string_view name, std::string_view otherwise) const {
  const auto* value = stage == nullptr ? nullptr : stage->options.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string())
                                                : std::string(otherwise);
}

double StageJob::number(std::string_view name, double otherwise) const {
  const auto* value = stage == nullptr ? nullptr : stage->options.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : otherwise;
}

sandbox::TaskLimits StageJob::limits() const {
  sandbox::TaskLimits limits;
  if (stage == nullptr) return limits;
  limits.memory_bytes = stage->limits.memory_bytes.value_or(limits.memory_bytes);
  limits.cpu = stage->limits.cpu.value_or(limits.cpu);
  limits.wall = stage->limits.wall.value_or(limits.wall);
  limits.output_max_bytes = stage->limits.output_bytes.value_or(limits.output_max_bytes);
  limits.result_max_bytes = kPageBytesMax;
  return limits;
}

Task<sandbox::TaskResult> run_child(StageJob& job, sandbox::TaskSpec task) {
  task.on_wait = [context = job.context](bool waiting) {
    if (waiting) {
      context->begin_wait();
    } else {
      context->end_wait();
    }
  };
  co_return co_await job.services.children.run(std::move(task), job.context->token());
}

Task<MemoryBudget::Share> take_memory(StageJob& job, std::uint64_t bytes) {
  if (job.services.memory == nullptr) co_return MemoryBudget::Share();
  struct Wait {
    worker::JobContext& context;
    explicit Wait(worker::JobContext& one) : context(one) { context.begin_wait(); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { context.end_wait(); }
  } const wait(*job.context);
  co_return co_await job.services.memory->take(bytes, job.context->token());
}

std::optional<Outcome> stopped_by_quarantine(const StageJob& job) {
  if (!job.work.quarantined) return std::nullopt;
  return Outcome::permanent("quarantined",
                            "this content has crashed its reader three times before");
}

std::uint64_t result_bytes(const StageJob& job, RunKind kind) {
  const auto result = result_of(job, kind);
  return result ? static_cast<std::uint64_t>((*result)->content.size_bytes) : 0;
}

std::uint64_t answer_bytes(std::int64_t text_chars, std::uint64_t bytes_per_char) {
  constexpr std::uint64_t kLeast = std::uint64_t{512} * 1024;
  return kLeast +
         static_cast<std::uint64_t>(std::max<std::int64_t>(text_chars, 0)) * bytes_per_char;
}

std::uint64_t group_bytes(const StageJob& job) {
  if (job.stage->kind == RunKind::ocr) {
    std::int64_t chars = 0;
    for (const auto& page : job.work.group) chars += page.page.text_chars;
    const auto likely = answer_bytes(chars, 32);
    // Much more than the limit is no misjudgement. A little more may be: what is too much is left.
    return likely > 4 * kGroupBytesMax ? likely : std::min(likely, kGroupBytesMax);
  }
  const auto* stage = stage_doing(*job.pipeline, RunKind::spatial);
  std::uint64_t bytes = 0;
  for (const auto& page : job.work.group) {
    const auto found = stage == nullptr ? page.results.end() : page.results.find(stage->name);
    if (found == page.results.end()) continue;
    bytes += static_cast<std::uint64_t>(found->second.content.size_bytes);
  }
  return bytes;
}

Task<layout::PageMap> load_page(Services& services, const store::StageResult& result,
                                std::uint32_t number) {
  MR_CO_TRY(auto text, co_await read_content(services.blobs, result.content, kPageBytesMax));
  MR_CO_TRY(auto page, co_await blob::on_disk(services.threads, [&text] {
              const auto mine = std::exchange(text, {});  // Gone with the parsing.
              return layout::parse_page_json(mine);
            }));
  page.info.page = number;
  co_return page;
}

Result<const store::StageResult*> result_of(const StageJob& job, RunKind kind) {
  const auto* source = stage_doing(*job.pipeline, kind);
  if (source == nullptr) {
    return fail(ErrorKind::not_found, fmt::format("pipeline {} has no stage \"{}\"",
                                                  job.pipeline->name, to_string(kind)));
  }
  const auto found = job.work.results.find(source->name);
  if (found == job.work.results.end()) {
    return fail(ErrorKind::not_found,
                fmt::format("page {} has no result of stage {}", job.page(), source->name));
  }
  return &found->second;
}

std::string sha256_hex(std::string_view text) { return blob::sha256(text).hex(); }

namespace {

void add_length(std::string& out, std::size_t length) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((length >> shift) & 0xff);
}

std::string from_hex(std::string_view hex) {
  const auto digest = blob::Digest::parse(hex);
  if (!digest) return {};
  return {digest->bytes.begin(), digest->bytes.end()};
}

// What a model reported settles what the limiter had charged.
void note_tokens(Outcome& outcome, const json::Object& meta) {
  const auto* in = meta.if_contains("tokens_in");
  const auto* out = meta.if_contains("tokens_out");
  if (in == nullptr || out == nullptr) return;
  const auto* claimed = meta.if_contains("tokens_of_claim");
  outcome.actual_tokens = claimed != nullptr
                              ? claimed->to_number<std::int64_t>()
                              : in->to_number<std::int64_t>() + out->to_number<std::int64_t>();
}

}  // namespace

std::string reuse_key(const Pipeline& pipeline, const Stage& stage,
                      const store::DocumentWork& work) {
  const auto version = stage_version(stage);
  std::string text = "stage";
  add_length(text, stage.name.size());
  text += stage.name;
  add_length(text, version.size());
  text += version;
  const auto plan = plan_of(pipeline, stage);
  bool first = true;
  for (const auto& input : plan.at("inputs").as_array()) {
    if (!std::exchange(first, false)) text += '|';
    const std::string_view name = input.as_string();
    constexpr std::string_view kPrevious = "previous:";
    constexpr std::string_view kWhole = "document:";
    if (name == "content") {
      text += from_hex(work.page ? work.page->content_sha256 : std::string());
      continue;
    }
    const bool previous = name.starts_with(kPrevious);
    const bool whole = name.starts_with(kWhole);
    const auto& results = previous ? work.previous : whole ? work.whole : work.results;
    const auto found = results.find(previous ? name.substr(kPrevious.size())
                                    : whole  ? name.substr(kWhole.size())
                                             : name);
    if (found != results.end()) text += from_hex(found->second.content.sha256);
  }
  return sha256_hex(text);
}

const store::StageResult* made_already(const Pipeline& pipeline, const Stage& stage,
                                       const store::DocumentWork& work) {
  if (!work.page || work.page->state == "failed" || stage.each != Each::page) return nullptr;
  const auto found = work.results.find(stage.name);
  if (found == work.results.end()) return nullptr;
  return found->second.reuse_key == reuse_key(pipeline, stage, work) ? &found->second : nullptr;
}

json::Object Pack::add(std::string_view piece) {
  json::Object part;
  part["offset"] = bytes.size();
  part["size_bytes"] = piece.size();
  part["sha256"] = sha256_hex(piece);
  bytes += piece;
  return part;
}

namespace {

json::Object page_item(const StageJob& job, PageMade& made) {
  json::Object item;
  item["page"] = job.page();
  item["stage"] = job.stage->name;
  item["reuse_key"] = reuse_key(*job.pipeline, *job.stage, job.work);
  item["meta"] = std::move(made.meta);
  if (made.facts) item["facts"] = *std::move(made.facts);
  return item;
}

void settle_with(StageJob& job, const json::Array& items, const std::vector<int>& left) {
  const auto next = job_after(*job.pipeline, job.stage->name);
  job.context->in_settlement({store::settle_pages_statement(job.id(), items, left, next)});
}

Task<json::Object> keep_json(StageJob& job, const std::string& bytes) {
  co_return co_await steadily(
      *job.context, [&] { return keep_bytes(job.services.blobs, bytes, "application/json"); });
}

}  // namespace

Task<Outcome> keep_page(StageJob& job, PageMade made) {
  MR_CO_TRY(auto blob, co_await keep_json(job, made.bytes));
  auto item = page_item(job, made);
  item["blob"] = std::move(blob);
  auto outcome = Outcome::ok(to_json(item.at("meta")));
  note_tokens(outcome, item.at("meta").as_object());
  settle_with(job, {std::move(item)}, {});
  co_return outcome;
}

StageJob job_of_page(const StageJob& job, const store::DocumentWork::GroupPage& page) {
  auto one = job;
  one.work.page = page.page;
  one.work.results = page.results;
  one.work.previous = page.previous;
  one.work.quarantined = page.quarantined;
  one.work.group.clear();
  return one;
}

Task<Outcome> keep_group(StageJob& job, GroupMade made) {
  json::Array items;
  Pack pack;
  std::size_t bytes = 0;
  for (const auto& one : made.done) bytes += one.made.bytes.size();
  pack.bytes.reserve(bytes);
  for (auto& [page, one] : made.done) {
    auto item = page_item(job_of_page(job, *page), one);
    item["part"] = pack.add(std::exchange(one.bytes, {}));
    items.push_back(std::move(item));
  }
  if (!items.empty()) {
    MR_CO_TRY(const auto blob, co_await keep_json(job, pack.bytes));
    for (auto& item : items) item.as_object()["blob"] = blob;
  }
  settle_with(job, items, made.left);
  json::Object told{{"pages", made.done.size()}, {"split", made.left.size()}};
  co_return Outcome::ok(to_json(told));
}

// Pages one after the other, and what was made of all of them twice: each by itself, and packed.
constexpr std::uint64_t kGroupFactor = 3;

Task<Outcome> run_group(StageJob job) {
  GroupMade made;
  // Whoever had the group before may have died of one of its pages: from now on each is alone.
  if (job.context->job().delivery_count > 1) {
    for (const auto& one : job.work.group) made.left.push_back(one.page.page);
    co_return co_await keep_group(job, std::move(made));
  }
  const auto bytes = group_bytes(job);
  if (bytes > kGroupBytesMax) {
    for (const auto& one : job.work.group) made.left.push_back(one.page.page);
    co_return co_await keep_group(job, std::move(made));
  }
  MR_CO_TRY(const auto share, co_await take_memory(job, kGroupFactor * bytes));
  switch (job.stage->kind) {
    case RunKind::ocr: {
      MR_CO_TRY(made, co_await read_group(job));
      break;
    }
    case RunKind::detect: {
      MR_CO_TRY(made, co_await detect_group(job));
      break;
    }
    case RunKind::extract: {
      MR_CO_TRY(made, co_await extract_group(job));
      break;
    }
    default:
      for (const auto& one : job.work.group) made.left.push_back(one.page.page);
  }
  co_return co_await keep_group(job, std::move(made));
}

Outcome settled_stage(StageJob& job, json::Object item) {
  if (const auto* pages = pages_before(*job.pipeline, job.type())) {
    item["closes"] = pages->name;
    if (pages->on_page_failure == OnPageFailure::fail) item["fail_on_page"] = true;
  }
  const auto plan = plan_after(*job.pipeline, job.type());
  job.context->in_settlement({store::settle_stage_statement(job.id(), item, plan)});
  const auto* summary = item.if_contains("summary");
  auto outcome = Outcome::ok(summary == nullptr ? std::string() : to_json(*summary));
  const auto* results = item.if_contains("results");
  if (results != nullptr && results->as_array().size() == 1) {
    note_tokens(outcome, results->as_array().front().at("meta").as_object());
  }
  return outcome;
}

// The pages of the stage before have ended: those that failed are given up, the others begun.
Task<Outcome> run_spread(StageJob job) {
  json::Object item;
  if (const auto* pages = pages_before(*job.pipeline, job.type())) {
    item["closes"] = pages->name;
    if (pages->on_page_failure == OnPageFailure::fail) item["fail_on_page"] = true;
  }
  const auto plan = plan_of(*job.pipeline, *job.stage);
  job.context->in_settlement({store::settle_stage_statement(job.id(), item, plan)});
  auto outcome = Outcome::ok();
  outcome.actual_tokens = 0;  // Its type asks a provider, the job does not.
  co_return outcome;
}

}  // namespace millrace::pipeline
