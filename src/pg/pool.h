// Pool: a fixed small number of connections shared by many coroutines.
//
// Connections are opened when needed, one more whenever callers have waited for `grow_after` in
// all: a session costs as much before it is of use. They are reused last-in first-out (those that
// know the caller's statement before others), checked when handed out, and dropped when they come
// back broken or inside a transaction. When the server is away, attempts are spaced by a backoff
// with jitter that all callers share. Waiters are served in order and their number is bounded.
// Threading: all members from any thread. Lifetime: a PooledConnection may outlive its Pool.
#pragma once

#include "base/random.h"
#include "base/task.h"
#include "pg/connection.h"

#include <chrono>
#include <cstddef>
#include <memory>

namespace millrace::pg {

// For sessions that plan for longer, when they are new, than a call takes.
inline constexpr std::chrono::milliseconds kGrowAfter{250};

struct PoolOptions {
  std::size_t connections_max = 4;
  std::size_t waiters_max = 1024;
  std::chrono::milliseconds grow_after{0};
  std::chrono::milliseconds backoff_min{50};
  // Short enough that work goes on within seconds after a server that was long away has come back.
  std::chrono::milliseconds backoff_max{1'000};
};

class PooledConnection;

class Pool {
 public:
  Pool(Executor executor, ConnectOptions connect, PoolOptions options, Random& random);
  ~Pool();  // As close().
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Waits for a free connection or opens one, retrying until `timeout`; then `unavailable` with the
  // last reason. `statement`: the name of what will be asked, if it is prepared; a session that
  // asked it before need not plan it, nor look its tables up, again. `throttled` at once when too
  // many wait already, `cancelled` after close(). `patient`: false opens one more, where there may
  // be more, rather than wait for those in use.
  Task<PooledConnection> acquire(std::chrono::milliseconds timeout, std::string statement = {},
                                 bool patient = true);

  // Drops idle connections and refuses from now on; connections in use are dropped when returned.
  void close();

  // Where its connections live: what runs there waits for them without crossing threads.
  const Executor& executor() const;

  struct Counts {
    std::size_t open = 0;  // Idle, in use or being opened.
    std::size_t idle = 0;
    std::size_t waiting = 0;
  };
  Counts counts() const;

 private:
  friend class PooledConnection;
  struct State;
  std::shared_ptr<State> state_;  // Shared with connections in use.
};

// Returns its connection to the pool when it goes away.
class PooledConnection {
 public:
  PooledConnection();
  PooledConnection(PooledConnection&&) noexcept;
  PooledConnection& operator=(PooledConnection&&) noexcept;
  ~PooledConnection();

  Connection& operator*() const { return *connection_; }
  Connection* operator->() const { return connection_.get(); }
  explicit operator bool() const { return connection_ != nullptr; }
  void release();  // Early.

 private:
  friend class Pool;
  PooledConnection(std::shared_ptr<Pool::State> pool, std::unique_ptr<Connection> connection);
  std::shared_ptr<Pool::State> pool_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace millrace::pg
