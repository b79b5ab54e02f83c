// EventRing: the events that this process read last, so that a client which was away for a moment
// is told what it missed without a question to the database.
//
// Bounded by number and by bytes; the oldest go first. It knows from which position on it is
// complete. Threading: its owner locks.
#pragma once

#include "api/stream/stream_event.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace millrace::api {

class EventRing {
 public:
  struct Limits {
    std::size_t events_max = 8192;
    std::size_t bytes_max = 16 * 1024 * 1024;
  };

  EventRing() : EventRing(Limits()) {}
  explicit EventRing(Limits limits) : limits_(limits) {}

  // Empty, and complete from `position` on.
  void begin(store::EventPosition position);
  void push(EventPtr event);

  // All events of the scope behind `after` up to the one with `number`, in order. Nothing where
  // some may have gone already, or where nobody knows whose jobs they are about.
  std::optional<std::vector<EventPtr>> after(const store::EventPosition& after,
                                             const StreamScope& scope, std::uint64_t number) const;

  std::size_t size() const { return events_.size(); }
  std::size_t size_bytes() const { return bytes_; }

 private:
  Limits limits_;
  std::deque<EventPtr> events_;
  std::size_t bytes_ = 0;
  std::optional<store::EventPosition> start_;  // Behind it everything is here.
};

}  // namespace millrace::api
