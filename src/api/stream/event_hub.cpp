#include "api/stream/event_hub.h"

#include "api/stream/hub_state.h"
#include "base/assert.h"
#include "base/either.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <variant>

namespace millrace::api {
namespace {

namespace asio = boost::asio;
using namespace either;
using std::chrono::milliseconds;

constexpr std::size_t kOffersAtOnce = 4000;  // Then other work of the thread has its turn.
constexpr std::size_t kOwnersAtOnce = 5000;
constexpr milliseconds kTick{1000};
constexpr milliseconds kListenCheck{30'000};
constexpr milliseconds kBackoffMin{100};
constexpr milliseconds kBackoffMax{2'000};
constexpr std::string_view kInvalidBatch = "MR018";  // Of one that does not exist, too.

// What goes to all shards at once, and when all of them are done with it.
struct Round {
  std::vector<EventPtr> events;
  std::uint64_t number = 0;
  store::EventPosition position;
  std::atomic<std::size_t> left = 0;
  Event done;
};

// On the shard's executor. Many events for many streams take long: between them others may run.
void deliver(std::shared_ptr<StreamShard> shard, std::shared_ptr<Round> round, std::size_t first) {
  std::size_t offers = 0;
  for (std::size_t i = first; i < round->events.size(); ++i) {
    if (offers > kOffersAtOnce) {
      const auto executor = shard->executor();
      asio::post(executor, [shard = std::move(shard), round = std::move(round), i]() mutable {
        deliver(std::move(shard), std::move(round), i);
      });
      return;
    }
    offers += shard->deliver(round->events[i]);
  }
  shard->arrive(round->number, round->position);
  if (round->left.fetch_sub(1) == 1) round->done.set();
}

// As far as is known, the job or batch is not there any more.
bool is_gone(const Error& error) {
  return error.kind == ErrorKind::not_found || error.sqlstate == kInvalidBatch;
}

// The job or batch of a key that state_of() made.
std::pair<char, Uuid> read_key(const std::string& key) {
  const auto id = Uuid::parse(std::string_view(key).substr(1, 36));
  MR_ASSERT(id.has_value());
  return {key.front(), *id};
}

}  // namespace

StreamSubscription::StreamSubscription(std::shared_ptr<HubState> state, StreamScope scope,
                                       StreamHolder holder)
    : state_(std::move(state)), reader_{.scope = std::move(scope), .holder = std::move(holder)} {}

StreamSubscription::~StreamSubscription() {
  if (shard_) shard_->leave(reader_);
  state_->go(reader_.scope, reader_.holder);
}

void StreamSubscription::enter(std::shared_ptr<StreamShard> shard) {
  shard_ = std::move(shard);
  shard_->enter(reader_);
  start_ = reader_.number;
  position_ = shard_->position();
}

std::optional<std::vector<EventPtr>> StreamSubscription::remembered(
    const store::EventPosition& after) const {
  const std::lock_guard lock(state_->mutex);
  return state_->ring.after(after, reader_.scope, start_);
}

void StreamSubscription::attach(http::SseStream stream, std::optional<store::EventPosition> floor) {
  shard_->attach(reader_, std::move(stream), std::move(floor));
}

EventHub::EventHub(Executor executor, Parts parts, EventHubOptions options)
    : executor_(std::move(executor)),
      parts_(parts),
      options_(options),
      state_(std::make_shared<HubState>(options.ring)),
      tasks_(executor_, parts.log),
      states_(parts.clock, {.ttl = milliseconds(5'000), .entries_max = 256},
              [this](std::string key) { return ask_state(std::move(key)); }),
      open_(parts.registry.family(
          {.name = "millrace_streams", .help = "Open event streams.", .kind = MetricKind::gauge})),
      opened_(parts.registry.family({.name = "millrace_streams_opened_total",
                                     .help = "Event streams by the way they began.",
                                     .labels = {"from"}})),
      read_(parts.registry.family(
          {.name = "millrace_stream_events_total", .help = "Events that were read for streams."})),
      sent_(parts.registry.family(
          {.name = "millrace_stream_frames_total", .help = "Frames that were sent to streams."})),
      cut_(parts.registry.family({.name = "millrace_streams_cut_total",
                                  .help = "Streams whose client was too slow or had gone."})) {}

EventHub::~EventHub() = default;

void EventHub::start() {
  wanted_at_ = event_at_ = parts_.clock.now();
  tasks_.add("event hub", follow());
  tasks_.add("event hub time", keep_time());
  if (parts_.wake != nullptr) tasks_.add("event hub listener", listen());
}

awaitable<void> EventHub::stop() {
  stopping_.cancel("stopping");
  hint_.set();
  state_->wanted.set();
  co_await tasks_.join();
  {
    const std::lock_guard lock(state_->ending);
    state_->stopped = true;
  }
  std::vector<TaskGroup*> groups;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& place : state_->places) groups.push_back(place.tasks.get());
  }
  for (auto* group : groups) co_await group->join();
}

Task<std::unique_ptr<StreamSubscription>> EventHub::subscribe(StreamScope scope,
                                                              StreamHolder holder) {
  const auto executor = co_await asio::this_coro::executor;
  MR_CO_TRY_VOID(state_->come(scope, holder,
                              {.per_user_max = options_.streams_per_user_max,
                               .per_tenant_max = options_.streams_per_tenant_max}));
  auto subscription =
      std::make_unique<StreamSubscription>(state_, std::move(scope), std::move(holder));
  auto following = state_->following;
  if (!following.is_set() && !stopping_.cancelled()) {
    co_await (following.wait_for(options_.patience) || stopping_.token().wait());
  }
  if (!following.is_set() || stopping_.cancelled()) {
    co_return fail(ErrorKind::unavailable, "the event log cannot be read at present");
  }
  subscription->enter(shard_of(executor));
  co_return std::move(subscription);
}

std::shared_ptr<StreamShard> EventHub::shard_of(const Executor& executor) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& place : state_->places) {
    if (place.shard->executor() == executor) return place.shard;
  }
  auto tasks = std::make_unique<TaskGroup>(executor, parts_.log);
  StreamShard::Events events{
      .on_ending =
          [this, state = state_.get(), group = tasks.get()](StreamShard::Ending ending) {
            const std::lock_guard lock(state->ending);
            if (!state->stopped) group->add("end of streams", finish(std::move(ending)));
          },
      .on_sent = [this](std::size_t frames) { sent_.counter().add(static_cast<double>(frames)); },
      .on_cut = [this] { cut_.counter().add(); }};
  auto shard =
      std::make_shared<StreamShard>(executor, std::move(events), state_->number, state_->position);
  state_->places.push_back({.shard = shard, .tasks = std::move(tasks)});
  return shard;
}

awaitable<void> EventHub::follow() {
  auto backoff = kBackoffMin;
  while (!stopping_.cancelled()) {
    if (!co_await wait_until_wanted()) continue;
    auto read = co_await (read_more() || stopping_.token().wait());
    const auto* more = std::get_if<0>(&read);
    if (more == nullptr) co_return;
    if (!more->has_value()) {
      // Streams stay open: they go on where they are when the database is back.
      if (backoff == kBackoffMin) {
        parts_.log.warn("event_log_away", {{"error", more->error().describe()}});
      }
      co_await pause(parts_.random.jitter(backoff, 0.3));
      backoff = std::min(backoff * 2, kBackoffMax);
      continue;
    }
    backoff = kBackoffMin;
    if (**more) continue;
    const bool quiet = parts_.clock.now() - event_at_ > options_.quiet_after;
    co_await pause(parts_.random.jitter(quiet ? options_.quiet_poll : options_.poll, 0.2));
  }
}

// False: look again.
awaitable<bool> EventHub::wait_until_wanted() {
  const auto now = parts_.clock.now();
  bool wanted = false;
  {
    const std::lock_guard lock(state_->mutex);
    wanted = state_->streams > 0;
  }
  if (wanted) wanted_at_ = now;
  if (wanted) co_return true;
  // For a while the ring is kept up: clients that lost their server come back.
  if (position_ && now - wanted_at_ < options_.idle_after) co_return true;
  if (!state_->rest()) co_return false;
  position_.reset();
  co_await (state_->wanted.wait() || stopping_.token().wait());
  co_return false;
}

awaitable<void> EventHub::pause(milliseconds time) {
  auto hint = hint_;
  co_await (parts_.clock.sleep_for(time) || hint.wait());
  if (stopping_.cancelled()) co_return;
  hint_.reset();
  // Hints may come by the hundred in a second.
  const auto gap = read_at_ + options_.hint_gap - parts_.clock.now();
  if (gap > gap.zero()) co_await (parts_.clock.sleep_for(gap) || stopping_.token().wait());
}

// The first events are for the ring only: nobody is let in before they are read.
Task<bool> EventHub::begin() {
  MR_CO_TRY(auto start, co_await parts_.tail.event_start(options_.start_back));
  {
    const std::lock_guard lock(state_->mutex);
    state_->ring.begin(start);
  }
  co_await publish({}, start);
  position_ = std::move(start);
  behind_ = options_.start_back;
  co_return true;
}

// True: there may be more at once.
Task<bool> EventHub::read_more() {
  if (!position_) co_return co_await begin();
  read_at_ = parts_.clock.now();
  MR_CO_TRY(auto batch, co_await parts_.tail.read_events(*position_, options_.read_max, true));
  if (batch.too_old) {
    lose_place();
    co_return true;
  }
  behind_ = batch.more ? behind_ - std::ssize(batch.events) : 0;
  MR_CO_TRY(auto events, co_await make_events(std::move(batch.events)));
  if (!events.empty()) {
    event_at_ = parts_.clock.now();
    read_.counter().add(static_cast<double>(events.size()));
  }
  if (!events.empty() || batch.next != *position_) {
    co_await publish(std::move(events), batch.next);
  }
  position_ = std::move(batch.next);
  if (behind_ <= 0) state_->following.set();
  co_return batch.more;
}

// What was committed behind the position is not there any more, or the database is another one (a
// restored backup). Nobody can be told what happened between: all come back and get a snapshot.
void EventHub::lose_place() {
  parts_.log.warn("event_log_lost_place", {{"position", position_->text()}});
  state_->following.reset();
  position_.reset();
  for (const auto& shard : state_->shards()) {
    asio::post(shard->executor(), [shard] { shard->close_all(); });
  }
}

Task<std::vector<EventPtr>> EventHub::make_events(std::vector<store::StoredEvent> stored) {
  // Asked before anything is published: an event must not pass by a person's stream unseen.
  const auto tenants = state_->tenants_with_people();
  std::vector<JobId> jobs;
  for (const auto& event : stored) {
    if (tenants.contains(event.tenant)) {
      jobs.insert(jobs.end(), event.job_ids.begin(), event.job_ids.end());
    }
  }
  std::unordered_map<JobId, Uuid> owners;
  for (std::size_t first = 0; first < jobs.size(); first += kOwnersAtOnce) {
    const auto end = std::min(jobs.size(), first + kOwnersAtOnce);
    MR_CO_TRY(const auto found,
              co_await parts_.tail.job_owners(std::vector<JobId>(
                  jobs.begin() + static_cast<long>(first), jobs.begin() + static_cast<long>(end))));
    for (const auto& [job, owner] : found) owners.emplace(job, owner);
  }
  std::vector<EventPtr> events;
  events.reserve(stored.size());
  for (auto& event : stored) {
    std::vector<Uuid> owned;
    if (tenants.contains(event.tenant)) {
      for (const auto& job : event.job_ids) {
        const auto owner = owners.find(job);
        owned.push_back(owner == owners.end() ? Uuid() : owner->second);
      }
    }
    auto made = make_stream_event(std::move(event), number_ + 1, std::move(owned));
    if (!made) {
      parts_.log.error("event_unreadable", {{"error", made.error().message}});
      continue;
    }
    ++number_;
    events.push_back(std::make_shared<const StreamEvent>(*std::move(made)));
  }
  co_return events;
}

awaitable<void> EventHub::publish(std::vector<EventPtr> events, store::EventPosition position) {
  auto round = std::make_shared<Round>();  // Shared by the shards that are at it.
  std::vector<std::shared_ptr<StreamShard>> shards;
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& event : events) state_->ring.push(event);
    state_->number = number_;
    state_->position = position;
    for (const auto& place : state_->places) shards.push_back(place.shard);
  }
  if (shards.empty()) co_return;
  round->events = std::move(events);
  round->number = number_;
  round->position = std::move(position);
  round->left = shards.size();
  for (auto& shard : shards) {
    const auto executor = shard->executor();
    asio::post(executor, [shard = std::move(shard), round]() mutable {
      deliver(std::move(shard), std::move(round), 0);
    });
  }
  // One round at a time: a thread that is behind makes the reader wait, not the memory grow.
  auto done = round->done;
  co_await (done.wait() || stopping_.token().wait());
}

