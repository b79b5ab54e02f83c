#include "api/stream/stream_opening.h"

#include "api/stream/coverage.h"
#include "base/assert.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

using http::SseFrame;
using std::chrono::milliseconds;

// Credentials are looked at when a stream begins: no later than after this time it begins anew.
constexpr milliseconds kAgeMax = std::chrono::hours(1);
constexpr milliseconds kRetry{2'000};
constexpr milliseconds kReplayMax{60'000};
constexpr std::size_t kBufferMaxBytes = 64 * 1024;

// What is sent before the live events, in this order.
struct Beginning {
  std::string_view how;
  std::optional<SseFrame> first = {};              // The state, or where the client is.
  std::vector<EventPtr> missed = {};               // Each becomes a frame when its turn has come.
  std::optional<SseFrame> end = {};                // Nothing follows it.
  std::optional<store::EventPosition> floor = {};  // What the client has seen.
  bool ended = false;
  bool nothing_left = false;  // 204
};

SseFrame known_frame(Result<SseFrame> frame) {
  MR_ASSERT(frame.has_value());  // Our own words in one line.
  return *std::move(frame);
}

Result<SseFrame> state_frame(const StreamScope& scope, const std::string& state,
                             std::string_view id, bool missed, const LinkedResult& linked) {
  return scope.job ? job_state_frame(state, id, missed, linked, scope.source_words)
                   : batch_state_frame(state, id, missed);
}

// The state takes the place of events.
Task<Beginning> snapshot(StreamSubscription& subscription, const StreamStart& start, bool missed) {
  const auto& scope = subscription.reader().scope;
  const auto id = subscription.position().text();
  Beginning out{.how = missed ? "snapshot" : "new", .ended = start.ended};
  if (scope.job || scope.batch) {
    const auto mark = start.ended ? end_mark(start.state) : std::string();
    LinkedResult linked;
    if (start.link) {
      MR_CO_TRY(linked, co_await linked_result(start.link, start.state));
    }
    MR_CO_TRY(out.first, state_frame(scope, start.state, ended_id(id, mark), missed, linked));
  } else if (missed) {
    out.first = missed_frame(id);
  } else {
    out.first = known_frame(SseFrame::position(id));
  }
  co_return out;
}

// Events that were missed, up to the end if that is among them.
Task<Beginning> replay(EventHub& hub, StreamSubscription& subscription, const StreamStart& start,
                       std::vector<EventPtr> events, store::EventPosition after,
                       std::string_view how) {
  const auto& scope = subscription.reader().scope;
  Beginning out{.how = how, .missed = std::move(events), .floor = after};
  const auto last = std::ranges::find_if(out.missed.rbegin(), out.missed.rend(),
                                         [&](const auto& event) { return ends(*event, scope); });
  if (last == out.missed.rend()) co_return out;
  auto state = start.state;
  if (!start.ended) {
    MR_CO_TRY(state, co_await hub.state_of(scope, (*last)->stored.event_id));
  }
  // The end of a job that was started again is one event among others.
  if (!end_of(scope, state)) co_return out;
  out.missed.erase(last.base(), out.missed.end());
  for (const auto& event : out.missed) after = join(after, event->position);
  LinkedResult linked;
  if (start.link) {
    MR_CO_TRY(linked, co_await linked_result(start.link, state));
  }
  MR_CO_TRY(out.end,
            state_frame(scope, state, ended_id(after.text(), end_mark(state)), false, linked));
  out.missed.pop_back();  // It is the end.
  out.ended = true;
  co_return out;
}

Task<Beginning> begin(EventHub& hub, StreamSubscription& subscription, const StreamStart& start,
                      StreamReturn back) {
  if (!back.came_back) co_return co_await snapshot(subscription, start, false);
  if (start.ended && !back.end.empty() && back.end == end_mark(start.state)) {
    co_return Beginning{.how = "stopped", .nothing_left = true};
  }
  if (!back.after) co_return co_await snapshot(subscription, start, true);
  // Of something that has ended the last event may not have been read here yet: the database knows.
  if (!start.ended) {
    if (auto events = subscription.remembered(*back.after)) {
      co_return co_await replay(hub, subscription, start, *std::move(events),
                                *std::move(back.after), "memory");
    }
  }
  MR_CO_TRY(auto missed, co_await hub.missed(*back.after, subscription.reader().scope));
  if (missed.too_old) co_return co_await snapshot(subscription, start, true);
  MR_CO_TRY(auto out, co_await replay(hub, subscription, start, std::move(missed.events),
                                      *std::move(back.after), "log"));
  // It has ended, and not behind what the client has seen: the client knows.
  if (start.ended && !out.ended) co_return Beginning{.how = "stopped", .nothing_left = true};
  co_return out;
}

// False: the stream is closed.
awaitable<bool> send_all(http::SseStream stream, const StreamScope& scope, Beginning& beginning,
                         Clock& clock) {
  const auto until = clock.now() + kReplayMax;
  if (beginning.first && !co_await stream.send(*std::move(beginning.first))) co_return false;
  for (auto& event : beginning.missed) {
    // What it missed is in memory until it has taken it; it can go on from where it is.
    if (clock.now() >= until) stream.close();
    beginning.floor = join(*beginning.floor, event->position);
    const auto id = beginning.floor->text();
    const bool same = scope.wide() && id == event->stored.position;
    if (!co_await stream.send(same ? *event->frame : frame_of(*event, scope, id))) co_return false;
    event.reset();
  }
  if (beginning.end && !co_await stream.send(*std::move(beginning.end))) co_return false;
  co_return true;
}

}  // namespace

http::SseOptions stream_options(EventHub& hub, const StreamStyle& style) {
  return {.buffer_max_bytes = kBufferMaxBytes,
          // Not all at once, when a server has gone.
          .retry = hub.random().jitter(kRetry, 0.5),
          .cache_control = style.cache_control};
}

void set_stream_end(StreamReader& reader, EventHub& hub, const identity::Caller& caller,
                    const StreamStyle& style) {
  auto age = hub.random().jitter(kAgeMax, 0.1);
  if (caller.expires_at) {
    const auto left = *caller.expires_at - identity::instant_of(hub.clock().wall());
    age = std::min(age, std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(left)));
  }
  if (style.timeout && *style.timeout <= age) {
    age = *style.timeout;
    reader.farewell = known_frame(
        SseFrame::make({.data = R"({"message":"Stream timeout"})", .event = "timeout"}));
  }
  reader.ends_at = hub.clock().now() + age;
}

