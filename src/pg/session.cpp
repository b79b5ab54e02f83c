#include "pg/session.h"

#include "base/assert.h"
#include "base/either.h"
#include "pg/errors.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace millrace::pg {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kCancelGrace{5'000};
constexpr std::size_t kParamsMax = 65'535;  // A 16-bit count in the protocol.

Waited waited(const error_code& code, const Deadline& deadline) {
  if (!code) return Waited::ready;
  if (deadline.expired()) return Waited::timed_out;
  return code == asio::error::operation_aborted ? Waited::cancelled : Waited::failed;
}

// The first word in lower case, past white space and comments.
std::string first_word(std::string_view sql) {
  for (;;) {
    const auto start = sql.find_first_not_of(" \t\r\n;(");
    if (start == std::string_view::npos) return {};
    sql.remove_prefix(start);
    if (sql.starts_with("--")) {
      sql.remove_prefix(std::min(sql.find('\n'), sql.size()));
    } else if (sql.starts_with("/*")) {
      const auto end = sql.find("*/");
      sql.remove_prefix(end == std::string_view::npos ? sql.size() : end + 2);
    } else {
      break;
    }
  }
  std::string word;
  for (const char c : sql) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return word;
}

}  // namespace

void Session::finish() {
  unwatch();
  if (handle != nullptr) PQfinish(handle);
  handle = nullptr;
}

void Session::watch() {
  unwatch();
  socket.assign(PQsocket(handle));
}

bool Session::keep_watching() {
  unwatch();
  const int own = ::fcntl(PQsocket(handle), F_DUPFD_CLOEXEC, 0);
  if (own < 0) return false;
  error_code code;
  socket.assign(own, code);
  if (code) ::close(own);
  owns_socket = !code;
  return owns_socket;
}

void Session::unwatch() {
  if (!socket.is_open()) return;
  error_code ignored;
  if (owns_socket) {
    socket.close(ignored);
  } else {
    socket.release();
  }
  owns_socket = false;
}

std::string Session::last_message() const {
  auto message = handle == nullptr ? std::string() : first_line(PQerrorMessage(handle));
  return message.empty() ? "the connection to the server was lost" : message;
}

Deadline::Deadline(const Executor& executor, Session& session, std::chrono::milliseconds timeout)
    : shared_(std::make_shared<Shared>()), timer_(executor) {
  shared_->session = &session;
  restart(timeout);
}

Deadline::~Deadline() { shared_->session = nullptr; }

void Deadline::restart(std::chrono::milliseconds timeout) {
  shared_->expired = false;
  timer_.expires_after(timeout);
  timer_.async_wait([shared = shared_](const error_code& code) {
    if (code || shared->session == nullptr) return;
    shared->expired = true;
    error_code ignored;
    if (shared->session->socket.is_open()) shared->session->socket.cancel(ignored);
  });
}

Operation::Operation(Session& session) : session_(session) {
  MR_ASSERT(!session.busy);
  session.busy = true;
}

Operation::~Operation() {
  session_.busy = false;
  if (!done_) session_.broken = true;
}

// The references below are to what the calling operation holds for longer than the call lasts.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)
awaitable<Waited> wait_readable(Session& session, Deadline& deadline) {
  if (deadline.expired()) co_return Waited::timed_out;
  const auto [code] =
      co_await session.socket.async_wait(asio::posix::stream_descriptor::wait_read, kToken);
  co_return waited(code, deadline);
}

awaitable<Waited> wait_readable_or_writable(Session& session, Deadline& deadline) {
  using namespace either;
  if (deadline.expired()) co_return Waited::timed_out;
  const auto first =
      co_await (session.socket.async_wait(asio::posix::stream_descriptor::wait_read, kToken) ||
                session.socket.async_wait(asio::posix::stream_descriptor::wait_write, kToken));
  const auto code =
      first.index() == 0 ? std::get<0>(std::get<0>(first)) : std::get<0>(std::get<1>(first));
  co_return waited(code, deadline);
}

awaitable<Waited> flush(Session& session, Deadline& deadline) {
  for (;;) {
    const int left = PQflush(session.handle);
    if (left < 0) co_return Waited::failed;
    if (left == 0) co_return Waited::ready;
    const auto waited = co_await wait_readable_or_writable(session, deadline);
    if (waited != Waited::ready) co_return waited;
    if (PQconsumeInput(session.handle) == 0) co_return Waited::failed;
  }
}

