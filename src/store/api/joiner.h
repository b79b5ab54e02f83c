// Joiner: calls that many requests make at the same time go to the database as one.
//
// Flow: a call that finds none of its caller under way goes at once, by itself. Otherwise it joins
// the group that gathers meanwhile, which leaves as a whole when all those under way have landed,
// or as soon as it is large enough to be worth another one, or its patience is at an end. So nobody
// waits for company, a busy server asks less often, and every answer comes from a call that began
// after its request had come.
// Only callers of the same context share a call: one role, one tenant, the same claims.
// Threading: any; whoever came first of a group makes its call, on its own executor. Lifetime:
// calls under way end before it goes away.
#pragma once

#include "base/assert.h"
#include "base/event.h"
#include "base/task.h"
#include "store/api/call_context.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millrace::store {

struct JoinOptions {
  std::size_t items_max = 64;  // In one call.
  // A group leaves beside n calls under way when it has n times as many items, or is full.
  std::size_t worth_another = 32;
  std::chrono::milliseconds patience{100};  // With calls under way that do not land.
  // Said of a call whose leader was thrown out: in_doubt where it may have written.
  ErrorKind lost = ErrorKind::unavailable;
};

template <class Item, class Answer>
class Joiner {
 public:
  using Answers = std::vector<Result<Answer>>;
  // As many answers as items, in their order; an error concerns all of them.
  using Send = std::function<Task<Answers>(CallContext caller, std::vector<Item> items)>;

  Joiner(JoinOptions options, Send send) : options_(options), send_(std::move(send)) {}
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  Task<Answer> call(CallContext caller, Item item) {
    auto place = enter(std::move(caller), std::move(item));
    if (place.leads) co_return co_await lead(std::move(place));
    if (!co_await place.group->landed.wait()) {
      co_return fail(ErrorKind::cancelled, "nobody waits for the answer any more");
    }
    co_return answer_of(place);
  }

  // Callers with calls under way.
  std::size_t lines() const {
    const std::lock_guard lock(mutex_);
    return lines_.size();
  }

 private:
  struct Group {
    std::string line;
    CallContext caller;
    std::vector<Item> items;  // Nobody adds to it once it has left.
    Event leaves;
    Event landed;
    std::optional<Result<Answers>> answers;  // Written before `landed` is set.
  };
  struct Line {
    std::size_t flights = 0;
    std::shared_ptr<Group> gathering;  // Shared with those who are in it.
  };
  struct Place {
    std::shared_ptr<Group> group;
    std::size_t index = 0;
    bool leads = false;
    bool waits = false;  // Until told to leave.
  };

  // Lands the group however its leader ends.
  struct Landing {
    Joiner& joiner;
    Group& group;
    ~Landing() {
      joiner.leave(group);
      group.landed.set();
    }
  };

  static std::string line_of(const CallContext& caller) {
    std::string key;
    key.reserve(caller.role.size() + caller.claims_json.size() + caller.actor.size() + 20);
    key.append(caller.role).push_back('\0');
    if (caller.tenant) {
      const auto& bytes = caller.tenant->value.bytes;
      key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    key.push_back(caller.tenant ? '\1' : '\0');
    key.append(caller.actor).push_back('\0');
    return key.append(caller.claims_json);
  }

  Place enter(CallContext caller, Item item) {
    auto key = line_of(caller);
    std::shared_ptr<Group> leaving;
    Place place;
    {
      const std::lock_guard lock(mutex_);
      auto& line = lines_[key];
      place.leads = line.gathering == nullptr;
      if (place.leads) {
        place.group = std::make_shared<Group>();
        place.group->line = std::move(key);
        place.group->caller = std::move(caller);
        place.waits = line.flights > 0;
        if (place.waits) {
          line.gathering = place.group;
        } else {
          ++line.flights;
        }
      } else {
        place.group = line.gathering;
        place.index = place.group->items.size();
      }
      place.group->items.push_back(std::move(item));
      if (line.gathering == place.group && is_worth_it(line)) leaving = take(line);
    }
    if (leaving) leaving->leaves.set();
    return place;
  }

  Task<Answer> lead(Place place) {
    auto& group = *place.group;
    const Landing landing{*this, group};
    if (place.waits && !co_await group.leaves.wait_for(options_.patience)) leave_now(group);
    group.answers = co_await send_(std::move(group.caller), std::move(group.items));
    co_return answer_of(place);
  }

  bool is_worth_it(const Line& line) const {
    const auto wanted = std::min(options_.items_max, line.flights * options_.worth_another);
    return line.gathering->items.size() >= wanted;
  }

  static std::shared_ptr<Group> take(Line& line) {
    ++line.flights;
    return std::exchange(line.gathering, nullptr);
  }

  void leave_now(const Group& group) {
    const std::lock_guard lock(mutex_);
    auto& line = lines_.at(group.line);
    if (line.gathering.get() == &group) (void)take(line);
  }

  // The group's call is over: one that gathered meanwhile may leave.
  void leave(Group& group) {
    std::shared_ptr<Group> next;
    {
      const std::lock_guard lock(mutex_);
      const auto found = lines_.find(group.line);
      MR_ASSERT(found != lines_.end());
      auto& line = found->second;
      if (line.gathering.get() == &group) {
        line.gathering.reset();  // Its leader was thrown out before it left.
      } else {
        --line.flights;
      }
      if (line.gathering && is_worth_it(line)) next = take(line);
      if (line.flights == 0 && !line.gathering) lines_.erase(found);
    }
    if (next) next->leaves.set();
  }

  Result<Answer> answer_of(const Place& place) const {
    auto& answers = place.group->answers;
    if (!answers) return fail(options_.lost, "the call was abandoned");
    if (!*answers) return fail(answers->error());
    MR_ASSERT(place.index < (*answers)->size());
    return std::move((**answers)[place.index]);
  }

  const JoinOptions options_;
  const Send send_;
  mutable std::mutex mutex_;  // Guards lines_ and what groups hold until they leave.
  std::unordered_map<std::string, Line> lines_;
};

}  // namespace millrace::store
