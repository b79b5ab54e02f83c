#include "pg/connection.h"

#include "pg/errors.h"
#include "pg/session.h"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <functional>
#include <utility>

namespace millrace::pg {

namespace asio = boost::asio;

namespace {

// The references below are to what the calling operation holds for longer than the call lasts.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

// One statement from being queued by `send` to its answer.
Task<ResultSet> run(Session& session, Fate fate, QueryOptions options, std::function<int()> send) {
  MR_CO_TRY_VOID(reach_before(session, options.point));
  Operation operation(session);
  Deadline deadline(co_await asio::this_coro::executor, session, options.timeout);
  if (send() == 0) {
    operation.done();
    co_return fail(not_sent(session));
  }
  auto result = co_await finish_statement(session, deadline, fate, options);
  operation.done();
  co_return result;
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace

Connection::Connection(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Connection::~Connection() { close(); }

void Connection::close() {
  impl_->broken = true;
  impl_->finish();
}

void Connection::mark_broken() { impl_->broken = true; }

bool Connection::healthy() const { return impl_->usable(); }

bool Connection::check_idle() { return !impl_->busy && still_there(*impl_); }

bool Connection::in_transaction() const {
  return impl_->handle != nullptr && transaction_open(*impl_);
}

std::string Connection::parameter_status(std::string_view name) const {
  if (impl_->handle == nullptr) return {};
  const char* value = PQparameterStatus(impl_->handle, std::string(name).c_str());
  return value == nullptr ? "" : value;
}

int Connection::server_version() const {
  return impl_->handle == nullptr ? 0 : PQserverVersion(impl_->handle);
}

int Connection::backend_pid() const {
  return impl_->handle == nullptr ? 0 : PQbackendPID(impl_->handle);
}

Task<ResultSet> Connection::query(std::string sql, Params params, QueryOptions options) {
  auto session = impl_;
  MR_CO_TRY_VOID(check(*session, sql, params));
  const auto fate = fate_of(*session, sql, options);
  co_return co_await run(*session, fate, options,
                         [&] { return send_params(*session, sql, params); });
}

Task<ResultSet> Connection::script(std::string sql, QueryOptions options) {
  auto session = impl_;
  MR_CO_TRY_VOID(check(*session, sql, {}));
  const Fate fate{.harmless = options.read_only};  // It may contain anything, a commit too.
  co_return co_await run(*session, fate, options,
                         [&] { return PQsendQuery(session->handle, sql.c_str()); });
}

bool Connection::knows(std::string_view name) const { return impl_->prepared.contains(name); }

Task<ResultSet> Connection::prepared(std::string name, std::string sql, Params params,
                                     QueryOptions options) {
  auto session = impl_;
  MR_CO_TRY_VOID(check(*session, sql, params));
  if (!session->may_prepare) co_return co_await query(std::move(sql), std::move(params), options);

  const bool may_retry = !transaction_open(*session);  // A failed transaction cannot be continued.
  auto known = session->prepared.find(name);
  if (known == session->prepared.end() || known->second.sql != sql) {
    auto server_name = new_server_name(*session, name, sql);
    auto quietly = options;
    quietly.point = {};  // The point is the statement's, not its plan's.
    const auto made = co_await run(*session, {.harmless = true}, quietly, [&] {
      return PQsendPrepare(session->handle, server_name.c_str(), sql.c_str(), 0, nullptr);
    });
    if (!made) {
      if (!blames_prepared(made.error())) co_return fail(made.error());
      forget_prepared(*session, made.error());
      if (!may_retry) co_return fail(made.error());
      co_return co_await query(std::move(sql), std::move(params), options);
    }
    known = session->prepared.insert_or_assign(name, Session::Prepared{sql, server_name}).first;
  }
  const auto fate = fate_of(*session, sql, options);
  const auto server_name = known->second.server_name;
  auto result = co_await run(*session, fate, options,
                             [&] { return send_prepared(*session, server_name, params); });
  if (result || !blames_prepared(result.error())) co_return result;
  forget_prepared(*session, result.error());
  if (!may_retry) co_return result;
  co_return co_await query(std::move(sql), std::move(params), options);
}

Task<void> Connection::begin(QueryOptions options) {
  MR_CO_TRY_VOID(co_await query("begin", {}, options));
  co_return ok();
}

Task<void> Connection::commit(QueryOptions options) {
  options.read_only = false;
  MR_CO_TRY(auto result, co_await query("commit", {}, options));
  if (result.command_tag() != "COMMIT") {
    co_return fail({.kind = ErrorKind::internal,
                    .message = "the transaction was rolled back: a statement in it had failed",
                    .sqlstate = "25P02"});
  }
  co_return ok();
}

Task<void> Connection::rollback(QueryOptions options) {
  auto session = impl_;
  if (!session->usable()) co_return ok();  // The server rolls back when a session ends.
  const auto result = co_await query("rollback", {}, options);
  if (!result && session->usable()) co_return fail(result.error());
  co_return ok();
}

Task<std::optional<Notification>> Connection::wait_notification(std::chrono::milliseconds timeout) {
  auto session = impl_;
  if (!session->usable()) co_return fail(ErrorKind::unavailable, "the connection is closed");
  Operation operation(*session);
  Deadline deadline(co_await asio::this_coro::executor, *session, timeout);
  struct Free {
    void operator()(PGnotify* notify) const { PQfreemem(notify); }
  };
  for (;;) {
    if (const std::unique_ptr<PGnotify, Free> notify{PQnotifies(session->handle)}) {
      operation.done();
      co_return Notification{
          .channel = notify->relname, .payload = notify->extra, .backend_pid = notify->be_pid};
    }
    const auto waited = co_await wait_readable(*session, deadline);
    if (waited == Waited::timed_out) {
      operation.done();
      co_return std::nullopt;
    }
    if (waited == Waited::cancelled) {
      operation.done();  // Nothing was under way: the connection is as good as before.
      co_return fail(ErrorKind::cancelled, "waiting for a notification was abandoned");
    }
    if (PQconsumeInput(session->handle) == 0) {
      co_return fail(ErrorKind::unavailable, session->last_message());
    }
  }
}

// The connection outlives its transaction.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
Task<Transaction> Transaction::begin(Connection& connection, QueryOptions options) {
  MR_CO_TRY_VOID(co_await connection.begin(options));
  co_return Transaction(connection);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {}

Transaction& Transaction::operator=(Transaction&& other) noexcept {
  std::swap(connection_, other.connection_);
  return *this;
}

Transaction::~Transaction() {
  if (connection_ != nullptr) connection_->mark_broken();
}

Task<void> Transaction::commit(QueryOptions options) {
  auto* connection = std::exchange(connection_, nullptr);
  if (connection == nullptr)
    co_return fail(ErrorKind::internal, "the transaction is finished already");
  co_return co_await connection->commit(options);
}

Task<void> Transaction::rollback(QueryOptions options) {
  auto* connection = std::exchange(connection_, nullptr);
  if (connection == nullptr) co_return ok();
  co_return co_await connection->rollback(options);
}

}  // namespace millrace::pg