namespace {

// Also an answer that was quicker is lost.
void cut(Session& session) {
  const int fd = PQsocket(session.handle);
  ::shutdown(fd, SHUT_RDWR);
  std::array<char, 4096> bytes;
  while (::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace

Result<void> reach_before(Session& session, fault::Point point) {
  switch (fault::reach(point, "before")) {
    case fault::Effect::none:
      return {};
    case fault::Effect::drop:
      cut(session);
      return {};
    case fault::Effect::error:
      break;
  }
  return fail(fault::injected(point.name, "before"));
}

void reach_sent(Session& session, fault::Point point) {
  if (fault::reach(point, "after_send") != fault::Effect::none) cut(session);
}

Result<void> reach_after(Session& session, fault::Point point) {
  const auto effect = fault::reach(point, "after");
  if (effect == fault::Effect::none) return {};
  // The statement took effect; whoever asked must not learn it.
  cut(session);
  session.broken = true;
  auto error = fault::injected(point.name, "after");
  error.kind = ErrorKind::in_doubt;
  return fail(std::move(error));
}

void request_cancel(Session& session) {
  PGcancel* cancel = PQgetCancel(session.handle);
  if (cancel == nullptr) return;
  // Detached: it owns all it touches, and nobody depends on when it ends.
  std::thread([cancel] {
    std::array<char, 256> message{};
    PQcancel(cancel, message.data(), static_cast<int>(message.size()));
    PQfreeCancel(cancel);
  }).detach();
}

Fate fate_of(const Session& session, const std::string& sql, const QueryOptions& options) {
  if (options.read_only) return {.harmless = true};
  const auto word = first_word(sql);
  const bool ends_transaction =
      word == "commit" || word == "end" || word == "prepare" || word == "call" || word == "do";
  return {.harmless = transaction_open(session) && !ends_transaction};
}

Error lost(const Fate& fate, const std::string& why) {
  if (!fate.sent || fate.harmless) return {.kind = ErrorKind::unavailable, .message = why};
  return {.kind = ErrorKind::in_doubt,
          .message = fmt::format("{}; whether the statement took effect is not known", why)};
}

Error failed(const PGresult* result, const Fate& fate) {
  auto error = error_of_result(result);
  const bool from_server = !error.sqlstate.empty();
  if (from_server && !ends_session(result)) return error;
  // Told to end before it had finished the statement: what it did so far is rolled back.
  const bool rolled_back =
      from_server && !fate.completed &&
      (error.sqlstate == "57P01" || error.sqlstate == "25P03" || error.sqlstate == "57P05");
  auto as_lost = lost(rolled_back ? Fate{} : fate, error.message);
  error.kind = as_lost.kind;
  error.message = std::move(as_lost.message);
  return error;
}

Error not_answered(const Session& session, Waited waited, const Fate& fate,
                   const QueryOptions& options) {
  switch (waited) {
    case Waited::timed_out:
      return lost(fate,
                  fmt::format("no answer from PostgreSQL within {} ms", options.timeout.count()));
    case Waited::cancelled:
      return {.kind = ErrorKind::cancelled, .message = "the statement was abandoned"};
    case Waited::failed:
    case Waited::ready:
      break;
  }
  return lost(fate, session.last_message());
}

Error not_sent(Session& session) {
  session.broken = session.broken || PQstatus(session.handle) != CONNECTION_OK;
  return {.kind = ErrorKind::unavailable, .message = session.last_message()};
}

namespace {

// Neither bytes nor the end have come. Where they are encrypted, libpq may hold some already.
bool is_silent(const Session& session) {
  if (PQsslInUse(session.handle) != 0 || PQgssEncInUse(session.handle) != 0) return false;
  char byte = 0;
  const auto got = ::recv(PQsocket(session.handle), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace

bool still_there(Session& session) {
  if (!session.usable()) return false;
  if (is_silent(session) && PQisBusy(session.handle) == 0) return true;
  // Twice: the first read may get a farewell message, the second then finds the end.
  for (int i = 0; i < 2; ++i) {
    if (PQconsumeInput(session.handle) == 0) session.broken = true;
    if (PQisBusy(session.handle) != 0) session.broken = true;
  }
  return session.usable();
}

Result<void> check(Session& session, const std::string& sql, const Params& params) {
  MR_TRY_VOID(check_session(session));
  return check_statement(sql, params);
}

Result<void> check_session(Session& session) {
  if (session.handle == nullptr || session.broken) {
    return fail(ErrorKind::unavailable, "the connection is closed");
  }
  MR_ASSERT(!session.busy);  // Two operations at once on one connection.
  if (!still_there(session)) return fail(ErrorKind::unavailable, session.last_message());
  return {};
}

Result<void> check_statement(const std::string& sql, const Params& params) {
  if (sql.contains('\0'))
    return fail(ErrorKind::invalid_argument, "the SQL text contains a NUL byte");
  if (params.problem()) return fail(*params.problem());
  if (params.size() > kParamsMax) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} parameters, more than {}", params.size(), kParamsMax));
  }
  return {};
}

bool transaction_open(const Session& session) {
  const auto status = PQtransactionStatus(session.handle);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE;
}

int send_params(Session& session, const std::string& sql, const Params& params) {
  const auto values = params.pointers();
  return PQsendQueryParams(session.handle, sql.c_str(), static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, 0);
}

int send_prepared(Session& session, const std::string& server_name, const Params& params) {
  const auto values = params.pointers();
  return PQsendQueryPrepared(session.handle, server_name.c_str(), static_cast<int>(values.size()),
                             values.data(), nullptr, nullptr, 0);
}

std::string new_server_name(Session& session, const std::string& name, const std::string& sql) {
  return fmt::format("{}_{:x}_{}", name, std::hash<std::string>{}(sql), session.prepared_count++);
}

bool blames_prepared(const Error& error) {
  return error.sqlstate == "26000" || error.sqlstate == "42P05" ||
         (error.sqlstate == "0A000" && error.message.contains("cached plan"));
}

void forget_prepared(Session& session, const Error& error) {
  session.prepared.clear();
  if (error.sqlstate != "0A000") session.may_prepare = false;
}

bool result_at_hand(Session& session, ResultPtr& result) {
  if (PQisBusy(session.handle) != 0) return false;
  result.reset(PQgetResult(session.handle));
  return true;
}

awaitable<Waited> next_result(Session& session, Deadline& deadline, ResultPtr& result,
                              bool& cancel_sent) {
  while (PQisBusy(session.handle) != 0) {
    const auto waited = co_await wait_readable(session, deadline);
    if (waited == Waited::timed_out && !cancel_sent) {
      cancel_sent = true;
      request_cancel(session);
      deadline.restart(kCancelGrace);
      continue;
    }
    if (waited == Waited::timed_out || waited == Waited::cancelled) co_return waited;
    if (PQconsumeInput(session.handle) == 0) break;  // PQgetResult says what happened.
  }
  result.reset(PQgetResult(session.handle));
  co_return Waited::ready;
}

Task<ResultSet> finish_statement(Session& session, Deadline& deadline, Fate fate,
                                 QueryOptions options) {
  const auto flushed = co_await flush(session, deadline);
  if (flushed != Waited::ready) {
    session.broken = true;
    co_return fail(not_answered(session, flushed, fate, options));
  }
  fate.sent = true;
  reach_sent(session, options.point);
  bool cancel_sent = false;
  ResultPtr kept;
  std::optional<Error> error;
  for (;;) {
    ResultPtr result;
    const auto waited = co_await next_result(session, deadline, result, cancel_sent);
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
        fate.completed = true;
        break;
      case PGRES_COPY_IN:
      case PGRES_COPY_OUT:
      case PGRES_COPY_BOTH:
        session.broken = true;
        co_return fail(ErrorKind::invalid_argument, "COPY needs copy_in");
      default:
        if (!error) error = failed(result.get(), fate);
        break;
    }
    if (PQstatus(session.handle) != CONNECTION_OK) break;
  }
  // The signal to cancel may arrive after the answer and would hit the next statement.
  if (cancel_sent || PQstatus(session.handle) != CONNECTION_OK) session.broken = true;
  if (!error && PQstatus(session.handle) != CONNECTION_OK) {
    error = lost(fate, session.last_message());
  }
  if (error) {
    if (cancel_sent && error->sqlstate == "57014") {
      error->message =
          fmt::format("cancelled after {} ms without an answer", options.timeout.count());
    }
    co_return fail(std::move(*error));
  }
  ResultSet answer(kept.release());
  MR_CO_TRY_VOID(reach_after(session, options.point));
  co_return answer;
}
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace millrace::pg
