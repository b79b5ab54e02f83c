// Connection::connect: one host and address after the other, each within its share of the time.
#include "base/assert.h"
#include "base/either.h"
#include "pg/conninfo.h"
#include "pg/errors.h"
#include "pg/session.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <charconv>

namespace millrace::pg {

namespace asio = boost::asio;

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

void forward_notice(void* arg, const PGresult* result) {
  const auto& session = *static_cast<const Session*>(arg);
  if (!session.on_notice) return;
  const auto field = [&](int code) -> std::string_view {
    const char* text = PQresultErrorField(result, code);
    return text == nullptr ? "" : text;
  };
  session.on_notice(field(PG_DIAG_SEVERITY_NONLOCALIZED), field(PG_DIAG_MESSAGE_PRIMARY));
}

milliseconds left_until(SteadyTime deadline) {
  return std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
}

// The host's addresses, one spec each; looked up off this thread.
Task<std::vector<HostSpec>> resolve(HostSpec host, milliseconds timeout) {
  using namespace either;
  if (!needs_lookup(host)) co_return std::vector<HostSpec>{host};
  const auto executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver(executor);
  asio::steady_timer timer(executor, timeout);
  const auto first =
      co_await (resolver.async_resolve(host.host, "", kToken) || timer.async_wait(kToken));
  if (first.index() == 1) {
    co_return fail(ErrorKind::unavailable,
                   fmt::format("looking up the host \"{}\" took too long", host.host));
  }
  const auto& [code, found] = std::get<0>(first);
  if (code == asio::error::operation_aborted)
    co_return fail(ErrorKind::cancelled, "connecting was abandoned");
  if (code || found.empty()) {
    co_return fail(ErrorKind::unavailable,
                   fmt::format("cannot look up the host \"{}\": {}", host.host, code.message()));
  }
  std::vector<HostSpec> specs;
  for (const auto& entry : found) {
    specs.push_back(
        {.host = host.host, .hostaddr = entry.endpoint().address().to_string(), .port = host.port});
  }
  co_return specs;
}

PGconn* start(const ConnInfo& info, const HostSpec& host, const std::string& session_attrs) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    names.push_back(name);
    values.push_back(value.c_str());
  };
  for (const auto& [name, value] : info.keywords) add(name.c_str(), value);
  add("host", host.host);
  add("hostaddr", host.hostaddr);
  add("port", host.port);
  add("target_session_attrs", session_attrs);
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectStartParams(names.data(), values.data(), 0);
}

// Brings one started connection to CONNECTION_OK.
Task<void> complete(std::shared_ptr<Session> session, milliseconds timeout) {
  if (session->handle == nullptr) co_return fail(ErrorKind::unavailable, "out of memory");
  Deadline deadline(co_await asio::this_coro::executor, *session, timeout);
  auto next = PGRES_POLLING_WRITING;
  while (PQstatus(session->handle) != CONNECTION_BAD && next != PGRES_POLLING_FAILED) {
    if (next == PGRES_POLLING_OK) co_return ok();
    session->watch();  // The socket may be another one than before.
    const auto direction = next == PGRES_POLLING_READING
                               ? asio::posix::stream_descriptor::wait_read
                               : asio::posix::stream_descriptor::wait_write;
    const auto [code] = co_await session->socket.async_wait(direction, kToken);
    session->unwatch();
    if (deadline.expired()) {
      co_return fail(ErrorKind::unavailable,
                     fmt::format("no answer from the server at {} within {} ms",
                                 PQhost(session->handle) == nullptr ? "" : PQhost(session->handle),
                                 timeout.count()));
    }
    if (code == asio::error::operation_aborted)
      co_return fail(ErrorKind::cancelled, "connecting was abandoned");
    next = PQconnectPoll(session->handle);
  }
  co_return fail(ErrorKind::unavailable, session->last_message());
}

milliseconds timeout_of(const ConnInfo& info, const ConnectOptions& options) {
  auto timeout = options.connect_timeout;
  if (const auto found = info.keywords.find("connect_timeout"); found != info.keywords.end()) {
    std::int64_t seconds = 0;
    const auto& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (seconds > 0 && seconds < 86'400) timeout = std::min(timeout, milliseconds(seconds * 1'000));
  }
  return timeout;
}

}  // namespace

Task<std::unique_ptr<Connection>> Connection::connect(Executor executor, ConnectOptions options) {
  MR_CO_TRY(auto info, parse_conninfo(options));
  const auto deadline = std::chrono::steady_clock::now() + timeout_of(info, options);
  std::vector<Error> errors;
  const auto note = [&](Error error) {
    // One line per reason: two addresses of one host often fail alike.
    for (const auto& known : errors) {
      if (known.message == error.message) return;
    }
    errors.push_back(std::move(error));
  };
  for (std::size_t pass = 0; pass < info.session_passes.size(); ++pass) {
    for (std::size_t h = 0; h < info.hosts.size(); ++h) {
      const auto turns_left = (info.session_passes.size() - pass) * info.hosts.size() - h;
      auto addresses =
          co_await resolve(info.hosts[h], left_until(deadline) / static_cast<int>(turns_left));
      if (!addresses) {
        if (addresses.error().kind == ErrorKind::cancelled) co_return fail(addresses.error());
        note(addresses.error());
        continue;
      }
      for (std::size_t a = 0; a < addresses->size(); ++a) {
        const auto tries_left = static_cast<int>(turns_left - 1 + addresses->size() - a);
        const auto left = left_until(deadline);
        if (left <= milliseconds(0)) {
          note(
              {.kind = ErrorKind::unavailable, .message = "no time was left to try the next host"});
          break;
        }
        auto session = std::make_shared<Impl>(executor);
        session->on_notice = options.on_notice;
        session->handle = start(info, (*addresses)[a], info.session_passes[pass]);
        if (session->handle != nullptr)
          PQsetNoticeReceiver(session->handle, forward_notice,
                              static_cast<Session*>(session.get()));
        auto completed = co_await complete(session, left / tries_left);
        if (completed && PQsetnonblocking(session->handle, 1) != 0) {
          completed = fail(ErrorKind::internal, session->last_message());
        }
        if (completed && !session->keep_watching()) {
          completed = fail(ErrorKind::unavailable, "too many open files");
        }
        if (completed) co_return std::unique_ptr<Connection>(new Connection(std::move(session)));
        if (completed.error().kind == ErrorKind::cancelled) co_return fail(completed.error());
        note(completed.error());
      }
    }
  }
  MR_ASSERT(!errors.empty());
  auto error = std::move(errors.front());
  for (std::size_t i = 1; i < errors.size(); ++i) error.message += "; " + errors[i].message;
  co_return fail(std::move(error));
}

}  // namespace millrace::pg
