// Words with boxes of one page: from the text layer where it can be believed, else by OCR, by a
// child of our own or by a service.
#include "base/json_cut.h"
#include "blob/disk.h"
#include "layout/confidence.h"
#include "layout/form.h"
#include "layout/page_json.h"
#include "layout/reading_order.h"
#include "layout/sources/vision.h"
#include "pipeline/paid_call.h"
#include "pipeline/stage_job.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {
namespace {

constexpr JsonLimits kReadLimits{.max_bytes = kPageBytesMax, .max_depth = 64};

struct ReadPage {
  layout::PageMap page;
  json::Object meta;
};

std::string text_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return storable_text(value->get_string(), 200);
}

json::Object meta_of(const layout::PageMap& page, std::string_view source) {
  const auto confidence = layout::confidence_of(page);
  json::Object meta;
  meta["source"] = source;
  meta["engine"] = page.info.engine;
  meta["words"] = static_cast<std::int64_t>(page.words.size());
  meta["text_bytes"] = static_cast<std::int64_t>(page.text.size());
  meta["confidence"] = layout::round_coordinate(confidence.mean);
  meta["rotation_deg"] = page.info.rotation_deg;
  return meta;
}

// The child's answer, read as what it is: the word of a process that has handled hostile bytes.
Result<ReadPage> checked_read(std::string_view text) {
  // The page apart from the rest: of a dense one no tree is made.
  const auto cut = cut_json_member(text, "page");
  if (!cut) {
    MR_TRY_VOID(parse_json_object(text, kReadLimits));
    return fail(ErrorKind::invalid_argument, "the answer has no page");
  }
  MR_TRY(const auto object,
         parse_json_object(fmt::format("{}null{}", cut->before, cut->after), kReadLimits));
  MR_TRY(auto map, layout::parse_page_json(cut->value));
  map.info.page = kKeptPage;
  const auto source = text_of(object, "source");
  auto meta = meta_of(map, source == "text" ? "text" : "ocr");
  if (const auto why = text_of(object, "why_ocr"); !why.empty()) meta["why_ocr"] = why;
  if (const auto* skew = object.if_contains("skew_deg"); skew != nullptr && skew->is_number()) {
    meta["skew_deg"] = skew->to_number<double>();
  }
  return ReadPage{.page = std::move(map), .meta = std::move(meta)};
}

json::Object read_request(const StageJob& job, std::string_view mode) {
  json::Object request;
  request["op"] = "read";
  request["kind"] = job.work.document->kind;
  request["page"] = job.page();
  request["mode"] = mode;
  const auto* languages = job.stage->options.if_contains("languages");
  request["languages"] = languages != nullptr ? *languages : json::Value(json::Array{"eng"});
  return request;
}

// Nothing: what was recognised was recognised badly. A page without words is not read, but empty.
std::optional<Outcome> too_doubtful(const StageJob& job, const ReadPage& read) {
  const auto floor = job.number("confidence_min", 0);
  const auto confidence = read.meta.at("confidence").to_number<double>();
  if (read.meta.at("source") != "ocr" || read.page.words.empty() || confidence >= floor) {
    return std::nullopt;
  }
  return Outcome::permanent("low_confidence",
                            fmt::format("page {} was read with confidence {:.2f}, below {:.2f}",
                                        job.page(), confidence, floor));
}

Task<Outcome> keep(StageJob& job, ReadPage read) {
  if (auto doubt = too_doubtful(job, read)) co_return *std::move(doubt);
  auto bytes = co_await blob::on_disk(job.services.threads, [&read] {
    const auto page = std::exchange(read.page, {});  // Only its bytes are wanted from here on.
    return layout::page_json(page);
  });
  co_return co_await keep_page(job, {.bytes = std::move(bytes), .meta = std::move(read.meta)});
}

// The answer, what is made of it, and that as bytes again.
constexpr std::uint64_t kReadFactor = 3;

