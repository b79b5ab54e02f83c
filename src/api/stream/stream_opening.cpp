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
constexpr std::size_t kBufferMaxBytes = 64 * 1024;

struct Beginning {
  std::string_view how;
  std::vector<SseFrame> frames = {};
  std::optional<store::EventPosition> floor = {};
  bool ended = false;         // Nothing follows the frames.
  bool nothing_left = false;  // 204
};

SseFrame known_frame(Result<SseFrame> frame) {
  MR_ASSERT(frame.has_value());  // Our own words in one line.
  return *std::move(frame);
}

Result<SseFrame> state_frame(const StreamScope& scope, const std::string& state,
                             std::string_view id, bool missed) {
  return scope.job ? job_state_frame(state, id, missed) : batch_state_frame(state, id, missed);
}

// The state takes the place of events.
Result<Beginning> snapshot(StreamSubscription& subscription, const StreamStart& start,
                           bool missed) {
  const auto& scope = subscription.reader().scope;
  const auto id = subscription.position().text();
  Beginning out{.how = missed ? "snapshot" : "new", .ended = start.ended};
  if (scope.job || scope.batch) {
    MR_TRY(auto frame, state_frame(scope, start.state, id, missed));
    out.frames.push_back(std::move(frame));
  } else if (missed) {
    out.frames.push_back(missed_frame(id));
  } else {
    out.frames.push_back(known_frame(SseFrame::position(id)));
  }
  return out;
}

// Events that were missed, each with the id that leads behind it.
Task<Beginning> replay(EventHub& hub, StreamSubscription& subscription, const StreamStart& start,
                       std::vector<EventPtr> events, store::EventPosition floor,
                       std::string_view how) {
  const auto& scope = subscription.reader().scope;
  Beginning out{.how = how, .ended = start.ended};
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = *events[i];
    floor = join(floor, event.position);
    const auto id = floor.text();
    // The end of a job that was started again is one event among others.
    const bool last = i + 1 == events.size();
    if (!last || !ends(event, scope)) {
      out.frames.push_back(frame_of(event, scope, id));
      continue;
    }
    out.ended = true;
    auto state = start.state;
    if (!start.ended) {
      MR_CO_TRY(state, co_await hub.state_of(scope, event.stored.event_id));
    }
    MR_CO_TRY(auto frame, state_frame(scope, state, id, false));
    out.frames.push_back(std::move(frame));
  }
  out.floor = std::move(floor);
  co_return out;
}

Task<Beginning> begin(EventHub& hub, StreamSubscription& subscription, const StreamStart& start,
                      StreamReturn back) {
  if (!back.came_back) co_return snapshot(subscription, start, false);
  if (!back.after) co_return snapshot(subscription, start, true);
  // Of something that has ended the last event may not have been read here yet: the database knows.
  if (!start.ended) {
    if (auto events = subscription.remembered(*back.after)) {
      co_return co_await replay(hub, subscription, start, *std::move(events),
                                *std::move(back.after), "memory");
    }
  }
  MR_CO_TRY(auto missed, co_await hub.missed(*back.after, subscription.reader().scope));
  if (missed.too_old) co_return snapshot(subscription, start, true);
  if (start.ended && missed.events.empty()) {
    co_return Beginning{.how = "stopped", .nothing_left = true};
  }
  co_return co_await replay(hub, subscription, start, std::move(missed.events),
                            *std::move(back.after), "log");
}

http::SseOptions sse_options(EventHub& hub, const StreamStyle& style) {
  return {.buffer_max_bytes = kBufferMaxBytes,
          // Not all at once, when a server has gone.
          .retry = hub.random().jitter(kRetry, 0.5),
          .cache_control = style.cache_control};
}

// When the stream ends by itself.
void set_end(StreamReader& reader, EventHub& hub, const identity::Caller& caller,
             const StreamStyle& style) {
  auto age = hub.random().jitter(kAgeMax, 0.1);
  // A ticket is for opening a stream and expires soon; a token is for as long as it says.
  if (caller.expires_at && caller.method != identity::AuthMethod::stream_ticket) {
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

}  // namespace

StreamReturn read_return(const Call& call) {
  auto text = call.parameters.text("Last-Event-ID").value_or("");
  if (text.empty()) text = call.parameters.text("last_event_id").value_or("");
  if (text.empty()) return {};
  auto position = store::EventPosition::parse(text);
  if (!position) return {.came_back = true};
  return {.came_back = true, .after = *std::move(position)};
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
  MR_CO_TRY(auto stream, co_await call.response.start_events(sse_options(hub, start.style)));
  for (auto& frame : beginning.frames) {
    const auto sent = co_await stream.send(std::move(frame));
    if (!sent) co_return Reply::done();  // The client has gone; it knows where to go on.
  }
  if (beginning.ended) {
    stream.close();
    co_return Reply::done();
  }
  set_end(subscription->reader(), hub, call.caller, start.style);
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
