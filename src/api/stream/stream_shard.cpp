#include "api/stream/stream_shard.h"

#include "api/stream/coverage.h"
#include "base/assert.h"

#include <algorithm>
#include <utility>

namespace millrace::api {
namespace {

using http::SseFrame;

// One of the lists of readers, which is there only while somebody is in it.
template <class Map, class Key>
void change(Map& map, const Key& key, StreamReader& reader, bool enters) {
  auto& list = map[key];
  if (enters) {
    list.push_back(&reader);
    return;
  }
  std::erase(list, &reader);
  if (list.empty()) map.erase(key);
}

}  // namespace

StreamShard::StreamShard(Executor executor, Events events, std::uint64_t number,
                         store::EventPosition position)
    : executor_(std::move(executor)),
      events_(std::move(events)),
      number_(number),
      position_(std::move(position)) {}

void StreamShard::enter(StreamReader& reader) {
  reader.number = number_;
  add(reader, true);
}

void StreamShard::leave(StreamReader& reader) { add(reader, false); }

void StreamShard::add(StreamReader& reader, bool enters) {
  const auto& scope = reader.scope;
  if (enters) {
    all_.insert(&reader);
  } else if (all_.erase(&reader) == 0) {
    return;
  }
  if (scope.job) {
    change(by_job_, *scope.job, reader, enters);
  } else if (!scope.jobs.empty()) {
    for (const auto& job : scope.jobs) change(by_job_, job, reader, enters);
  } else if (scope.batch) {
    change(by_batch_, *scope.batch, reader, enters);
  } else if (scope.owner) {
    MR_ASSERT(scope.tenant.has_value());
    change(by_owner_, Owner(*scope.tenant, *scope.owner), reader, enters);
    auto& owners = owners_of_[*scope.tenant];
    owners = enters ? owners + 1 : owners - 1;
    if (owners == 0) owners_of_.erase(*scope.tenant);
  } else if (scope.queue) {
    change(by_queue_, *scope.queue, reader, enters);
  } else if (scope.tenant) {
    change(by_tenant_, *scope.tenant, reader, enters);
  } else if (enters) {
    everything_.push_back(&reader);
  } else {
    std::erase(everything_, &reader);
  }
}

void StreamShard::attach(StreamReader& reader, http::SseStream stream,
                         std::optional<store::EventPosition> floor) {
  reader.stream = std::move(stream);
  reader.floor = std::move(floor);
  if (reader.missed) {
    reader.stream->close();
    return;
  }
  for (const auto& event : std::exchange(reader.held, {})) {
    std::optional<SseFrame> frame;
    if (!reader.ended) send(reader, event, frame);
  }
  if (reader.floor && includes(position_, *reader.floor)) reader.floor.reset();
  flush_endings();
}

std::size_t StreamShard::deliver(const EventPtr& event) {
  offered_ = 0;
  if (event->number <= number_) return 0;
  const auto find = [&](const auto& map, const auto& key) {
    const auto found = map.find(key);
    if (found != map.end()) offer_all(found->second, event);
  };
  if (!by_job_.empty()) {
    for (const auto& job : event->stored.job_ids) find(by_job_, job);
  }
  if (event->batch) find(by_batch_, *event->batch);
  if (!event->stored.queue.empty()) find(by_queue_, event->stored.queue);
  find(by_tenant_, event->stored.tenant);
  if (owners_of_.contains(event->stored.tenant)) offer_owners(event);
  offer_all(everything_, event);
  number_ = event->number;
  position_ = event->position;
  flush_endings();
  return offered_;
}

void StreamShard::offer_all(const Readers& readers, const EventPtr& event) {
  std::optional<SseFrame> frame;  // The readers of one list get the same.
  offered_ += readers.size();
  for (auto* reader : readers) offer(*reader, event, frame);
}

void StreamShard::offer_owners(const EventPtr& event) {
  const auto& tenant = event->stored.tenant;
  if (event->owners_known()) {
    auto owners = event->owners;
    std::ranges::sort(owners);
    const auto repeated = std::ranges::unique(owners);
    owners.erase(repeated.begin(), repeated.end());
    for (const auto& owner : owners) {
      const auto found = by_owner_.find(Owner(tenant, owner));
      if (found != by_owner_.end()) offer_all(found->second, event);
    }
    return;
  }
  // Read before anybody asked whose jobs they are: whoever came since must look again.
  for (auto at = by_owner_.lower_bound(Owner(tenant, Uuid()));
       at != by_owner_.end() && at->first.first == tenant; ++at) {
    for (auto* reader : at->second) close(*reader);
  }
}

void StreamShard::offer(StreamReader& reader, const EventPtr& event,
                        std::optional<SseFrame>& frame) {
  if (event->number <= reader.number || reader.ended || reader.missed) return;
  reader.number = event->number;
  if (reader.scope.tenant && event->stored.tenant != *reader.scope.tenant) return;
  if (reader.stream) {
    send(reader, event, frame);
  } else if (reader.held.size() < kHeldEventsMax) {
    reader.held.push_back(event);
  } else {
    reader.missed = true;
    reader.held = {};
  }
}

void StreamShard::send(StreamReader& reader, const EventPtr& event,
                       std::optional<SseFrame>& frame) {
  if (reader.on_event) {
    reader.sent = event->number;
    reader.on_event();
    return;
  }
  std::string own_id;
  if (reader.floor) {
    if (covers(*reader.floor, event->stored.xid, event->stored.event_id)) return;
    if (includes(event->position, *reader.floor)) {
      reader.floor.reset();
    } else {
      // Until this server has read all that the client has seen, its ids would lead back.
      reader.floor = join(*reader.floor, event->position);
      own_id = reader.floor->text();
    }
  }
  reader.sent = event->number;
  if (ends(*event, reader.scope)) {
    end(reader, event, own_id.empty() ? event->stored.position : std::move(own_id));
  } else if (!own_id.empty()) {
    push(reader, frame_of(*event, reader.scope, own_id));
  } else if (reader.scope.source_words) {  // Others follow the same job in our own words.
    push(reader, frame_of(*event, reader.scope, event->stored.position));
  } else {
    if (!frame) {
      frame = reader.scope.wide() ? *event->frame
                                  : frame_of(*event, reader.scope, event->stored.position);
    }
    push(reader, *frame);
  }
}

void StreamShard::push(StreamReader& reader, const SseFrame& frame) {
  const bool was_open = reader.stream->is_open();
  if (reader.stream->push(frame)) {
    ++sent_;
  } else if (was_open) {
    events_.on_cut();
  }
}

void StreamShard::end(StreamReader& reader, const EventPtr& event, std::string id) {
  reader.ended = true;
  // Readers of one job come one after the other. Links are for one of them.
  const bool same = !reader.link && !endings_.empty() && !endings_.back().link &&
                    endings_.back().event == event &&
                    endings_.back().scope.job == reader.scope.job &&
                    endings_.back().scope.batch == reader.scope.batch;
  if (!same) {
    endings_.push_back(
        {.event = event, .scope = reader.scope, .streams = {}, .link = std::move(reader.link)});
  }
  endings_.back().streams.emplace_back(*reader.stream, std::move(id));
}

void StreamShard::flush_endings() {
  for (auto& ending : std::exchange(endings_, {})) events_.on_ending(std::move(ending));
}

void StreamShard::arrive(std::uint64_t number, store::EventPosition position) {
  number_ = number;
  position_ = std::move(position);
  if (sent_ > 0) events_.on_sent(std::exchange(sent_, 0));
}

void StreamShard::tick(Clock::Steady now, bool tell_position) {
  const bool tell = tell_position && told_ != position_;
  std::optional<SseFrame> frame;
  if (tell) {
    auto made = SseFrame::position(position_.text());
    MR_ASSERT(made.has_value());
    frame = *std::move(made);
    told_ = position_;
  }
  for (auto* reader : all_) {
    if (!reader->stream || reader->ended || !reader->stream->is_open()) continue;
    if (now >= reader->ends_at) {
      if (reader->farewell) push(*reader, *reader->farewell);
      reader->ended = true;
      reader->stream->close();
      continue;
    }
    if (!tell || reader->sent == number_) continue;
    if (reader->floor && includes(position_, *reader->floor)) reader->floor.reset();
    if (!reader->floor) push(*reader, *frame);
  }
  if (sent_ > 0) events_.on_sent(std::exchange(sent_, 0));
}

void StreamShard::close(StreamReader& reader) {
  reader.missed = true;
  if (reader.stream) reader.stream->close();
}

void StreamShard::close_all() {
  for (auto* reader : all_) close(*reader);
}

void StreamShard::close_holders(const store::RevokedHolders& revoked) {
  for (auto* reader : all_) {
    const auto& holder = reader->holder;
    const bool of_tenant = holder.tenant && revoked.tenants.contains(*holder.tenant);
    if (of_tenant || revoked.tokens.contains(holder.token_id)) close(*reader);
  }
}

}  // namespace millrace::api