Task<std::optional<Outcome>> read_within(StageJob& job, std::string_view mode,
                                         std::uint64_t bytes_max) {
  MR_CO_TRY(const auto share, co_await take_memory(job, kReadFactor * bytes_max));
  auto opened = co_await steadily(
      *job.context, [&] { return job.services.contents.open(job.work.file.content); });
  if (!opened) co_return outcome_of(opened.error(), "the file cannot be fetched");
  sandbox::TaskSpec task{.request = to_json(read_request(job, mode)), .limits = job.limits()};
  task.limits.result_max_bytes = bytes_max;
  task.files.push_back(*std::move(opened));
  auto done = co_await run_child(job, std::move(task));
  const bool larger = done && done->end == sandbox::TaskResult::End::overflow;
  if (larger && bytes_max < kPageBytesMax) co_return std::nullopt;
  if (auto failed = failed_task(done, fmt::format("page {}", job.page()))) {
    co_return *std::move(failed);
  }
  auto read = co_await blob::on_disk(job.services.threads, [&done] {
    const auto text = std::exchange(done->result, {});
    return checked_read(text);
  });
  if (!read) {
    auto outcome = Outcome::retry("reader_protocol", read.error().message);
    outcome.crash = true;
    co_return outcome;
  }
  MR_CO_TRY(auto outcome, co_await keep(job, *std::move(read)));
  co_return outcome;
}

Task<Outcome> read_locally(StageJob& job, std::string_view mode) {
  // As much as its own text may give, or a picture of one: what turns out to be more is read again
  // with room for the largest.
  const auto likely = std::min(kPageBytesMax, answer_bytes(job.work.page->text_chars, 64));
  MR_CO_TRY(auto outcome, co_await read_within(job, mode, likely));
  if (!outcome) {
    MR_CO_TRY(outcome, co_await read_within(job, mode, kPageBytesMax));
  }
  if (!outcome) co_return fail(ErrorKind::internal, "a page was read without an end");
  co_return *std::move(outcome);
}

// One line a page, in the order they were asked for, as far as the child came.
std::vector<PageMade> checked_lines(std::string_view text, std::size_t pages) {
  std::vector<PageMade> made(pages);
  for (std::size_t i = 0; i < pages; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;
    auto read = checked_read(text.substr(0, end));
    text.remove_prefix(end + 1);
    // The group is for pages that bring their text; what must be recognised is done alone.
    if (!read || read->meta.at("source") != "text") continue;
    made[i] = {.bytes = layout::page_json(read->page), .meta = std::move(read->meta)};
  }
  return made;
}

struct Picture {
  std::string bytes;
  layout::VisionImage size;
};

// The page as the service takes it: to turn it upright is the service's business. A page that kills
// whoever draws it is poison as one that kills its reader.
awaitable<std::expected<Picture, Outcome>> picture(StageJob& job) {
  json::Object request;
  request["op"] = "image";
  request["kind"] = job.work.document->kind;
  request["page"] = job.page();
  request["width_px_max"] = 2'200;
  request["format"] = "jpeg";
  auto opened = co_await steadily(
      *job.context, [&] { return job.services.contents.open(job.work.file.content); });
  if (!opened) {
    co_return std::unexpected(outcome_of(opened.error(), "the file cannot be fetched"));
  }
  Picture drawn;
  auto& bytes = drawn.bytes;
  sandbox::TaskSpec task{.request = to_json(request), .limits = job.limits()};
  task.files.push_back(*std::move(opened));
  task.limits.output_max_bytes = std::uint64_t{7} * 1000 * 1000;
  task.on_output = [&bytes](std::span<const std::byte> piece) -> Task<void> {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    co_return ok();
  };
  const auto done = co_await run_child(job, std::move(task));
  if (auto failed = failed_task(done, fmt::format("picture of page {}", job.page()))) {
    co_return std::unexpected(*std::move(failed));
  }
  const auto size = parse_json_object(done->result);
  if (!size) {
    auto outcome = Outcome::retry("reader_protocol", size.error().message);
    outcome.crash = true;
    co_return std::unexpected(std::move(outcome));
  }
  const auto pixels = [&size](std::string_view name) {
    const auto* value = size->if_contains(name);
    return value != nullptr && value->is_int64() && value->get_int64() > 0 &&
                   value->get_int64() < 1'000'000
               ? static_cast<std::uint32_t>(value->get_int64())
               : 0U;
  };
  drawn.size = {
      .page = kKeptPage, .width_px = pixels("width_px"), .height_px = pixels("height_px")};
  co_return drawn;
}

