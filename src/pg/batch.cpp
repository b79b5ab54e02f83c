// Connection's operations on many rows at once: pipelines and COPY.
#include "pg/errors.h"
#include "pg/session.h"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::pg {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kCopyFlushBytes = 256 * 1024;

using Results = std::vector<Result<ResultSet>>;

struct Queued {
  bool prepares = false;  // A message that makes the plan goes before the statement.
  std::string server_name;
};

// Queues all statements and the sync that makes them final. False: libpq did not take them.
bool send_all(Session& session, const std::vector<Statement>& statements, bool use_plans,
              std::vector<Queued>& queued) {
  if (PQenterPipelineMode(session.handle) == 0) return false;
  for (const auto& statement : statements) {
    Queued item;
    if (statement.name.empty() || !use_plans) {
      if (send_params(session, statement.sql, statement.params) == 0) return false;
      queued.push_back(std::move(item));
      continue;
    }
    const auto same = std::ranges::find_if(statements, [&](const Statement& other) {
      return other.name == statement.name && other.sql == statement.sql;
    });
    const auto earlier = static_cast<std::size_t>(same - statements.begin());
    const auto known = session.prepared.find(statement.name);
    if (known != session.prepared.end() && known->second.sql == statement.sql) {
      item.server_name = known->second.server_name;
    } else if (earlier < queued.size()) {
      item.server_name = queued[earlier].server_name;
    } else {
      item.prepares = true;
      item.server_name = new_server_name(session, statement.name, statement.sql);
      if (PQsendPrepare(session.handle, item.server_name.c_str(), statement.sql.c_str(), 0,
                        nullptr) == 0) {
        return false;
      }
    }
    if (send_prepared(session, item.server_name, statement.params) == 0) return false;
    queued.push_back(std::move(item));
  }
  return PQpipelineSync(session.handle) == 1;
}

// The references below are to what the calling operation holds for longer than the call lasts.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

// The answer of one queued message: its results up to the null that ends them.
Task<ResultSet> read_answer(Session& session, Deadline& deadline, const QueryOptions& options,
                            const Fate& fate, bool& cancel_sent) {
  ResultPtr kept;
  std::optional<Error> error;
  for (;;) {
    ResultPtr result;
    const auto waited = result_at_hand(session, result)
                            ? Waited::ready
                            : co_await next_result(session, deadline, result, cancel_sent);
    if (waited != Waited::ready) {
      session.broken = true;
      co_return fail(not_answered(session, waited, fate, options));
    }
    if (!result) break;
    switch (PQresultStatus(result.get())) {
      case PGRES_TUPLES_OK:
      case PGRES_COMMAND_OK:
      case PGRES_EMPTY_QUERY:
        kept = std::move(result);
        break;
      case PGRES_PIPELINE_ABORTED:
        error = Error{.kind = ErrorKind::unavailable,
                      .message = "not run: an earlier statement failed"};
        break;
      default:
        if (!error) error = failed(result.get(), fate);
        break;
    }
    if (PQstatus(session.handle) != CONNECTION_OK) {
      session.broken = true;
      break;
    }
  }
  if (error) co_return fail(std::move(*error));
  co_return ResultSet(kept.release());
}

// The end of the pipeline: this is where the statements are committed, and where that can fail.
Task<void> read_sync(Session& session, Deadline& deadline, const QueryOptions& options, Fate fate,
                     bool& cancel_sent) {
  fate.completed = true;
  std::optional<Error> error;
  for (;;) {
    ResultPtr result;
    const auto waited = result_at_hand(session, result)
                            ? Waited::ready
                            : co_await next_result(session, deadline, result, cancel_sent);
    if (waited != Waited::ready) {
      session.broken = true;
      co_return fail(not_answered(session, waited, fate, options));
    }
    if (result && PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) break;
    if (result && !error) error = failed(result.get(), fate);
    if (PQstatus(session.handle) != CONNECTION_OK) {
      session.broken = true;
      if (!error) error = lost(fate, session.last_message());
      break;
    }
  }
  if (error) co_return fail(std::move(*error));
  co_return ok();
}

// Inside a pipeline only the last statement's transaction state is known: if any may end one, all
// may.
Fate fate_of_all(const Session& session, const std::vector<Statement>& statements,
                 const QueryOptions& options) {
  Fate fate{.harmless = true};
  for (const auto& statement : statements) {
    fate.harmless = fate.harmless && fate_of(session, statement.sql, options).harmless;
  }
  return fate;
}

