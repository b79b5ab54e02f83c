// EventHub: follows the durable event log, once for the whole process, and feeds all open streams.
//
// Flow: while anybody watches, one coroutine asks the database again and again what is new
// (millrace.read_events), on a pool of its own; a notification, where one comes, makes it ask at
// once. What it reads goes into the EventRing and to the StreamShard of every thread. It begins
// some events before the end of the log, for those whose server has just gone. Clients cost no
// query while they listen; one that comes back is told what it missed from the ring, or, where
// that does not reach, with one question (missed()). Threading: subscribe(), missed() and
// state_of() from the executors of connections; the rest on its own. Lifetime: what it refers to
// outlives it; stop() before it goes away, while the threads of the connections still run.
#pragma once

#include "api/keyed_cache.h"
#include "api/stream/event_ring.h"
#include "api/stream/stream_shard.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/event.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/spawn.h"
#include "store/api/events.h"
#include "store/api/jobs_read.h"
#include "store/wake_source.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

struct HubState;

// A stream's place among the others: from its beginning on no event is lost for it. In the memory
// of the handler, whose executor it belongs to.
class StreamSubscription {
 public:
  // Of somebody who has come (HubState::come).
  StreamSubscription(std::shared_ptr<HubState> state, StreamScope scope, StreamHolder holder);
  ~StreamSubscription();
  StreamSubscription(const StreamSubscription&) = delete;
  StreamSubscription& operator=(const StreamSubscription&) = delete;

  StreamReader& reader() { return reader_; }
  // Where it began: what was read up to here is not sent to it.
  const store::EventPosition& position() const { return position_; }
  // How far the stream has been told.
  const store::EventPosition& position_now() const { return shard_->position(); }
  // What the ring has between `after` and the beginning; nothing where it does not reach that far.
  std::optional<std::vector<EventPtr>> remembered(const store::EventPosition& after) const;
  // From now on events go to the stream, those since the beginning first. `floor`: what the client
  // has seen, if that is not simply all before the beginning.
  void attach(http::SseStream stream, std::optional<store::EventPosition> floor);

 private:
  friend class EventHub;
  void enter(std::shared_ptr<StreamShard> shard);

  std::shared_ptr<HubState> state_;     // Shared by the hub and all subscriptions.
  std::shared_ptr<StreamShard> shard_;  // Likewise.
  StreamReader reader_;
  std::uint64_t start_ = 0;  // The number of the last event before the beginning.
  store::EventPosition position_;
};

struct EventHubOptions {
  std::chrono::milliseconds poll{25};
  std::chrono::milliseconds quiet_poll{100};  // When nothing has happened for quiet_after.
  std::chrono::milliseconds quiet_after{5'000};
  std::chrono::milliseconds idle_after{60'000};  // The log is not read when nobody listens.
  std::chrono::milliseconds position_interval{10'000};
  std::chrono::milliseconds patience{10'000};  // Of a new stream with a database that is away.
  std::chrono::milliseconds hint_gap{5};       // However many hints come.
  std::chrono::milliseconds check_interval{
      60'000};  // Of credentials that streams were opened with.
  int read_max = 1000;
  int start_back = 4000;  // As many events are read when it begins, for those who come back.
  int missed_scan_max = 5000;
  std::size_t missed_jobs_max = 50'000;                 // Whose owners one client may ask for.
  std::size_t missed_bytes_max = 8 * 1024 * 1024;       // Of one client,
  std::size_t missed_bytes_all_max = 64 * 1024 * 1024;  // and of all together.
  std::size_t streams_per_user_max = 256;
  std::size_t streams_per_tenant_max = 15'000;
  EventRing::Limits ring = {};
};

class EventHub {
 public:
  struct Parts {
    store::EventStore& tail;    // On a pool that requests do not use.
    store::EventStore& events;  // For clients that come back.
    store::JobReader& jobs;
    store::WakeSource* wake = nullptr;  // Nothing: polling alone.
    Clock& clock;
    Random& random;
    Logger& log;
    MetricRegistry& registry;
  };

  EventHub(Executor executor, Parts parts, EventHubOptions options = {});
  ~EventHub();
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  void start();
  awaitable<void> stop();  // Safe twice and before start().

  // unavailable when the log cannot be read; throttled when the holder has too many already.
  Task<std::unique_ptr<StreamSubscription>> subscribe(StreamScope scope, StreamHolder holder = {});

  struct Missed {
    std::vector<EventPtr> events;
    bool too_old = false;  // Too old, or too many: a snapshot must take their place.
  };
  // From the database. unavailable while too much is on its way to others.
  Task<Missed> missed(store::EventPosition after, StreamScope scope);

  // The job or batch as it is now, after an event about it; many who ask get one answer.
  Task<std::string> state_of(StreamScope scope, std::int64_t event_id);

  std::size_t states_kept() const { return states_.size(); }

  // For the metric: how streams began ("new", "memory", "log", "snapshot", "stopped").
  void count_opened(std::string_view how);
  Clock& clock() { return parts_.clock; }
  Random& random() { return parts_.random; }

 private:
  awaitable<void> follow();
  awaitable<void> listen();
  awaitable<void> keep_time();
  awaitable<bool> wait_until_wanted();
  awaitable<void> pause(std::chrono::milliseconds time);
  Task<bool> begin();
  Task<bool> read_more();
  Task<std::vector<EventPtr>> make_events(std::vector<store::StoredEvent> stored);
  awaitable<void> publish(std::vector<EventPtr> events, store::EventPosition position);
  void lose_place();
  std::shared_ptr<StreamShard> shard_of(const Executor& executor);
  awaitable<void> finish(StreamShard::Ending ending);
  Task<std::string> ask_state(std::string key);
  awaitable<void> check_holders();

  Executor executor_;
  Parts parts_;
  EventHubOptions options_;
  std::shared_ptr<HubState> state_;  // Shared with subscriptions.
  std::optional<store::EventPosition> position_;
  std::uint64_t number_ = 0;
  std::int64_t behind_ = 0;  // As many events nobody is waiting for are to be read first.
  bool checking_ = false;    // Credentials, just now.
  Clock::Steady wanted_at_;
  Clock::Steady event_at_;
  Clock::Steady read_at_;
  Event hint_;
  CancelSource stopping_;
  TaskGroup tasks_;
  KeyedCache<std::string, std::string> states_;
  MetricFamily& open_;
  MetricFamily& opened_;
  MetricFamily& read_;
  MetricFamily& sent_;
  MetricFamily& cut_;
};

}  // namespace millrace::api