constexpr std::string_view kVisionModel = "vision";
// Answers are kept as the pages that they show, up to this size: no page that anybody prints has
// more. The form is part of what they are found by.
constexpr std::string_view kKeptForm = "page/1";
constexpr std::size_t kKeptBytesMax = std::size_t{4} * 1024 * 1024;

std::string vision_question(const StageJob& job, std::string_view picture) {
  return sha256_hex(
      fmt::format("{}\n{}\n{}", job.services.vision_provider, kKeptForm, sha256_hex(picture)));
}

Result<ReadPage> seen_page(std::string_view answer, const layout::VisionImage& size) {
  MR_TRY(auto pages, layout::parse_vision(answer, std::span(&size, 1)));
  if (pages.empty()) return fail(ErrorKind::invalid_argument, "the answer has no page");
  MR_TRY(auto content, std::move(pages.front().content));
  MR_TRY(auto raw, layout::clean(std::move(content)));
  raw.info.page = kKeptPage;
  MR_TRY(auto page, layout::arrange(std::move(raw)));
  layout::find_forms(page);
  auto meta = meta_of(page, "ocr");
  return ReadPage{.page = std::move(page), .meta = std::move(meta)};
}

Result<ReadPage> kept_page(std::string_view text) {
  MR_TRY(auto page, layout::parse_page_json(text));
  page.info.page = kKeptPage;
  auto meta = meta_of(page, "ocr");
  return ReadPage{.page = std::move(page), .meta = std::move(meta)};
}

Task<Outcome> keep_seen(StageJob& job, ReadPage read, std::int64_t cost_micros) {
  read.meta["provider"] = job.services.vision_provider;
  read.meta["model"] = kVisionModel;
  read.meta["cost_micros"] = cost_micros;
  co_return co_await keep(job, std::move(read));
}

// What was paid for before, by whoever had this page; nothing: it is to be asked for.
Task<std::optional<Outcome>> seen_before(StageJob& job, std::string_view question) {
  const auto& claimed = job.context->job();
  MR_CO_TRY(auto kept, co_await steadily(*job.context, [&] {
              return job.services.store.kept_answers(claimed.id, claimed.generation);
            }));
  for (const auto& paid : kept) {
    if (paid.question_sha256 != question) continue;
    if (!paid.refused.empty()) co_return unusable_answer(job, paid).outcome;
    auto read = co_await blob::on_disk(job.services.threads, [&] { return kept_page(paid.text); });
    if (!read) break;  // Of another program.
    MR_CO_TRY(auto outcome, co_await keep_seen(job, *std::move(read), paid.cost_micros));
    co_return outcome;
  }
  co_return std::nullopt;
}

