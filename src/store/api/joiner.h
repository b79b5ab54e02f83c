// Joiner: calls that many requests make at the same time go to the database as one.
//
// Flow: a call joins the group of its caller that gathers. Where none of that caller is under way a
// carrier starts. It boards: lets in those at the door, behind all that is ready to run, until they
// are many or nobody comes; for a call for few costs nearly as much as one for many. When it has
// landed it goes on with those who gathered meanwhile: at once if they are many, so that the
// database works already while answers are handed out, else it boards again. One more carrier
// starts for a group that is large enough to be worth it, or full, or whose patience is at an end.
// So nobody waits for company, a busy server asks less often, and every answer comes from a call
// that began after its request had come. Only callers of the same context share a call: one role,
// one tenant, the same claims.
// Threading: any; carriers run on the executor. Lifetime: calls under way end before it goes away.
#pragma once

#include "base/assert.h"
#include "base/event.h"
#include "base/spawn.h"
#include "base/task.h"
#include "store/api/call_context.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millrace::store {

struct JoinOptions {
  std::size_t items_max = 64;  // In one call.
  // A group leaves beside n calls under way when it has n times as many items, or is full; half as
  // many are enough while nobody else is at the door.
  std::size_t worth_another = 32;
  // With calls under way that do not land; at most twice as long.
  std::chrono::milliseconds patience{100};
  // Said of a call that was thrown out: in_doubt where it may have written.
  ErrorKind lost = ErrorKind::unavailable;
};

template <class Item, class Answer>
class Joiner {
 public:
  using Answers = std::vector<Result<Answer>>;
  // As many answers as items, in their order; an error concerns all of them.
  using Send = std::function<Task<Answers>(CallContext caller, std::vector<Item> items)>;

  // `log` outlives it.
  Joiner(Executor executor, Logger& log, JoinOptions options, Send send)
      : state_(std::make_shared<State>(std::move(executor), log, options, std::move(send))) {}
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  Task<Answer> call(CallContext caller, Item item) {
    const auto place = enter(std::move(caller), std::move(item));
    if (!co_await place.group->landed.wait()) {
      co_return fail(ErrorKind::cancelled, "nobody waits for the answer any more");
    }
    co_return answer_of(place);
  }

  // Callers with calls under way.
  std::size_t lines() const {
    const std::lock_guard lock(state_->mutex);
    return state_->lines.size();
  }

 private:
  struct Group {
    std::vector<Item> items;  // Nobody adds to it once it has left.
    bool seen = false;        // Has waited since the last look.
    Event landed;
    std::optional<Result<Answers>> answers;  // These two are written before `landed` is set.
    std::exception_ptr thrown;
    std::atomic<bool> heard = false;  // What was thrown: by one, so that it is told once.
  };
  using GroupPtr = std::shared_ptr<Group>;  // Shared by those who are in it and its carrier.

  struct Line {
    std::size_t carriers = 0;
    bool boarding = false;  // One of them has not left yet and takes along who gathers.
    GroupPtr gathering;
    std::size_t size() const { return gathering ? gathering->items.size() : 0; }
  };
  struct Hash {
    std::size_t operator()(const CallContext& caller) const {
      const std::hash<std::string_view> hash{};
      auto value = hash(caller.role) * 31 + hash(caller.claims_json);
      value = value * 31 + hash(caller.actor);
      return value * 31 + (caller.tenant ? std::hash<TenantId>()(*caller.tenant) : 0);
    }
  };
  using Lines = std::unordered_map<CallContext, Line, Hash>;
  using Entry = typename Lines::value_type;  // Stays where it is while it has carriers.

  struct State {
    State(Executor e, Logger& l, JoinOptions o, Send s)
        : executor(std::move(e)), log(l), options(o), send(std::move(s)) {}

    const Executor executor;
    Logger& log;
    const JoinOptions options;
    const Send send;
    std::mutex mutex;  // Guards all below, and groups until they leave.
    Lines lines;
    bool watching = false;  // Over groups that wait for others to land.
  };
  // Shared with carriers, which their context may destroy later than us.
  using StatePtr = std::shared_ptr<State>;

  // A carrier's place in its line. However the carrier ends, nobody counts on it any more.
  struct Flight {
    Flight(StatePtr s, Entry& e) : state(std::move(s)), entry(&e) {}
    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;
    ~Flight() {
      if (entry == nullptr) return;
      GroupPtr stranded;
      {
        const std::lock_guard lock(state->mutex);
        auto& line = entry->second;
        if (boarding) line.boarding = false;
        if (line.carriers == 1) stranded = std::move(line.gathering);
        leave();
      }
      for (const auto& told : {group, stranded}) {
        if (told) told->landed.set();
      }
    }

    // Many enough to leave, with so many under way, without a look at the door.
    bool are_many(std::size_t size, std::size_t flying) const {
      const auto wanted = state->options.worth_another;
      return size >= (flying == 0 ? wanted / 2 : flying * wanted);
    }