Task<Results> run_pipeline(Session& session, const std::vector<Statement>& statements,
                           bool use_plans, QueryOptions options) {
  MR_CO_TRY_VOID(reach_before(session, options.point));
  Operation operation(session);
  Deadline deadline(co_await asio::this_coro::executor, session, options.timeout);
  auto fate = fate_of_all(session, statements, options);
  std::vector<Queued> queued;
  queued.reserve(statements.size());
  if (!send_all(session, statements, use_plans, queued)) {
    co_return fail(not_sent(session));  // Broken by `operation`: part of it may be queued.
  }
  if (const auto flushed = co_await flush(session, deadline); flushed != Waited::ready) {
    co_return fail(not_answered(session, flushed, fate, options));
  }
  fate.sent = true;
  reach_sent(session, options.point);

  bool cancel_sent = false;
  Results results;
  bool any_failed = false;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    std::optional<Error> error;
    if (queued[i].prepares) {
      auto made = co_await read_answer(session, deadline, options, fate, cancel_sent);
      if (session.broken) co_return fail(made ? lost(fate, session.last_message()) : made.error());
      if (made) {
        session.prepared.insert_or_assign(
            statements[i].name, Session::Prepared{statements[i].sql, queued[i].server_name});
      } else {
        error = made.error();
      }
    }
    auto result = co_await read_answer(session, deadline, options, fate, cancel_sent);
    if (session.broken)
      co_return fail(result ? lost(fate, session.last_message()) : result.error());
    any_failed = any_failed || error || !result;
    if (error) {
      results.emplace_back(std::unexpected(std::move(*error)));
    } else {
      results.push_back(std::move(result));
    }
  }
  auto committed = co_await read_sync(session, deadline, options, fate, cancel_sent);
  if (session.broken)
    co_return fail(committed ? lost(fate, session.last_message()) : committed.error());
  if (PQexitPipelineMode(session.handle) == 1 && !cancel_sent) operation.done();
  if (!committed && !any_failed) co_return fail(committed.error());
  MR_CO_TRY_VOID(reach_after(session, options.point));
  co_return results;
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

const Error* prepared_problem(const Result<Results>& results) {
  if (!results) return nullptr;
  for (const auto& result : *results) {
    if (!result && blames_prepared(result.error())) return &result.error();
  }
  return nullptr;
}

}  // namespace

Task<Results> Connection::pipeline(std::vector<Statement> statements, QueryOptions options) {
  auto session = impl_;
  if (statements.empty()) co_return Results{};
  MR_CO_TRY_VOID(check_session(*session));
  for (const auto& statement : statements) {
    MR_CO_TRY_VOID(check_statement(statement.sql, statement.params));
  }
  const bool may_retry = !transaction_open(*session);
  auto results = co_await run_pipeline(*session, statements, session->may_prepare, options);
  if (const auto* problem = prepared_problem(results)) {
    forget_prepared(*session, *problem);
    // Nothing of a failed pipeline remains, so all of it can be sent again.
    if (may_retry && session->usable()) {
      co_return co_await run_pipeline(*session, statements, false, options);
    }
  }
  co_return results;
}

Task<std::int64_t> Connection::copy_in(std::string sql, std::string data, QueryOptions options) {
  co_return co_await copy_in(
      std::move(sql),
      [chunk = std::optional(std::move(data))]() mutable {
        return std::exchange(chunk, std::nullopt);
      },
      options);
}

Task<std::int64_t> Connection::copy_in(std::string sql, NextChunk next_chunk,
                                       QueryOptions options) {
  auto session = impl_;
  MR_CO_TRY_VOID(check(*session, sql, {}));
  MR_CO_TRY_VOID(reach_before(*session, options.point));
  Operation operation(*session);
  Deadline deadline(co_await asio::this_coro::executor, *session, options.timeout);
  auto fate = fate_of(*session, sql, options);
  if (send_params(*session, sql, {}) == 0) {
    operation.done();
    co_return fail(not_sent(*session));
  }
  // Not `sent` before the end of the data: the server does nothing final without it.
  if (const auto flushed = co_await flush(*session, deadline); flushed != Waited::ready) {
    co_return fail(not_answered(*session, flushed, fate, options));
  }
  bool cancel_sent = false;
  ResultPtr first;
  const auto waited = co_await next_result(*session, deadline, first, cancel_sent);
  if (waited != Waited::ready) co_return fail(not_answered(*session, waited, fate, options));
  if (!first || PQresultStatus(first.get()) != PGRES_COPY_IN) {
    const auto rest = co_await finish_statement(*session, deadline, fate, options);
    if (session->usable() && !cancel_sent) operation.done();
    if (first && PQresultStatus(first.get()) == PGRES_FATAL_ERROR) {
      co_return fail(failed(first.get(), fate));
    }
    co_return fail(ErrorKind::invalid_argument,
                   rest ? "the statement is not a COPY ... FROM STDIN" : rest.error().message);
  }
  std::size_t queued_bytes = 0;
  while (auto chunk = next_chunk()) {
    for (std::string_view rest = *chunk; !rest.empty();) {
      const auto piece = rest.substr(0, kCopyFlushBytes);
      rest.remove_prefix(piece.size());
      if (PQputCopyData(session->handle, piece.data(), static_cast<int>(piece.size())) != 1) {
        co_return fail(lost(fate, session->last_message()));
      }
      queued_bytes += piece.size();
      if (queued_bytes < kCopyFlushBytes) continue;
      queued_bytes = 0;
      const auto flushed = co_await flush(*session, deadline);
      if (flushed != Waited::ready) co_return fail(not_answered(*session, flushed, fate, options));
    }
  }
  if (PQputCopyEnd(session->handle, nullptr) != 1)
    co_return fail(lost(fate, session->last_message()));
  auto result = co_await finish_statement(*session, deadline, fate, options);
  operation.done();
  if (!result) co_return fail(result.error());
  co_return result->affected();
}

}  // namespace millrace::pg
