#include "store/api/event_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace millrace::store {
namespace {

constexpr std::size_t kTextMaxBytes = 8192;

// Digits and nothing else.
template <class Number>
std::optional<Number> number(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  Number value = 0;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

// Calls `take` with each piece between separators; false as soon as it says so.
template <class Take>
bool split(std::string_view text, char separator, Take take) {
  while (true) {
    const auto at = text.find(separator);
    if (!take(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

// "81-1203"
std::optional<EventPosition::Late> pair(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto xid = number<std::uint64_t>(text.substr(0, dash));
  const auto seq = number<std::int64_t>(text.substr(dash + 1));
  if (!xid || !seq) return std::nullopt;
  return EventPosition::Late{.xid = *xid, .seq = *seq};
}

std::unexpected<Error> no_position() {
  return fail(ErrorKind::invalid_argument, "the event id is none that this server gives");
}

}  // namespace

Result<EventSnapshot> EventSnapshot::parse(std::string_view text) {
  EventSnapshot snapshot;
  const auto first = text.find(':');
  const auto second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second != std::string_view::npos) {
    const auto xmax = number<std::uint64_t>(text.substr(first + 1, second - first - 1));
    const auto list = text.substr(second + 1);
    const bool good = list.empty() || split(list, ',', [&](std::string_view item) {
                        const auto xid = number<std::uint64_t>(item);
                        if (xid) snapshot.running.push_back(*xid);
                        return xid.has_value();
                      });
    if (xmax && good) {
      snapshot.xmax = *xmax;
      std::ranges::sort(snapshot.running);
      return snapshot;
    }
  }
  return fail(ErrorKind::internal, "the database sent a snapshot in a form that is not known");
}

bool EventSnapshot::runs(std::uint64_t xid) const {
  return xid >= xmax || std::ranges::binary_search(running, xid);
}

Result<EventPosition> EventPosition::parse(std::string_view text) {
  if (text.size() > kTextMaxBytes) return no_position();
  const auto tilde = text.find('~');
  const auto head = pair(text.substr(0, tilde));
  if (!head) return no_position();
  EventPosition position{.xid = head->xid, .seq = head->seq, .late = {}};
  if (tilde == std::string_view::npos) return position;
  const bool good = split(text.substr(tilde + 1), '.', [&](std::string_view item) {
    const auto late = pair(item);
    const bool in_order = late && (position.late.empty() || position.late.back().xid < late->xid);
    if (!in_order || late->xid >= position.xid || position.late.size() == kLateMax) return false;
    position.late.push_back(*late);
    return true;
  });
  if (!good) return no_position();
  return position;
}

EventPosition EventPosition::tail(std::uint64_t last, const std::vector<std::uint64_t>& running) {
  EventPosition position{.xid = last, .seq = std::numeric_limits<std::int64_t>::max(), .late = {}};
  for (const auto xid : running) position.late.push_back({.xid = xid, .seq = 0});
  // One that runs at the very end lies behind the position, rather than late below it.
  while (!position.late.empty() && position.late.back().xid == position.xid) {
    position.late.pop_back();
    --position.xid;
  }
  return position;
}

std::string EventPosition::text() const {
  auto out = fmt::format("{}-{}", xid, seq);
  for (std::size_t i = 0; i < late.size(); ++i) {
    out += fmt::format("{}{}-{}", i == 0 ? '~' : '.', late[i].xid, late[i].seq);
  }
  return out;
}

void EventPosition::pass_late(std::uint64_t event_xid, std::int64_t event_seq) {
  // They come in order of their transactions: one before this, of which something was read, has
  // ended and was read to its end.
  std::erase_if(late, [&](const Late& one) { return one.xid < event_xid && one.seq != 0; });
  for (auto& one : late) {
    if (one.xid == event_xid) one.seq = event_seq;
  }
}

bool EventPosition::pass(std::uint64_t event_xid, std::int64_t event_seq,
                         const EventSnapshot& snapshot) {
  // What runs below the event and above the old position becomes late now.
  std::vector<Late> more;
  for (const auto one : snapshot.running) {
    if (one > xid && one < event_xid) more.push_back({.xid = one, .seq = 0});
  }
  if (late.size() + more.size() > kLateMax) return false;
  late.insert(late.end(), more.begin(), more.end());
  xid = event_xid;
  seq = event_seq;
  return true;
}

void EventPosition::forget_ended(const EventSnapshot& snapshot) {
  std::erase_if(late, [&](const Late& one) { return !snapshot.runs(one.xid); });
}

}  // namespace millrace::store