Task<Outcome> read_by_vision(StageJob& job) {
  auto image = co_await picture(job);
  if (!image) co_return std::move(image).error();
  const auto size = image->size;
  const auto question = vision_question(job, image->bytes);
  MR_CO_TRY(auto before, co_await seen_before(job, question));
  if (before) co_return *std::move(before);
  const auto& price = job.services.vision_price;
  auto permit = co_await begin_paid_call(job, {.provider = job.services.vision_provider,
                                               .model = std::string(kVisionModel),
                                               .request_sha256 = question,
                                               .estimated_tokens = 1,
                                               .reserved_micros = price.per_call});
  if (!permit) co_return std::move(permit).error();
  provider::VisionRequest request{.correlation_id = job.context->job().correlation_id};
  if (job.stage->call_timeout) request.timeout = *job.stage->call_timeout;
  request.images.push_back(std::move(image->bytes));
  auto answer = co_await job.services.vision->annotate(std::move(request), job.context->token());
  if (answer && !answer->images.empty() && !answer->images.front()) {
    answer = std::unexpected(answer->images.front().error());
  }
  auto end = call_end(answer ? nullptr : &answer.error(), {.capacity = std::move(permit->capacity)},
                      price);
  if (!answer) {
    co_await end_paid_call(job, permit->call, std::move(end));
    co_return provider::to_outcome(answer.error(), job.services.vision_provider);
  }
  store::PaidAnswer paid{.question_sha256 = question,
                         .model = std::string(kVisionModel),
                         .response_id = {},
                         .text = {},
                         .call = permit->call,
                         .cost_micros = provider::cost_of({}, price)};
  const auto& body = *answer->images.front();
  auto read = co_await blob::on_disk(job.services.threads, [&]() -> Result<ReadPage> {
    MR_TRY(auto seen, seen_page(body, size));
    paid.text = layout::page_json(seen.page);
    return seen;
  });
  if (!read) {
    paid.text = body;
    paid = refused_answer(std::move(paid), read.error().message);
  }
  if (paid.text.size() > kKeptBytesMax) {
    co_await end_paid_call(job, permit->call, std::move(end));
  } else if (auto ended = co_await keep_paid_answer(job, paid, std::move(end))) {
    co_return *std::move(ended);
  }
  if (!read) co_return unusable_answer(job, paid).outcome;
  co_return co_await keep_seen(job, *std::move(read), paid.cost_micros);
}

}  // namespace

Task<GroupMade> read_group(StageJob& job) {
  GroupMade group;
  std::vector<const store::DocumentWork::GroupPage*> wanted;
  for (const auto& one : job.work.group) {
    if (one.quarantined) {
      group.left.push_back(one.page.page);  // Fails by itself.
    } else {
      wanted.push_back(&one);
    }
  }
  if (wanted.empty()) co_return group;
  MR_CO_TRY(auto file, co_await steadily(*job.context, [&] {
              return job.services.contents.open(job.work.file.content);
            }));
  auto request = read_request(job, "auto");
  request.erase("page");
  json::Array pages;
  for (const auto* one : wanted) pages.emplace_back(one->page.page);
  request["pages"] = std::move(pages);
  sandbox::TaskSpec task{.request = to_json(request), .limits = job.limits()};
  task.limits.output_max_bytes = group_bytes(job);
  task.files.push_back(std::move(file));
  std::string lines;
  task.on_output = [&lines](std::span<const std::byte> piece) -> Task<void> {
    lines.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    co_return ok();
  };
  // However it ended: the pages that it came to are read, and the rest is for jobs of their own.
  MR_CO_TRY_VOID(co_await run_child(job, std::move(task)));
  auto made = co_await blob::on_disk(job.services.threads, [&] {
    const auto text = std::exchange(lines, {});
    return checked_lines(text, wanted.size());
  });
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].bytes.empty()) {
      group.left.push_back(wanted[i]->page.page);
    } else {
      group.done.push_back({.page = wanted[i], .made = std::move(made[i])});
    }
  }
  co_return group;
}

Task<Outcome> run_ocr(StageJob job) {
  // Equal pages wait beside each other: what killed the reader of one kills those of the others.
  if (auto stopped = stopped_by_quarantine(job)) co_return *std::move(stopped);
  const bool outside = job.stage->provider != kLocalProvider && job.stage->provider != kNoProvider;
  if (!outside) co_return co_await read_locally(job, job.option("mode", "auto"));
  if (job.services.vision == nullptr) {
    co_return Outcome::not_here(job.stage->provider, "provider is not configured on this worker");
  }
  // A page that brings its own text costs nothing: only pictures go to a service.
  if (job.work.page->text_chars >= kOwnTextChars && job.option("mode", "auto") != "ocr") {
    co_return co_await read_locally(job, "auto");
  }
  co_return co_await read_by_vision(job);
}

}  // namespace millrace::pipeline
