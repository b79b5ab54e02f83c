// HubState: what the hub and its subscriptions share. Internal to api/stream.
#pragma once

#include "api/stream/event_ring.h"
#include "api/stream/stream_shard.h"
#include "base/event.h"
#include "base/result.h"
#include "base/spawn.h"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace millrace::api {

struct HubState {
  explicit HubState(EventRing::Limits limits) : ring(limits) {}

  // A shard, and the tasks on its executor that the hub waits for when it stops.
  struct Place {
    std::shared_ptr<StreamShard> shard;  // Shared with its subscriptions.
    std::unique_ptr<TaskGroup> tasks;
  };

  struct Bounds {
    std::size_t per_user_max;
    std::size_t per_tenant_max;
  };
  using Person = std::pair<TenantId, Uuid>;

  std::mutex mutex;  // Guards all up to `tokens`.
  EventRing ring;
  std::uint64_t number = 0;       // The last event that was published,
  store::EventPosition position;  // and how far the log was read.
  std::vector<Place> places;
  std::size_t streams = 0;
  std::unordered_map<TenantId, std::size_t> people;  // Streams of all jobs of a person, by tenant.
  // Streams by whose credentials they were opened with.
  std::unordered_map<TenantId, std::size_t> by_tenant;
  std::map<Person, std::size_t> by_person;
  std::unordered_map<std::string, std::size_t> tokens;

  // Of events that were read for clients which come back, until they have taken them.
  std::atomic<std::size_t> lent_bytes = 0;

  Event wanted;     // Set when somebody came while nobody listened.
  Event following;  // Set while the position in the log is known.
  // Held while the end of streams is added to the tasks of a place: what stop() does not see there
  // is not added any more.
  std::mutex ending;
  bool stopped = false;  // Guarded by `ending`.

  // throttled when one tenant, or one person, would have too many.
  Result<void> come(const StreamScope& scope, const StreamHolder& holder, const Bounds& bounds) {
    {
      const std::lock_guard lock(mutex);
      MR_TRY_VOID(check(holder, bounds));
      ++streams;
      if (scope.owner) ++people[*scope.tenant];
      if (holder.tenant) ++by_tenant[*holder.tenant];
      if (holder.tenant && holder.user) ++by_person[Person(*holder.tenant, *holder.user)];
      if (!holder.token_id.empty()) ++tokens[holder.token_id];
    }
    wanted.set();
    return ok();
  }
  void go(const StreamScope& scope, const StreamHolder& holder) {
    const std::lock_guard lock(mutex);
    --streams;
    if (scope.owner) one_less(people, *scope.tenant);
    if (holder.tenant) one_less(by_tenant, *holder.tenant);
    if (holder.tenant && holder.user) one_less(by_person, Person(*holder.tenant, *holder.user));
    if (!holder.token_id.empty()) one_less(tokens, holder.token_id);
  }
  // True when nobody listens, and then nothing is followed until somebody comes.
  bool rest() {
    const std::lock_guard lock(mutex);
    if (streams > 0) return false;
    following.reset();
    wanted.reset();
    return true;
  }
  std::set<TenantId> tenants_with_people() {
    const std::lock_guard lock(mutex);
    std::set<TenantId> tenants;
    for (const auto& [tenant, count] : people) tenants.insert(tenant);
    return tenants;
  }
  std::vector<std::shared_ptr<StreamShard>> shards() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<StreamShard>> all;
    for (const auto& place : places) all.push_back(place.shard);
    return all;
  }

 private:
  template <class Map, class Key>
  static void one_less(Map& map, const Key& key) {
    const auto found = map.find(key);
    if (--found->second == 0) map.erase(found);
  }
  template <class Map, class Key>
  static std::size_t count(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
  }
  Result<void> check(const StreamHolder& holder, const Bounds& bounds) const {
    if (!holder.tenant) return ok();
    if (holder.user &&
        count(by_person, Person(*holder.tenant, *holder.user)) >= bounds.per_user_max) {
      return fail(ErrorKind::throttled,
                  fmt::format("a user may have {} streams open at once", bounds.per_user_max));
    }
    if (count(by_tenant, *holder.tenant) >= bounds.per_tenant_max) {
      return fail(ErrorKind::throttled,
                  fmt::format("a tenant may have {} streams open at once", bounds.per_tenant_max));
    }
    return ok();
  }
};

// An event that one client is told, counted until it has taken it.
inline EventPtr lend(std::shared_ptr<HubState> state, StreamEvent event) {
  const auto bytes = event.size_bytes();
  state->lent_bytes += bytes;
  return {new StreamEvent(std::move(event)),
          [state = std::move(state), bytes](const StreamEvent* taken) {
            delete taken;
            state->lent_bytes -= bytes;
          }};
}

}  // namespace millrace::api