    // One look: goes on boarding while some come and they are few.
    void board() {
      const std::lock_guard lock(state->mutex);
      auto& line = entry->second;
      const auto flying = line.carriers - 1;
      const auto size = line.size();
      if (size > std::exchange(seen, size) && !are_many(size, flying)) return;
      line.boarding = boarding = false;
      // Those who are too few for that wait for the others.
      if (size >= flying * state->options.worth_another / 2) {
        group = std::exchange(line.gathering, nullptr);
      }
      if (!group) leave();
    }

    // The call is over.
    void land() {
      const auto landed = std::move(group);
      {
        const std::lock_guard lock(state->mutex);
        auto& line = entry->second;
        const auto size = line.size();
        const auto flying = line.carriers - (line.boarding ? 2 : 1);
        if (are_many(size, flying)) {
          group = std::exchange(line.gathering, nullptr);
        } else if (line.boarding || flying > 0) {
          leave();
        } else {
          line.boarding = boarding = true;
          seen = size;
        }
      }
      landed->landed.set();
    }

    void leave() {
      if (--entry->second.carriers == 0) state->lines.erase(state->lines.find(entry->first));
      entry = nullptr;
    }

    StatePtr state;
    Entry* entry;  // Null once it has left.
    GroupPtr group = nullptr;
    bool boarding = false;
    std::size_t seen = 0;  // By its last look at those who gather.
  };
  using FlightPtr = std::unique_ptr<Flight>;

  struct Place {
    GroupPtr group;
    std::size_t index = 0;
  };

  // With the lock held: one more carrier, which takes the group at once or boards.
  static FlightPtr new_flight(const StatePtr& state, Entry& entry, bool at_once) {
    auto& line = entry.second;
    auto flight = std::make_unique<Flight>(state, entry);
    ++line.carriers;
    if (at_once) {
      flight->group = std::exchange(line.gathering, nullptr);
    } else {
      line.boarding = flight->boarding = true;
      flight->seen = line.size();
    }
    return flight;
  }

  // Likewise: one where the group has become worth it.
  static FlightPtr flight_for(const StatePtr& state, Entry& entry) {
    const auto& line = entry.second;
    const auto size = line.size();
    if (size >= state->options.items_max) return new_flight(state, entry, true);
    const bool worth_it = size >= line.carriers * state->options.worth_another / 2;
    return worth_it && !line.boarding ? new_flight(state, entry, false) : nullptr;
  }

  Place enter(CallContext caller, Item item) {
    FlightPtr flight;
    Place place;
    bool watches = false;
    {
      const std::lock_guard lock(state_->mutex);
      auto& entry = *state_->lines.try_emplace(std::move(caller)).first;
      auto& line = entry.second;
      if (!line.gathering) line.gathering = std::make_shared<Group>();
      place = {.group = line.gathering, .index = line.gathering->items.size()};
      place.group->items.push_back(std::move(item));
      flight = flight_for(state_, entry);
      watches = !flight && !std::exchange(state_->watching, true);
    }
    if (flight) start(*state_, std::move(flight));
    if (watches) spawn_later(state_->executor, watch(state_), state_->log, "joined calls");
    return place;
  }

  static void start(State& state, FlightPtr flight) {
    spawn_later(state.executor, carry(std::move(flight)), state.log, "joined calls");
  }

  static awaitable<void> carry(FlightPtr flight) {
    bool others_ran = true;  // It was started behind them.
    for (;;) {
      while (flight->boarding) {
        if (!std::exchange(others_ran, false)) co_await others_first();
        flight->board();
      }
      if (!flight->group) co_return;
      auto& group = *flight->group;
      try {
        group.answers = co_await flight->state->send(flight->entry->first, std::move(group.items));
      } catch (...) {
        group.thrown = std::current_exception();  // Of those who still wait, one hears it.
      }
      flight->land();
      others_ran = false;
    }
  }

  static awaitable<void> watch(StatePtr state) {
    const Event never;
    do {
      (void)co_await never.wait_for(state->options.patience);
    } while (hurry(state));
  }

  // Whoever has waited since the last look goes now. False: nobody waits.
  static bool hurry(const StatePtr& state) {
    std::vector<FlightPtr> flights;
    bool waiting = false;
    {
      const std::lock_guard lock(state->mutex);
      flights.reserve(state->lines.size());
      for (auto& entry : state->lines) {
        const auto& line = entry.second;
        if (!line.gathering) continue;
        waiting = true;
        if (line.boarding || !std::exchange(line.gathering->seen, true)) continue;
        flights.push_back(new_flight(state, entry, true));
      }
      state->watching = waiting;
    }
    for (auto& flight : flights) start(*state, std::move(flight));
    return waiting;
  }

  Result<Answer> answer_of(const Place& place) const {
    auto& group = *place.group;
    if (group.thrown && !group.heard.exchange(true)) std::rethrow_exception(group.thrown);
    if (!group.answers) return fail(state_->options.lost, "the call was abandoned");
    if (!*group.answers) return fail(group.answers->error());
    MR_ASSERT(place.index < (*group.answers)->size());
    return std::move((**group.answers)[place.index]);
  }

  const StatePtr state_;
};

}  // namespace millrace::store
