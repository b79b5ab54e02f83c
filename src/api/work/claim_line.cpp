#include "api/work/claim_line.h"

#include "base/assert.h"
#include "base/either.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace millrace::api {

using namespace either;
using std::chrono::milliseconds;

namespace {

// Where notifications arrive, looking by oneself can be rare.
constexpr int kListeningFactor = 5;
constexpr milliseconds kRetryListening{5'000};

}  // namespace

// Keeps the group while somebody waits in it.
class ClaimLine::Membership {
 public:
  Membership(ClaimLine& line, std::string name) : line_(line), name_(std::move(name)) {
    const std::lock_guard lock(line_.mutex_);
    ++line_.groups_[name_].members;
  }
  ~Membership() {
    const std::lock_guard lock(line_.mutex_);
    const auto group = line_.groups_.find(name_);
    if (--group->second.members == 0) line_.groups_.erase(group);
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  ClaimLine& line_;
  const std::string name_;
};

// The right to ask, of one member of the group at a time; ends with the object, whatever happens.
class ClaimLine::Turn {
 public:
  Turn(ClaimLine& line, const std::string& name, std::uint64_t round)
      : line_(line), name_(name), round_(round) {
    const std::lock_guard lock(line_.mutex_);
    auto& group = line_.groups_.at(name_);
    if (group.dry >= round_) return;
    if (group.asking) {
      other_ = group.asking;
      return;
    }
    group.asking = Event();
    mine_ = true;
  }
  ~Turn() { end(false); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool mine() const { return mine_; }
  // Set when the one who asks at present is done; nothing when the group is dry.
  const std::optional<Event>& other() const { return other_; }

  void end(bool dry) {
    if (!mine_) return;
    mine_ = false;
    std::optional<Event> done;
    {
      const std::lock_guard lock(line_.mutex_);
      auto& group = line_.groups_.at(name_);
      if (dry) group.dry = std::max(group.dry, round_);
      done = std::exchange(group.asking, std::nullopt);
    }
    MR_ASSERT(done.has_value());
    done->set();
  }

 private:
  ClaimLine& line_;
  const std::string& name_;
  const std::uint64_t round_;
  bool mine_ = false;
  std::optional<Event> other_;
};

ClaimLine::ClaimLine(store::WakeSource* wake, Clock& clock, const Logger& log,
                     milliseconds poll_interval)
    : wake_(wake), clock_(clock), log_(log), poll_interval_(poll_interval) {}

ClaimLine::Round ClaimLine::round() const {
  const std::lock_guard lock(mutex_);
  return round_;
}

void ClaimLine::ring() {
  Event ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::exchange(round_.ended, Event());
    ++round_.number;
  }
  ended.set();
}

Task<ClaimLine::Jobs> ClaimLine::claim(Waiting waiting, Calls calls) {
  const Membership membership(*this, waiting.group);
  auto beat_at = clock_.now() + waiting.beat_every;
  for (;;) {
    const auto now_round = round();
    std::optional<Event> wake_up = now_round.ended;
    {
      Turn turn(*this, waiting.group, now_round.number);
      if (turn.mine()) {
        // The first answer without a job has asked for a notification; what was committed before
        // that took effect is found by asking once more.
        for (int times = 0; times < 2; ++times) {
          MR_CO_TRY(auto jobs, co_await calls.ask());
          if (!jobs.empty()) co_return jobs;
        }
        turn.end(true);
      } else if (turn.other()) {
        wake_up = turn.other();
      }
    }
    const auto now = clock_.now();
    if (now >= waiting.until || waiting.cancel.cancelled()) co_return Jobs();
    used_.set();
    if (now >= beat_at) {
      MR_CO_TRY_VOID(co_await calls.beat());
      beat_at = clock_.now() + waiting.beat_every;
    }
    co_await pause(*wake_up, std::min(waiting.until, beat_at), waiting.cancel);
  }
}

awaitable<void> ClaimLine::pause(Event event, Clock::Steady until, CancelToken cancel) {
  co_await (event.wait() || clock_.sleep_until(until) || cancel.wait());
}

awaitable<void> ClaimLine::run() {
  co_await (used_.wait() || stopping_.wait());
  while (!stopping_.is_set()) {
    co_await next_round();
    ring();
  }
}

// Returns when there may be new jobs.
awaitable<void> ClaimLine::next_round() {
  if (wake_ == nullptr) {
    co_await (clock_.sleep_for(poll_interval_) || stopping_.wait());
    co_return;
  }
  const auto waited = co_await (wake_->wait(poll_interval_ * kListeningFactor) || stopping_.wait());
  const auto* hint = std::get_if<0>(&waited);
  if (hint == nullptr || hint->has_value()) co_return;
  // No notifications at present: rounds are as short as polling says until it is tried again.
  const auto& error = hint->error();
  log_.debug("wake_source_failed", {{"error", error.describe()}});
  if (error.kind == ErrorKind::invalid_argument) wake_ = nullptr;
  const auto again = clock_.now() + kRetryListening;
  while (!stopping_.is_set() && clock_.now() < again) {
    ring();
    co_await (clock_.sleep_for(poll_interval_) || stopping_.wait());
  }
}

void ClaimLine::stop() {
  stopping_.set();
  ring();
}

}  // namespace millrace::api
