#include "api/stream/state_stream.h"

#include "base/assert.h"
#include "base/either.h"
#include "base/event.h"

#include <utility>

namespace millrace::api {
namespace {

using namespace either;
using http::SseFrame;

// What happens within this time is told at once.
constexpr std::chrono::milliseconds kGather{20};

SseFrame state_frame(const StreamState& state, std::string_view name, std::string_view position) {
  auto frame = SseFrame::make({.data = state.json,
                               .event = state.end_mark.empty() ? name : "finished",
                               .id = ended_id(position, state.end_mark)});
  MR_ASSERT(frame.has_value());  // Made by us, in one line.
  return *std::move(frame);
}

// Whether anything has happened to the jobs behind what the client has seen.
Task<bool> has_missed(EventHub& hub, const StreamSubscription& subscription,
                      store::EventPosition after, StreamScope scope) {
  if (const auto events = subscription.remembered(after)) co_return !events->empty();
  MR_CO_TRY(const auto missed, co_await hub.missed(std::move(after), std::move(scope)));
  co_return missed.too_old || !missed.events.empty();
}

}  // namespace

Task<Reply> run_state_stream(Call& call, EventHub& hub,
                             std::unique_ptr<StreamSubscription> subscription, ReadState read) {
  MR_CO_TRY(auto state, co_await read());
  const auto back = read_return(call);
  if (back.came_back && !state.end_mark.empty() && back.end == state.end_mark) {
    hub.count_opened("stopped");
    co_return Reply::empty(204).with("Cache-Control", "no-store");
  }
  bool tell = true;
  if (back.after && state.end_mark.empty()) {
    MR_CO_TRY(tell,
              co_await has_missed(hub, *subscription, *back.after, subscription->reader().scope));
  }
  hub.count_opened(!back.came_back ? "new" : tell ? "snapshot" : "memory");
  MR_CO_TRY(auto stream, co_await call.response.start_events(stream_options(hub, {})));
  if (tell) {
    const auto frame = state_frame(state, "snapshot", subscription->position().text());
    if (!co_await stream.send(frame)) co_return Reply::done();
  }
  if (!state.end_mark.empty()) {
    stream.close();
    co_return Reply::done();
  }
  set_stream_end(subscription->reader(), hub, call.caller, {});
  Event changed;
  subscription->reader().on_event = [changed]() mutable { changed.set(); };
  subscription->attach(stream, std::nullopt);
  while (stream.is_open()) {
    co_await (changed.wait() || stream.closed());
    if (!stream.is_open()) break;
    co_await (hub.clock().sleep_for(kGather) || stream.closed());
    changed.reset();
    // Taken before the state is read: what happens meanwhile is told again rather than not at all.
    const auto position = subscription->position_now().text();
    auto now = co_await read();
    if (!now) {
      // Whoever comes back is told then.
      stream.close();
      break;
    }
    if (now->json == state.json && now->end_mark.empty()) continue;
    state = *std::move(now);
    if (!stream.push(state_frame(state, "progress", position))) break;
    if (!state.end_mark.empty()) stream.close();
  }
  co_await stream.closed();
  co_return Reply::done();
}

}  // namespace millrace::api
