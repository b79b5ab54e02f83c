#include "pg/pool.h"

#include "base/event.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace millrace::pg {

namespace asio = boost::asio;

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

struct Waiter {
  Event served;
  // What it was given: a connection, or (null) the right to open one.
  std::optional<std::unique_ptr<Connection>> given;
};

}  // namespace

struct Pool::State {
  State(Executor e, ConnectOptions c, PoolOptions o, Random& r)
      : executor(std::move(e)), connect(std::move(c)), options(o), random(r) {
    idle.reserve(options.connections_max);  // Giving back happens in destructors.
  }

  const Executor executor;
  const ConnectOptions connect;
  const PoolOptions options;
  Random& random;

  std::mutex mutex;  // Guards all below.
  bool closed = false;
  std::size_t open = 0;
  std::vector<std::unique_ptr<Connection>> idle;
  std::deque<std::shared_ptr<Waiter>> waiters;
  milliseconds backoff{0};  // Zero while connecting works.
  SteadyTime next_attempt{};
  std::optional<Error> last_failure;
  SteadyTime::duration waited{0};  // By all callers, since the last one was opened.

  // Whether one more may be opened; if so, the caller has the right to.
  bool may_grow(SteadyTime::duration waiting) {
    if (open >= options.connections_max) return false;
    if (open > 0 && waited + waiting < options.grow_after) return false;
    waited = {};
    ++open;
    return true;
  }

  // When a caller that waits since `began` may open one instead.
  SteadyTime patience(SteadyTime began) {
    const std::lock_guard lock(mutex);
    if (open >= options.connections_max) return SteadyTime::max();
    return began + std::max(options.grow_after - waited, SteadyTime::duration::zero());
  }

  // Its wait pays for one more, which whoever is first in line may open.
  void grow_for(const std::shared_ptr<Waiter>& waiter, SteadyTime began) {
    const std::lock_guard lock(mutex);
    if (closed || std::ranges::find(waiters, waiter) == waiters.end()) return;
    if (!may_grow(std::chrono::steady_clock::now() - began)) return;
    auto first = std::move(waiters.front());
    waiters.pop_front();
    first->given = nullptr;
    first->served.set();
  }

  void note_wait(SteadyTime began) {
    const std::lock_guard lock(mutex);
    waited += std::chrono::steady_clock::now() - began;
  }

  // A connection comes back, or (null) a place for one becomes free. Called without the lock; what
  // is dropped is returned, so that it is closed without the lock too.
  std::unique_ptr<Connection> give_back(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock(mutex);
    const bool reusable =
        !closed && connection && connection->healthy() && !connection->in_transaction();
    if (!closed && !waiters.empty()) {
      auto waiter = std::move(waiters.front());
      waiters.pop_front();
      waiter->given = reusable ? std::move(connection) : nullptr;
      waiter->served.set();
      return connection;
    }
    if (reusable) {
      idle.push_back(std::move(connection));
      return nullptr;
    }
    --open;
    return connection;
  }

  // True when the waiter left the queue unserved.
  bool leave(const std::shared_ptr<Waiter>& waiter) {
    const std::lock_guard lock(mutex);
    return std::erase(waiters, waiter) > 0;
  }

  // Attempts that went on at the same time fail together and count once.
  void note_failure(SteadyTime began, const Error& error) {
    const std::lock_guard lock(mutex);
    last_failure = error;
    if (next_attempt > began) return;
    backoff = std::clamp(backoff * 2, options.backoff_min, options.backoff_max);
    next_attempt = std::chrono::steady_clock::now() + random.jitter(backoff, 0.5);
  }

  void note_success() {
    const std::lock_guard lock(mutex);
    backoff = milliseconds(0);
    next_attempt = {};
    last_failure.reset();
  }

  // Why there is no connection while nobody may try.
  Error waiting_error() {
    const std::lock_guard lock(mutex);
    return last_failure.value_or(
        Error{.kind = ErrorKind::unavailable, .message = "the server was not reached"});
  }

  SteadyTime earliest_attempt() {
    const std::lock_guard lock(mutex);
    return next_attempt;
  }

  void shut() {
    std::vector<std::unique_ptr<Connection>> dropped;
    const std::lock_guard lock(mutex);
    closed = true;
    open -= idle.size();
    dropped.swap(idle);
    for (auto& waiter : waiters) waiter->served.set();
    waiters.clear();
  }
};

