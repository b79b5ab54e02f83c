// EventPosition: how far somebody has read the durable event log; the id of an event in a stream.
//
// Events are ordered by (xid, event_id). A transaction that was still running when the reader
// passed it may commit later, below the position: such ones are remembered here, each with how far
// it was read, and their events are read when they have ended. So nothing is skipped, and nobody
// waits for a long transaction of somebody else. A position is text that any server can go on from:
// "81-1203" or "81-1203~79-0.80-0". Threading: a value.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

// What a call could see: PostgreSQL's "xmin:xmax:xip,xip".
struct EventSnapshot {
  std::uint64_t xmax = 0;              // The first transaction that had not begun.
  std::vector<std::uint64_t> running;  // Below xmax, in order.

  static Result<EventSnapshot> parse(std::string_view text);
  bool runs(std::uint64_t xid) const;
};

struct EventPosition {
  struct Late {
    std::uint64_t xid = 0;
    std::int64_t seq = 0;  // The last event of it that was read; 0: none.
    friend bool operator==(const Late&, const Late&) = default;
  };

  // As many as a position may remember: a reader that would need more waits for some to end.
  static constexpr std::size_t kLateMax = 200;

  std::uint64_t xid = 0;
  std::int64_t seq = 0;
  std::vector<Late> late;  // By xid.

  // invalid_argument for a text that is none.
  static Result<EventPosition> parse(std::string_view text);
  // Behind everything up to transaction `last`, except for those that run, in order.
  static EventPosition tail(std::uint64_t last, const std::vector<std::uint64_t>& running);
  std::string text() const;

  // Behind an event of a late transaction.
  void pass_late(std::uint64_t event_xid, std::int64_t event_seq);
  // Behind an event that lies behind the position, read with `snapshot`. False, and unchanged,
  // where more transactions would have to be remembered than a position can.
  bool pass(std::uint64_t event_xid, std::int64_t event_seq, const EventSnapshot& snapshot);
  // After all events of late transactions were read with `snapshot`: those that it shows as ended
  // are done with.
  void forget_ended(const EventSnapshot& snapshot);

  friend bool operator==(const EventPosition&, const EventPosition&) = default;
};

}  // namespace millrace::store