awaitable<void> EventHub::listen() {
  // From the first stream on and then always: a session that listens must also be read.
  auto following = state_->following;
  co_await (following.wait() || stopping_.token().wait());
  while (!stopping_.cancelled()) {
    auto waited = co_await (parts_.wake->wait(kListenCheck) || stopping_.token().wait());
    auto* hint = std::get_if<0>(&waited);
    if (hint == nullptr) co_return;
    if (hint->has_value()) {
      if (**hint) hint_.set();
      continue;
    }
    if (hint->error().kind == ErrorKind::invalid_argument) {
      parts_.log.info("polling_only", {{"why", hint->error().describe()}});
      co_return;
    }
    parts_.log.debug("wake_source_failed", {{"error", hint->error().describe()}});
    co_await (parts_.clock.sleep_for(kBackoffMax) || stopping_.token().wait());
  }
}

awaitable<void> EventHub::keep_time() {
  auto told_at = parts_.clock.now();
  auto checked_at = told_at;
  while (!stopping_.cancelled()) {
    co_await (parts_.clock.sleep_for(kTick) || stopping_.token().wait());
    const auto now = parts_.clock.now();
    const bool tell = now - told_at >= options_.position_interval;
    if (tell) told_at = now;
    if (now - checked_at >= options_.check_interval && !std::exchange(checking_, true)) {
      checked_at = now;
      tasks_.add("credentials of streams", check_holders());
    }
    states_.forget_expired();
    for (const auto& shard : state_->shards()) {
      asio::post(shard->executor(), [shard, now, tell] { shard->tick(now, tell); });
    }
    const std::lock_guard lock(state_->mutex);
    open_.gauge().set(static_cast<double>(state_->streams));
  }
}

