// HubState: what the hub and its subscriptions share. Internal to api/stream.
#pragma once

#include "api/stream/event_ring.h"
#include "api/stream/stream_shard.h"
#include "base/event.h"
#include "base/spawn.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace millrace::api {

struct HubState {
  explicit HubState(EventRing::Limits limits) : ring(limits) {}

  // A shard, and the tasks on its executor that the hub waits for when it stops.
  struct Place {
    std::shared_ptr<StreamShard> shard;  // Shared with its subscriptions.
    std::unique_ptr<TaskGroup> tasks;
  };

  std::mutex mutex;  // Guards all up to `people`.
  EventRing ring;
  std::uint64_t number = 0;       // The last event that was published,
  store::EventPosition position;  // and how far the log was read.
  std::vector<Place> places;
  std::size_t streams = 0;
  std::unordered_map<TenantId, std::size_t> people;  // Streams of persons, by tenant.

  Event wanted;     // Set when somebody came while nobody listened.
  Event following;  // Set while the position in the log is known.
  std::atomic<bool> stopped = false;

  void come(const StreamScope& scope) {
    {
      const std::lock_guard lock(mutex);
      ++streams;
      if (scope.owner) ++people[*scope.tenant];
    }
    wanted.set();
  }
  void go(const StreamScope& scope) {
    const std::lock_guard lock(mutex);
    --streams;
    if (scope.owner && --people[*scope.tenant] == 0) people.erase(*scope.tenant);
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
};

}  // namespace millrace::api