StreamReturn read_return(const Call& call) {
  auto text = call.parameters.text("Last-Event-ID").value_or("");
  if (text.empty()) text = call.parameters.text("last_event_id").value_or("");
  if (text.empty()) return {};
  StreamReturn back{.came_back = true};
  if (const auto sign = text.find(kEndSign); sign != text.npos) {
    back.end = text.substr(sign + 1);
    text = text.substr(0, sign);
  }
  if (auto position = store::EventPosition::parse(text)) back.after = *std::move(position);
  return back;
}

bool accepts_events(const Call& call) {
  const auto accept = call.request.header("accept").value_or("");
  return accept.empty() || accept.contains("text/event-stream") || accept.contains("*/*") ||
         accept.contains("text/*");
}

Task<Reply> run_stream(Call& call, EventHub& hub, std::unique_ptr<StreamSubscription> subscription,
                       StreamStart start) {
  MR_CO_TRY(auto beginning, co_await begin(hub, *subscription, start, read_return(call)));
  hub.count_opened(beginning.how);
  if (beginning.nothing_left) co_return Reply::empty(204).with("Cache-Control", "no-store");
  MR_CO_TRY(auto stream, co_await call.response.start_events(stream_options(hub, start.style)));
  // A client that has gone knows where to go on.
  if (!co_await send_all(stream, subscription->reader().scope, beginning, hub.clock())) {
    co_return Reply::done();
  }
  if (beginning.ended) {
    stream.close();
    co_return Reply::done();
  }
  set_stream_end(subscription->reader(), hub, call.caller, start.style);
  subscription->reader().link = std::move(start.link);
  subscription->attach(stream, std::move(beginning.floor));
  // Thousands of streams wait here: each keeps what it needs and no more.
  beginning = {};
  start = {};
  call.caller.claims = {};
  call.parameters = {};
  co_await stream.closed();
  co_return Reply::done();
}

Task<Reply> run_missing(Call& call, StreamStyle style) {
  // Told once; who comes back with the id of that is told to stop.
  if (read_return(call).came_back) {
    co_return Reply::empty(204).with("Cache-Control", "no-store");
  }
  MR_CO_TRY(auto stream,
            co_await call.response.start_events({.cache_control = style.cache_control}));
  stream.push(known_frame(SseFrame::make(
      {.data = R"({"message":"Job not found"})", .event = "job_error", .id = "0-0"})));
  stream.close();
  co_return Reply::done();
}

}  // namespace millrace::api