namespace {

// The right to hold one of the pool's places; gives it up unless a connection was made of it. Needs
// no memory, whose lack would lose the place.
template <class GiveUp>
struct Place {
  explicit Place(GiveUp give_up) : give_up_(std::move(give_up)) {}
  ~Place() {
    if (held_) give_up_();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  void keep() { held_ = false; }

 private:
  GiveUp give_up_;
  bool held_ = true;
};

Error closed_error() {
  return {.kind = ErrorKind::cancelled, .message = "the connection pool is closed"};
}

milliseconds left_until(SteadyTime time) {
  return std::chrono::ceil<milliseconds>(time - std::chrono::steady_clock::now());
}

// False when the coroutine was cancelled.
awaitable<bool> sleep_until(SteadyTime time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  const auto [code] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return !code;
}

}  // namespace

Pool::Pool(Executor executor, ConnectOptions connect, PoolOptions options, Random& random)
    : state_(std::make_shared<State>(std::move(executor), std::move(connect), options, random)) {}

Pool::~Pool() { close(); }

void Pool::close() { state_->shut(); }

const Executor& Pool::executor() const { return state_->executor; }

Pool::Counts Pool::counts() const {
  const std::lock_guard lock(state_->mutex);
  return {.open = state_->open, .idle = state_->idle.size(), .waiting = state_->waiters.size()};
}

Task<PooledConnection> Pool::acquire(milliseconds timeout, std::string statement, bool patient) {
  auto state = state_;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::shared_ptr<Waiter> waiter;
  std::unique_ptr<Connection> connection;
  std::vector<std::unique_ptr<Connection>> dead;
  {
    const std::lock_guard lock(state->mutex);
    if (state->closed) co_return fail(closed_error());
    while (!connection && !state->idle.empty()) {
      auto chosen = std::ranges::find_if(state->idle.rbegin(), state->idle.rend(),
                                         [&](const auto& one) { return one->knows(statement); });
      if (chosen == state->idle.rend()) chosen = state->idle.rbegin();
      connection = std::move(*chosen);
      state->idle.erase(std::next(chosen).base());
      if (connection->check_idle()) break;
      --state->open;
      dead.push_back(std::move(connection));
    }
    const auto patience = patient ? SteadyTime::duration{0} : state->options.grow_after;
    if (!connection && (!state->waiters.empty() || !state->may_grow(patience))) {
      if (state->waiters.size() >= state->options.waiters_max) {
        co_return fail(ErrorKind::throttled,
                       fmt::format("{} callers wait for a database connection already",
                                   state->waiters.size()));
      }
      waiter = std::make_shared<Waiter>();
      state->waiters.push_back(waiter);
    }
  }
  dead.clear();
  if (waiter) {
    // Leaves the queue, or passes on what it was given, also when the coroutine is thrown out of
    // its wait.
    Place in_queue([state, waiter] {
      if (!state->leave(waiter) && waiter->given) {
        const auto dropped = state->give_back(std::move(*waiter->given));
      }
    });
    const auto began = std::chrono::steady_clock::now();
    bool served = false;
    for (;;) {
      const auto until = std::min(state->patience(began), deadline);
      served = co_await waiter->served.wait_for(until - std::chrono::steady_clock::now());
      const auto now = std::chrono::steady_clock::now();
      if (served || now >= deadline || now < until) break;
      state->grow_for(waiter, began);  // For another, or not at all: patience goes on.
    }
    if (state->leave(waiter) || !served) {
      const bool late = std::chrono::steady_clock::now() >= deadline;
      if (!waiter->given) {
        in_queue.keep();
        state->note_wait(began);
        if (!late)
          co_return fail(ErrorKind::cancelled, "waiting for a database connection was abandoned");
        co_return fail(
            ErrorKind::unavailable,
            fmt::format("no database connection became free within {} ms", timeout.count()));
      }
    }
    in_queue.keep();
    if (!waiter->given) co_return fail(closed_error());
    connection = std::move(*waiter->given);
    if (connection) state->note_wait(began);
  }
  if (connection) co_return PooledConnection(state, std::move(connection));

  Place place([state] { const auto dropped = state->give_back(nullptr); });
  for (;;) {
    if (const auto at = state->earliest_attempt(); at > std::chrono::steady_clock::now()) {
      if (!co_await sleep_until(std::min(at, deadline))) {
        co_return fail(ErrorKind::cancelled, "connecting was abandoned");
      }
      // Nothing was tried, so nothing failed: the next attempt stays where it is.
      if (at > deadline) co_return fail(state->waiting_error());
      continue;  // Another caller may have failed, or come through, meanwhile.
    }
    const auto began = std::chrono::steady_clock::now();
    auto options = state->connect;
    options.connect_timeout = std::clamp(left_until(deadline), milliseconds(1),
                                         std::max(options.connect_timeout, milliseconds(1)));
    auto connected = co_await Connection::connect(state->executor, std::move(options));
    if (connected) {
      state->note_success();
      place.keep();
      co_return PooledConnection(state, std::move(*connected));
    }
    if (connected.error().kind != ErrorKind::unavailable) co_return fail(connected.error());
    // Cut short by a caller in a hurry, it says nothing about the server.
    if (std::chrono::steady_clock::now() >= deadline) co_return fail(connected.error());
    state->note_failure(began, connected.error());
    if (state->earliest_attempt() >= deadline) co_return fail(connected.error());
  }
}

PooledConnection::PooledConnection() = default;

PooledConnection::PooledConnection(std::shared_ptr<Pool::State> pool,
                                   std::unique_ptr<Connection> connection)
    : pool_(std::move(pool)), connection_(std::move(connection)) {}

PooledConnection::PooledConnection(PooledConnection&&) noexcept = default;

PooledConnection& PooledConnection::operator=(PooledConnection&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = std::move(other.pool_);
    connection_ = std::move(other.connection_);
  }
  return *this;
}

PooledConnection::~PooledConnection() { release(); }

void PooledConnection::release() {
  if (!connection_) return;
  const auto dropped = pool_->give_back(std::move(connection_));
  pool_.reset();
}

}  // namespace millrace::pg
