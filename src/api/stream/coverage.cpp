#include "api/stream/coverage.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace::api {
namespace {

using store::EventPosition;

constexpr auto kAll = std::numeric_limits<std::int64_t>::max();

// How far `position` has seen the events of a transaction; 0: none of them.
std::int64_t reach(const EventPosition& position, std::uint64_t xid) {
  if (xid > position.xid) return 0;
  if (xid == position.xid) return position.seq;
  const auto found = std::ranges::lower_bound(position.late, xid, {}, &EventPosition::Late::xid);
  return found != position.late.end() && found->xid == xid ? found->seq : kAll;
}

bool ahead(const EventPosition& a, const EventPosition& b) {
  return std::pair(a.xid, a.seq) > std::pair(b.xid, b.seq);
}

}  // namespace

bool covers(const EventPosition& position, std::uint64_t xid, std::int64_t event_id) {
  return event_id <= reach(position, xid);
}

bool includes(const EventPosition& all, const EventPosition& part) {
  if (ahead(part, all)) return false;
  // Below its own transaction `all` lacks nothing but events of late ones.
  return std::ranges::all_of(all.late,
                             [&](const auto& late) { return reach(part, late.xid) <= late.seq; });
}

EventPosition join(const EventPosition& a, const EventPosition& b) {
  const auto& most = ahead(b, a) ? b : a;
  const auto& other = ahead(b, a) ? a : b;
  EventPosition joined{.xid = most.xid, .seq = most.seq, .late = {}};
  for (const auto& late : most.late) {
    const auto seen = std::max(late.seq, reach(other, late.xid));
    if (seen != kAll) joined.late.push_back({.xid = late.xid, .seq = seen});
  }
  return joined;
}

}  // namespace millrace::api
