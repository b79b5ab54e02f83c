// EventStore: the durable event log, for live streams.
//
// Flow: one reader per server process asks event_start and then read_events again and again;
// it hands what is new to the streams, in memory, each event with its position as id. A stream that
// comes back with such an id asks events_after for what it missed of its own scope; where that is
// too old or too much, a snapshot takes its place (jobs_read.h). Threading and lifetime: as
// ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/event_position.h"
#include "store/api/session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millrace::store {

struct StoredEvent {
  std::uint64_t xid = 0;      // Its transaction: with event_id its place in the log.
  std::int64_t event_id = 0;  // Unique, for telling apart what was seen before.
  std::string position;       // The text of the EventPosition behind it.
  std::string at;             // ISO 8601.
  TenantId tenant;
  std::string kind;   // job.completed, batch.progress …
  std::string queue;  // Empty: of no queue.
  std::vector<JobId> job_ids;
  std::string data_json;  // Empty: none.
};

struct EventBatch {
  std::vector<StoredEvent> events;
  EventPosition next;    // Where to go on.
  bool too_old = false;  // Events behind the position are gone, or too many were missed.
  bool more = false;     // There may be more at once.
};

// As far as given; of events_after.
struct EventScope {
  std::optional<TenantId> tenant = {};
  std::optional<std::string> queue = {};
  std::optional<JobId> job = {};
  std::optional<BatchId> batch = {};
};

struct JobOwner {
  JobId job;
  Uuid owner;
};

// Credentials that are good no more.
struct RevokedHolders {
  std::set<std::string> tokens = {};
  std::set<TenantId> tenants = {};  // Disabled.
};

class EventStore {
 public:
  virtual ~EventStore() = default;

  // Where a reader begins: before the last `back` events (up to 10000), or, of 0, behind all that
  // is committed now.
  virtual Task<EventPosition> event_start(int back) = 0;
  // At most `limit` (1 to 10000). `expand`: events about jobs of a lane name them all.
  virtual Task<EventBatch> read_events(EventPosition position, int limit, bool expand) = 0;
  // Looks at `scan_max` events and gives 4 MiB at most. `next` is only good for asking again.
  virtual Task<EventBatch> events_after(EventPosition position, EventScope scope, int scan_max) = 0;
  // Which users may see these jobs: events do not say. A job without an owner is not named.
  virtual Task<std::vector<JobOwner>> job_owners(std::vector<JobId> jobs) = 0;
  // Which of these tokens (their jti, or the id of an API key) and tenants may not read any more.
  virtual Task<RevokedHolders> revoked_holders(std::vector<std::string> tokens,
                                               std::vector<TenantId> tenants) = 0;
};

std::unique_ptr<EventStore> make_event_store(ApiSession& session);

}  // namespace millrace::store
