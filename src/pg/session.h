// Session: the machinery under Connection: a libpq handle, its socket on Asio, and the three things
// one can wait for: bytes sent, the next result, a deadline. Internal to this folder.
//
// libpq owns the socket, and closes it without a word when the connection breaks: Asio watches it
// directly only while libpq is not called, and otherwise through a descriptor of its own.
// Threading and lifetime as in connection.h.
#pragma once

#include "base/task.h"
#include "pg/connection.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::pg {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

enum class Waited {
  ready,
  timed_out,
  cancelled,  // The coroutine was told to stop.
  failed,     // The connection is gone.
};

struct Session {
  explicit Session(const Executor& executor) : socket(executor) {}
  ~Session() { finish(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void finish();  // Closes the connection; safe twice.
  void watch();   // Watches libpq's present socket, until libpq is called again.
  // The same for good, by a descriptor of our own. False: the process may have no more of them.
  bool keep_watching();
  void unwatch();
  bool usable() const { return handle != nullptr && !broken && PQstatus(handle) == CONNECTION_OK; }
  std::string last_message() const;  // libpq's, first line.

  PGconn* handle = nullptr;
  boost::asio::posix::stream_descriptor socket;
  bool owns_socket = false;  // It is a duplicate, closed by us.
  bool broken = false;       // The protocol state is unknown: never to be used again.
  bool busy = false;
  std::function<void(std::string_view, std::string_view)> on_notice;

  // Statements prepared on this session: by name, the text and the name on the server.
  struct Prepared {
    std::string sql;
    std::string server_name;
  };
  std::map<std::string, Prepared, std::less<>> prepared;
  bool may_prepare = true;  // False once a pooler was noticed.
  std::uint64_t prepared_count = 0;
};

// Ends the waits of one operation when time is up. Lives in the operation's coroutine.
class Deadline {
 public:
  Deadline(const Executor& executor, Session& session, std::chrono::milliseconds timeout);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool expired() const { return shared_->expired; }
  void restart(std::chrono::milliseconds timeout);  // Only after it expired.

 private:
  struct Shared {
    bool expired = false;
    Session* session = nullptr;  // Null once the operation is over.
  };
  std::shared_ptr<Shared> shared_;  // With the timer's handler, which may run after us.
  boost::asio::steady_timer timer_;
};

// Claims the session for one operation. If the operation does not reach done(), by error, exception
// or destruction of its coroutine, the session is broken.
class Operation {
 public:
  explicit Operation(Session& session);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  void done() { done_ = true; }

 private:
  Session& session_;
  bool done_ = false;
};

awaitable<Waited> wait_readable(Session& session, Deadline& deadline);
awaitable<Waited> wait_readable_or_writable(Session& session, Deadline& deadline);
// Sends all that libpq has queued, reading meanwhile so that neither side can block the other.
awaitable<Waited> flush(Session& session, Deadline& deadline);

// The places of a call's fault point. Before it is sent it can be refused; once it is sent, only
// the connection can be cut, so that the answer is lost.
Result<void> reach_before(Session& session, fault::Point point);
void reach_sent(Session& session, fault::Point point);
Result<void> reach_after(Session& session, fault::Point point);

// Asks the server, on a thread of its own since libpq blocks here, to cancel what runs.
void request_cancel(Session& session);

// What is known about a statement when its connection is lost.
struct Fate {
  bool sent = false;       // All of it, including the message that makes it final.
  bool harmless = false;   // Read only, or inside a transaction that cannot have been committed.
  bool completed = false;  // The server said "done", but not yet "committed".
};
Fate fate_of(const Session& session, const std::string& sql, const QueryOptions& options);

Error lost(const Fate& fate, const std::string& why);
// The error of a failed result, with the kind that the statement's fate asks for.
Error failed(const PGresult* result, const Fate& fate);
// The error when no result came at all.
Error not_answered(const Session& session, Waited waited, const Fate& fate,
                   const QueryOptions& options);
// The error when libpq did not take the statement: it was certainly not run.
Error not_sent(Session& session);

// Why this cannot even be tried: connection gone, parameters that cannot be sent.
Result<void> check(Session& session, const std::string& sql, const Params& params);
Result<void> check_session(Session& session);
Result<void> check_statement(const std::string& sql, const Params& params);
// Reads what came while nobody waited; false when the server has gone.
bool still_there(Session& session);
bool transaction_open(const Session& session);

int send_params(Session& session, const std::string& sql, const Params& params);
int send_prepared(Session& session, const std::string& server_name, const Params& params);
// Different on every attempt: if it exists on the server already, somebody else made it.
std::string new_server_name(Session& session, const std::string& name, const std::string& sql);
// Errors that mean "the plan kept under this name cannot be used", not "the statement is wrong".
bool blames_prepared(const Error& error);
// Forgets all plans, and stops making them if the error shows a pooler between us and the server.
void forget_prepared(Session& session, const Error& error);

struct Connection::Impl final : Session {
  using Session::Session;
};

// The next result if it has come already, without waiting.
bool result_at_hand(Session& session, ResultPtr& result);
// Waits for the next result; null at the end of a statement's results. The first time-out asks the
// server to cancel and waits a little more.
awaitable<Waited> next_result(Session& session, Deadline& deadline, ResultPtr& result,
                              bool& cancel_sent);

// After a statement was queued: sends it and collects its answer up to the end.
Task<ResultSet> finish_statement(Session& session, Deadline& deadline, Fate fate,
                                 QueryOptions options);

}  // namespace millrace::pg
