// A parser outside makes Markdown of a document: asked once, then looked after until it is done,
// has failed, or is given up.
//
// Between two looks the job waits without a worker and without an attempt (2 s, 4, 8 … 60 s, later
// 2 min); a webhook brings the next look forward and is never needed, and a look that fails is one
// that has seen nothing: the deadline, not the attempts, ends the wait for what is paid. What a
// delivery finds is in millrace.parse_request, so that any worker can go on after any death. The
// one thing that cannot be found out is whether an ask whose answer was lost was taken: it is asked
// again, and the first stays on the account as perhaps charged (F08).
#include "pipeline/parse_remote.h"

#include "pipeline/paid_call.h"
#include "pipeline/parsed.h"
#include "pipeline/remote_parsers.h"
#include "pipeline/shown_text.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace millrace::pipeline {
namespace {

using provider::Answer;
using provider::CallFailure;
using std::chrono::milliseconds;
using store::ParseState;

constexpr std::string_view kLlamaParse = "llamaparse";
constexpr std::string_view kMarkdown = "text/markdown";
constexpr milliseconds kFirstLook{2'000};
constexpr milliseconds kLastLook{60'000};
constexpr milliseconds kLongWait = std::chrono::hours(24);  // From then on twice that.
constexpr std::size_t kPagesToldMax = 50;

// One delivery of the job.
class RemoteParse {
 public:
  RemoteParse(StageJob& job, RemoteParsers& parsers)
      : job_(job),
        parsers_(parsers),
        held_{.job = job.id(), .token = job.context->job().token},
        by_llamaparse_(job.stage->provider == kLlamaParse) {}

  bool configured() const {
    return by_llamaparse_ ? parsers_.llamaparse != nullptr : parsers_.parser != nullptr;
  }
  Task<Outcome> run();

 private:
  // As limits and the account name it.
  std::string_view limited() const { return job_.stage->provider; }
  std::string parser_version() const {
    return by_llamaparse_ ? parsers_.llamaparse->parser_version()
                          : parsers_.parser->parser_version();
  }
  // The same content, parser and version give the same text.
  std::string request_sha256() const {
    return sha256_hex(job_.work.file.content.sha256 + parser_version());
  }
  provider::Price price(std::size_t pages) const {
    const auto micros = by_llamaparse_
                            ? parsers_.llamaparse_page_micros * static_cast<std::int64_t>(pages)
                            : parsers_.parser_document_micros;
    return {.per_call = micros};
  }

  Task<Outcome> ask();
  awaitable<Answer<std::string>> send(const ParseCapability& capability);
  Task<provider::ParseSource> source();
  Task<Outcome> not_asked(CallFailure failure, Uuid call);
  Task<Outcome> go_on(ParseState state);
  Task<Outcome> look(ParseState state);
  Task<Outcome> give_up(ParseState state, std::string error_type, std::string reason);
  Task<Outcome> finish(ParseState state, const std::vector<provider::ParsedPage>& pages);
  Task<Outcome> take_arrived(ParseState state);
  awaitable<void> settle_call(std::optional<Uuid> call, const CallFailure* failure,
                              std::size_t pages);
  Outcome wait(const ParseState& state, milliseconds at_least = {}) const;
  void end_in_settlement() { job_.context->in_settlement({store::end_parse_statement(job_.id())}); }

  StageJob& job_;
  RemoteParsers& parsers_;
  store::HeldJob held_;
  bool by_llamaparse_;
};

Task<Outcome> RemoteParse::run() {
  MR_CO_TRY(auto state, co_await steadily(*job_.context, [&] {
              return parsers_.store.find_parse(
                  held_, {.parser = job_.stage->provider, .request_sha256 = request_sha256()});
            }));
  if (!state || state->ask) co_return co_await ask();
  // One that failed in an earlier life of the job is asked for anew; who knows is the database.
  if (state->state == "failed" && job_.context->job().generation > 1) co_return co_await ask();
  co_return co_await go_on(*std::move(state));
}

Task<Outcome> RemoteParse::ask() {
  const auto pages = static_cast<std::size_t>(std::max(1, job_.work.document->page_count));
  const auto reserved = provider::cost_of({}, price(pages));
  auto permit = co_await begin_paid_call(job_, {.provider = std::string(limited()),
                                                .model = parser_version(),
                                                .request_sha256 = request_sha256(),
                                                .estimated_tokens = 0,
                                                .reserved_micros = reserved});
  if (!permit) co_return std::move(permit).error();
  const auto capability = parsers_.make_capability();
  auto asked = co_await steadily(*job_.context, [&] {
    return parsers_.store.ask_parse(held_, {.parser = job_.stage->provider,
                                            .capability_sha256 = capability.sha256,
                                            .deadline = parsers_.deadline,
                                            .call = permit->call});
  });
  const CallFailure unsent{.message = "not sent"};
  if (!asked || !asked->ask) co_await settle_call(permit->call, &unsent, 0);
  if (!asked) co_return fail(asked.error());
  if (!asked->ask) co_return co_await go_on(*std::move(asked));
  if (asked->previous_call) {
    const CallFailure lost{.error_type = "lost", .maybe_charged = true};
    co_await settle_call(asked->previous_call, &lost, 0);
    job_.context->log(LogLevel::warn,
                      "the parse is asked for again: nobody knows what became of the first time");
  }
  auto id = co_await send(capability);
  if (!id) co_return co_await not_asked(std::move(id).error(), permit->call);
  // From here to the next line a death costs a second ask.
  MR_CO_TRY(auto state, co_await steadily(*job_.context,
                                          [&] { return parsers_.store.note_asked(held_, *id); }));
  if (state.state != "waiting") co_return co_await go_on(std::move(state));
  co_return wait(state);
}

// A link, where the stage is to send one or the document is too large to be sent.
Task<provider::ParseSource> RemoteParse::source() {
  const auto& content = job_.work.file.content;
  provider::ParseSource out{.size_bytes = static_cast<std::uint64_t>(content.size_bytes),
                            .file_name = job_.work.file.name};
  const bool too_large = out.size_bytes > parsers_.llamaparse->upload_max_bytes();
  if ((parsers_.llamaparse_by_url || too_large) && parsers_.source_link) {
    MR_CO_TRY(const auto link, co_await parsers_.source_link(job_.work));
    out.url = link.reveal();
    co_return out;
  }
  MR_CO_TRY(const auto key, blob::BlobKey::parse(content.store_key));
  blob::ByteRange range;
  if (content.offset) {
    range = {.offset = static_cast<std::uint64_t>(*content.offset), .length = out.size_bytes};
  }
  MR_CO_TRY(auto reader, co_await job_.services.blobs.open(key, range));
  // Shared because a source is copied with its request.
  out.bytes = [reader = std::shared_ptr<blob::BlobReader>(std::move(reader))](
                  std::span<std::byte> buffer) { return reader->read(buffer); };
  co_return out;
}

awaitable<Answer<std::string>> RemoteParse::send(const ParseCapability& capability) {
  const auto ours = [](const Error& error) {
    return std::unexpected(
        CallFailure{.kind = CallFailure::Kind::retry,
                    .error_type = "source",
                    .message = "the document cannot be handed on: " + error.message});
  };
  const auto token = job_.context->token();
  if (by_llamaparse_) {
    auto given = co_await source();
    if (!given) co_return ours(given.error());
    co_return co_await parsers_.llamaparse->ask(*std::move(given), capability.callback, token);
  }
  auto link = co_await parsers_.source_link(job_.work);
  if (!link) co_return ours(link.error());
  co_return co_await parsers_.parser->ask({.job_id = job_.id().to_string(),
                                           .source_url = *std::move(link),
                                           .webhook_url = parsers_.webhook_url,
                                           .webhook_secret = parsers_.job_secret(job_.id())},
                                          token);
}

Task<Outcome> RemoteParse::not_asked(CallFailure failure, Uuid call) {
  co_await settle_call(call, &failure, 0);
  if (failure.kind == CallFailure::Kind::permanent) {
    MR_CO_TRY_VOID(co_await steadily(
        *job_.context, [&] { return parsers_.store.note_failed(held_, failure.message); }));
  } else if (!failure.maybe_charged && failure.kind != CallFailure::Kind::cancelled) {
    MR_CO_TRY_VOID(
        co_await steadily(*job_.context, [&] { return parsers_.store.withdraw(held_); }));
  }
  co_return provider::to_outcome(failure, limited());
}

Task<Outcome> RemoteParse::go_on(ParseState state) {
  if (state.state == "failed") {
    CallFailure failed{.kind = CallFailure::Kind::permanent,
                       .error_type = "parse_failed",
                       .message = state.reason};
    co_await settle_call(state.call, &failed, 0);
    co_return provider::to_outcome(failed, limited());
  }
  if (state.state == "arrived") {
    if (state.content) co_return co_await take_arrived(std::move(state));
    // Settled by another delivery; this one is told so when it settles.
    co_return Outcome::rescheduled("the parse has been settled", kFirstLook);
  }
  if (by_llamaparse_) co_return co_await look(std::move(state));
  if (state.left <= milliseconds::zero()) {
    co_return co_await give_up(std::move(state), "parse_deadline",
                               "the parser did not deliver in time");
  }
  co_return wait(state);
}

Task<Outcome> RemoteParse::look(ParseState state) {
  job_.context->set_asked(true);
  auto progress = co_await parsers_.llamaparse->look(state.remote_id, job_.context->token());
  const bool late = state.left <= milliseconds::zero();
  if (!progress) {
    auto failure = std::move(progress).error();
    if (failure.kind == CallFailure::Kind::permanent) {
      co_return co_await give_up(std::move(state), failure.error_type, failure.message);
    }
    if (late) {
      co_return co_await give_up(std::move(state), "parse_deadline", "the parse took too long");
    }
    if (failure.kind == CallFailure::Kind::retry) {
      job_.context->log(LogLevel::warn, fmt::format("{} did not say how far it is: {}", limited(),
                                                    failure.message));
      co_return wait(state, failure.retry_after.value_or(milliseconds::zero()));
    }
    co_return provider::to_outcome(failure, limited());
  }
  using State = provider::ParseProgress::State;
  if (progress->state == State::completed) {
    co_return co_await finish(std::move(state), progress->pages);
  }
  if (progress->state == State::failed) {
    co_return co_await give_up(std::move(state), "parse_failed", progress->error);
  }
  if (late)
    co_return co_await give_up(std::move(state), "parse_deadline", "the parse took too long");
  co_return wait(state);
}

Task<Outcome> RemoteParse::give_up(ParseState state, std::string error_type, std::string reason) {
  MR_CO_TRY(const auto noted, co_await steadily(*job_.context, [&] {
              return parsers_.store.note_failed(held_, reason);
            }));
  // It came at the last moment.
  if (noted.state == "arrived" && noted.content) co_return co_await take_arrived(noted);
  CallFailure failed{.kind = CallFailure::Kind::permanent,
                     .error_type = std::move(error_type),
                     .message = std::move(reason)};
  // Whether a parse that was not waited for is charged only the service knows.
  failed.maybe_charged = failed.error_type == "parse_deadline";
  co_await settle_call(state.call, &failed, 0);
  co_return provider::to_outcome(failed, limited());
}

Task<Outcome> RemoteParse::finish(ParseState state,
                                  const std::vector<provider::ParsedPage>& pages) {
  Parsed parsed{.parser_name = std::string(kLlamaParse),
                .parser_version = parser_version(),
                .page_count = static_cast<int>(pages.size())};
  for (const auto& page : pages) {
    if (page.success) continue;
    parsed.pages_failed.push_back(page.number);
    if (parsed.warnings.size() >= kPagesToldMax) continue;
    parsed.warnings.push_back(json::Object{
        {"rule", "page_failed"}, {"detail", fmt::format("page {} was not parsed", page.number)}});
  }
  const bool has_text = std::ranges::any_of(
      pages, [](const auto& page) { return page.success && shows_text(page.markdown); });
  if (!has_text) {
    // Blank pages are charged like others.
    const auto blank = std::ranges::count_if(pages, &provider::ParsedPage::success);
    if (blank > 0) co_await settle_call(state.call, nullptr, static_cast<std::size_t>(blank));
    co_return co_await give_up(std::move(state), "no_text", "no page of the document has a text");
  }
  const auto text = provider::join_pages(pages);
  MR_CO_TRY(parsed.markdown, co_await steadily(*job_.context, [&] {
              return keep_content(job_.services.blobs, text, std::string(kMarkdown));
            }));
  parsed.meta["remote_id"] = state.remote_id;
  parsed.meta["asks"] = state.asks;
  parsed.meta["file_bytes"] = job_.work.file.content.size_bytes;
  co_await settle_call(state.call, nullptr, pages.size());
  end_in_settlement();
  co_return settled_parse(job_, std::move(parsed));
}

Task<Outcome> RemoteParse::take_arrived(ParseState state) {
  Parsed parsed{.parser_name = std::string(limited()), .parser_version = parser_version()};
  MR_CO_TRY(parsed.markdown, co_await steadily(*job_.context, [&] {
              return keep_again(job_.services.blobs, state.content->store_key,
                                std::string(kMarkdown));
            }));
  parsed.meta["remote_id"] = state.remote_id;
  parsed.meta["asks"] = state.asks;
  parsed.meta["file_bytes"] = job_.work.file.content.size_bytes;
  co_await settle_call(state.call, nullptr, 1);
  end_in_settlement();
  co_return settled_parse(job_, std::move(parsed));
}

awaitable<void> RemoteParse::settle_call(std::optional<Uuid> call, const CallFailure* failure,
                                         std::size_t pages) {
  if (!call) co_return;
  co_await end_paid_call(job_, *call,
                         call_end(failure, {.usage = {.reported = true}}, price(pages)));
}

// Not past the deadline.
Outcome RemoteParse::wait(const ParseState& state, milliseconds at_least) const {
  const auto pause = std::max(pause_after(state.waited), at_least);
  const auto left = std::max(state.left, milliseconds::zero()) + milliseconds(1'000);
  return Outcome::rescheduled(fmt::format("waiting for {}", limited()), std::min(pause, left));
}

}  // namespace

milliseconds pause_after(milliseconds waited) {
  return std::clamp(waited, kFirstLook, waited < kLongWait ? kLastLook : 2 * kLastLook);
}

Task<Outcome> run_parse_remote(StageJob job) {
  const auto& name = job.stage->provider;
  auto* parsers = job.services.parsers;
  if (parsers != nullptr) {
    RemoteParse parse(job, *parsers);
    if (parse.configured()) co_return co_await parse.run();
  }
  co_return Outcome::not_here(name,
                              fmt::format("provider {} is not configured on this worker", name));
}

}  // namespace millrace::pipeline
