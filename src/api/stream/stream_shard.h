// StreamShard: the open streams of one thread of the server, and which events each of them gets.
//
// Flow: the hub posts what it has read to the shard of every thread; the shard finds the streams
// that an event is for by job, batch, queue, tenant and owner, and pushes one frame to all that get
// the same. A stream that has just been opened holds events back until its handler has sent what
// came before. Threading: everything on executor(), where the connections live: no lock. Lifetime:
// shared by the hub and by open streams; the streams leave before they go.
#pragma once

#include "api/stream/stream_event.h"
#include "base/clock.h"
#include "base/task.h"
#include "http/sse_stream.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace millrace::api {

inline constexpr std::size_t kHeldEventsMax = 1024;

// One open stream, or one that is being opened. In the memory of its handler.
struct StreamReader {
  StreamScope scope;
  StreamHolder holder = {};
  std::uint64_t number = 0;                        // The last event it was offered,
  std::uint64_t sent = 0;                          // and the last that it was sent.
  std::optional<http::SseStream> stream = {};      // Once it is attached.
  std::optional<store::EventPosition> floor = {};  // It has seen this already, from elsewhere.
  std::vector<EventPtr> held = {};
  bool missed = false;  // Something was not kept for it: it has to come back and resume.
  bool ended = false;   // Its last event is on the way.
  Clock::Steady ends_at = Clock::Steady::max();
  std::optional<http::SseFrame> farewell = {};  // Sent when its time is up.
  ResultLink link = {};                         // For its last event.
  // Told instead of being sent events: of a stream that makes its own (run_state_stream).
  std::function<void()> on_event = {};
};

class StreamShard {
 public:
  // The last event of a job or batch is completed with its state before it is sent: these streams
  // wait for it, each with the id it will get.
  struct Ending {
    EventPtr event;
    StreamScope scope;
    std::vector<std::pair<http::SseStream, std::string>> streams;
    ResultLink link = {};  // Of one stream, which is then alone.
  };
  struct Events {
    std::function<void(Ending ending)> on_ending;
    std::function<void(std::size_t frames)> on_sent;
    std::function<void()> on_cut;  // A client took its events too slowly, or had gone.
  };

  StreamShard(Executor executor, Events events, std::uint64_t number,
              store::EventPosition position);

  const Executor& executor() const { return executor_; }

  void enter(StreamReader& reader);  // From now on events are held for it.
  void leave(StreamReader& reader);
  // What was held goes to the stream, and then whatever comes.
  void attach(StreamReader& reader, http::SseStream stream,
              std::optional<store::EventPosition> floor);

  // To how many streams it was offered.
  std::size_t deliver(const EventPtr& event);
  // All up to `number` has been delivered; the log was read up to `position`.
  void arrive(std::uint64_t number, store::EventPosition position);
  // Ends streams whose time is up; `tell_position`: tells the others how far they are, so that a
  // quiet one can resume cheaply.
  void tick(Clock::Steady now, bool tell_position);
  // They come back and resume: the reader has lost its place in the log.
  void close_all();
  // These credentials are good no more: their streams end, and who comes back is refused.
  void close_holders(const store::RevokedHolders& revoked);

  std::uint64_t number() const { return number_; }
  const store::EventPosition& position() const { return position_; }
  std::size_t size() const { return all_.size(); }

 private:
  using Readers = std::vector<StreamReader*>;
  using Owner = std::pair<TenantId, Uuid>;

  void offer(StreamReader& reader, const EventPtr& event, std::optional<http::SseFrame>& frame);
  void send(StreamReader& reader, const EventPtr& event, std::optional<http::SseFrame>& frame);
  void push(StreamReader& reader, const http::SseFrame& frame);
  void end(StreamReader& reader, const EventPtr& event, std::string id);
  void offer_all(const Readers& readers, const EventPtr& event);
  void offer_owners(const EventPtr& event);
  void add(StreamReader& reader, bool enters);
  static void close(StreamReader& reader);
  void flush_endings();

  Executor executor_;
  Events events_;
  std::uint64_t number_;
  store::EventPosition position_;
  std::optional<store::EventPosition> told_;  // The position that quiet streams know.

  std::unordered_set<StreamReader*> all_;
  std::unordered_map<JobId, Readers> by_job_;
  std::unordered_map<BatchId, Readers> by_batch_;
  std::unordered_map<std::string, Readers> by_queue_;
  std::unordered_map<TenantId, Readers> by_tenant_;
  std::map<Owner, Readers> by_owner_;
  std::unordered_map<TenantId, std::size_t> owners_of_;  // How many of them a tenant has.
  Readers everything_;                                   // Of all tenants.
  std::vector<Ending> endings_;                          // Of the event that is being delivered.
  std::size_t offered_ = 0;                              // In deliver().
  std::size_t sent_ = 0;                                 // Not reported yet.
};

}  // namespace millrace::api
