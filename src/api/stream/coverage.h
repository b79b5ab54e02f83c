// Coverage: which events a position stands behind, and how two positions relate.
//
// Two servers read the same log at different moments, so their positions differ: one remembers a
// transaction as late that the other saw ended. A client that changes servers brings a position of
// the first; these functions say, without asking the database, which events of the second it has
// seen. A position covers of each transaction the events up to some number: all of them below its
// own transaction, except for late ones. Pure.
#pragma once

#include "store/api/event_position.h"

#include <cstdint>

namespace millrace::api {

// Whether somebody at `position` has seen the event.
bool covers(const store::EventPosition& position, std::uint64_t xid, std::int64_t event_id);

// Whether whoever is at `all` has seen everything that somebody at `part` has seen.
bool includes(const store::EventPosition& all, const store::EventPosition& part);

// What both together have seen: the position of a client that got `a` from one server and is being
// sent what the other has read up to `b`.
store::EventPosition join(const store::EventPosition& a, const store::EventPosition& b);

}  // namespace millrace::api
