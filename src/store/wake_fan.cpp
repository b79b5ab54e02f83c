#include "store/wake_fan.h"

#include "base/either.h"
#include "base/event.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>
#include <variant>

namespace millrace::store {
namespace {

using namespace either;
using std::chrono::milliseconds;

constexpr milliseconds kCheck{30'000};
constexpr milliseconds kRetry{1'000};

}  // namespace

struct WakeFan::State {
  Event wanted;  // Somebody has asked.
  Event stopping;

  std::mutex mutex;         // Guards all below.
  Event changed;            // Set, and replaced by another one, when something below changes.
  std::uint64_t hints = 0;  // Counted, so that everybody can tell what is new to them.
  std::uint64_t failures = 0;
  bool listening = false;  // The source waits for hints.
  bool ended = false;      // And will not do so again.
  Error error;             // Why it failed last.

  void note_listening(bool hint) {
    Event old;
    {
      const std::lock_guard lock(mutex);
      if (listening && !hint) return;
      listening = true;
      if (hint) ++hints;
      old = std::exchange(changed, Event());
    }
    old.set();
  }
  void note_failure(Error why, bool final) {
    Event old;
    {
      const std::lock_guard lock(mutex);
      listening = false;
      ended = ended || final;
      ++failures;
      error = std::move(why);
      old = std::exchange(changed, Event());
    }
    old.set();
  }
};

class WakeFan::Outlet final : public WakeSource {
 public:
  explicit Outlet(std::shared_ptr<State> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->mutex);
    hints_ = state_->hints;
    failures_ = state_->failures;
  }

  Task<bool> wait(milliseconds timeout) override {
    state_->wanted.set();
    for (bool time_over = timeout <= milliseconds(0);;) {
      Event changed;
      bool listening = false;
      {
        const std::lock_guard lock(state_->mutex);
        if (std::exchange(hints_, state_->hints) != state_->hints) co_return true;
        const bool failed = std::exchange(failures_, state_->failures) != state_->failures;
        if (failed || state_->ended) co_return fail(state_->error);
        listening = state_->listening;
        if (listening && time_over) co_return false;
        changed = state_->changed;
      }
      if (listening) {
        co_await changed.wait_for(timeout);
        time_over = true;
      } else if (!co_await changed.wait()) {  // As with a source of one's own: until it is there.
        co_return fail(ErrorKind::cancelled, "nobody waits for hints any more");
      }
    }
  }

 private:
  std::shared_ptr<State> state_;  // Shared with the fan.
  std::uint64_t hints_ = 0;       // Up to here it was told.
  std::uint64_t failures_ = 0;
};

WakeFan::WakeFan(WakeSource& source, Clock& clock)
    : source_(source), clock_(clock), state_(std::make_shared<State>()) {}

WakeFan::~WakeFan() { stop(); }

std::unique_ptr<WakeSource> WakeFan::outlet() { return std::make_unique<Outlet>(state_); }

awaitable<void> WakeFan::run() {
  const auto state = state_;
  co_await (state->wanted.wait() || state->stopping.wait());
  auto timeout = milliseconds(0);  // The first wait only connects.
  while (!state->stopping.is_set()) {
    auto waited = co_await (source_.wait(timeout) || state->stopping.wait());
    auto* hint = std::get_if<0>(&waited);
    if (hint == nullptr) co_return;
    if (hint->has_value()) {
      state->note_listening(**hint);
      timeout = kCheck;
      continue;
    }
    const bool never = hint->error().kind == ErrorKind::invalid_argument;
    state->note_failure(std::move(*hint).error(), never);
    if (never) co_return;
    timeout = milliseconds(0);
    co_await (clock_.sleep_for(kRetry) || state->stopping.wait());
  }
}

void WakeFan::stop() {
  if (state_->stopping.is_set()) return;
  state_->stopping.set();
  state_->note_failure({.kind = ErrorKind::unavailable, .message = "nothing is listened to here"},
                       true);
}

}  // namespace millrace::store
