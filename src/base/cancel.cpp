#include "base/cancel.h"

#include "base/event.h"

#include <mutex>
#include <utility>

namespace millrace {

struct CancelToken::State {
  std::stop_source stop;
  Event event;
  mutable std::mutex mutex;  // Guards reason and claimed.
  std::string reason;
  bool claimed = false;
};

namespace {

// The event is a copy in the coroutine's frame: the token may be gone while it waits.
awaitable<void> wait_for_event(Event event) { co_await event.wait(); }

}  // namespace

bool CancelToken::cancelled() const { return state_ && state_->stop.stop_requested(); }

std::string CancelToken::reason() const {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->reason;
}

awaitable<void> CancelToken::wait() const {
  return wait_for_event(state_ ? state_->event : Event());
}

CancelSource::CancelSource() : token_(std::make_shared<CancelToken::State>()) {}

bool CancelSource::cancel(std::string reason) {
  CancelToken::State& state = *token_.state_;
  {
    const std::lock_guard lock(state.mutex);
    if (state.claimed) return false;
    state.claimed = true;
    state.reason = std::move(reason);
  }
  // Callbacks may destroy what holds this source: work on a copy of the handle from here on.
  const CancelToken token = token_;
  token.state_->stop.request_stop();
  token.state_->event.set();
  return true;
}

bool CancelSource::untouched() const {
  return token_.state_.use_count() == 1 && !token_.cancelled();
}

CancelCallback::CancelCallback(const CancelToken& token, std::function<void()> call) {
  if (token.state_) callback_.emplace(token.state_->stop.get_token(), std::move(call));
}

}  // namespace millrace