Task<std::string> EventHub::state_of(StreamScope scope, std::int64_t event_id) {
  MR_ASSERT(scope.job || scope.batch);
  // The event is part of the key: what was read before it is another state.
  co_return co_await states_.get(scope.job ? fmt::format("j{}:{}", *scope.job, event_id)
                                           : fmt::format("b{}:{}", *scope.batch, event_id));
}

Task<std::string> EventHub::ask_state(std::string key) {
  const auto [noun, id] = read_key(key);
  // Whoever watches it was let in when the stream began.
  if (noun == 'j') {
    co_return co_await parts_.jobs.job_status(store::CallContext::server(), JobId{id});
  }
  co_return co_await parts_.jobs.get_batch(store::CallContext::server(), BatchId{id});
}

awaitable<void> EventHub::finish(StreamShard::Ending ending) {
  const auto& scope = ending.scope;
  const auto state = co_await state_of(scope, ending.event->stored.event_id);
  if (!state && !is_gone(state.error())) {
    // Rather nothing than an end without its result: they come back from before it and get both.
    for (auto& [stream, id] : ending.streams) stream.close();
    parts_.log.debug("stream_end_unknown", {{"error", state.error().describe()}});
    co_return;
  }
  // It may have been started again meanwhile: then the event alone says what it was.
  const auto end = state ? end_of(scope, *state) : std::nullopt;
  const bool fits = end && ending.event->stored.kind.ends_with("." + *end);
  const auto mark = fits ? end_mark(*state) : std::string();
  LinkedResult linked;
  if (ending.link && fits) {
    auto made = co_await linked_result(ending.link, *state);
    if (!made) {
      for (auto& [stream, id] : ending.streams) stream.close();
      parts_.log.debug("stream_end_unknown", {{"error", made.error().describe()}});
      co_return;
    }
    linked = *std::move(made);
  }
  std::string last_id;
  std::optional<http::SseFrame> frame;
  for (auto& [stream, id] : ending.streams) {
    if (!frame || id != last_id) {
      last_id = id;
      frame = frame_of(*ending.event, scope, id);
      if (fits) {
        const auto own_id = ended_id(id, mark);
        auto made = scope.job ? job_state_frame(*state, own_id, false, linked)
                              : batch_state_frame(*state, own_id, false);
        if (made) frame = *std::move(made);
      }
    }
    stream.push(*frame);
    stream.close();
  }
}

void EventHub::count_opened(std::string_view how) { opened_.counter({how}).add(); }

}  // namespace millrace::api
