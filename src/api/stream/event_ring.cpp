#include "api/stream/event_ring.h"

#include "api/stream/coverage.h"

#include <utility>

namespace millrace::api {

void EventRing::begin(store::EventPosition position) {
  events_.clear();
  bytes_ = 0;
  start_ = std::move(position);
}

void EventRing::push(EventPtr event) {
  bytes_ += event->size_bytes();
  events_.push_back(std::move(event));
  while (events_.size() > limits_.events_max || bytes_ > limits_.bytes_max) {
    start_ = events_.front()->position;
    bytes_ -= events_.front()->size_bytes();
    events_.pop_front();
    if (events_.empty()) return;
  }
}

std::optional<std::vector<EventPtr>> EventRing::after(const store::EventPosition& after,
                                                      const StreamScope& scope,
                                                      std::uint64_t number) const {
  if (!start_ || !includes(after, *start_)) return std::nullopt;
  std::vector<EventPtr> out;
  for (const auto& event : events_) {
    if (event->number > number) break;
    if (covers(after, event->stored.xid, event->stored.event_id)) continue;
    const bool of_tenant = !scope.tenant || event->stored.tenant == *scope.tenant;
    if (scope.owner && of_tenant && !event->owners_known()) return std::nullopt;
    if (in_scope(*event, scope)) out.push_back(event);
  }
  return out;
}

}  // namespace millrace::api
