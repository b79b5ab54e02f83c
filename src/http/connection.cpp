#include "http/connection.h"

#include "base/assert.h"
#include "http/connection_events.h"
#include "http/server_state.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace millrace::http {
namespace {

constexpr std::size_t kBufferBytes = 8 * 1024;
constexpr std::size_t kOwnHeadKeptBytes = 1024;

// Changes nothing, by its definition (RFC 9110, 9.2.1).
bool is_safe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

}  // namespace

void Exchange::reserve(std::size_t size) {
  if (capacity >= size) return;
  auto larger = std::make_unique_for_overwrite<char[]>(size);
  if (used > 0) std::memcpy(larger.get(), buffer.get(), used);
  buffer = std::move(larger);
  capacity = size;
}

void Exchange::switch_to_upload_buffer() {
  auto larger = std::make_unique_for_overwrite<char[]>(kUploadBufferBytes);
  const auto left = unread();
  std::memcpy(larger.get(), left.data(), left.size());
  if (own_head.empty()) head_keeper = std::move(buffer);
  buffer = std::move(larger);
  capacity = kUploadBufferBytes;
  used = left.size();
  taken = 0;
}

void Exchange::release_buffer() {
  MR_ASSERT(used == taken);
  buffer.reset();
  capacity = used = taken = 0;
}

void Exchange::next_request() {
  if (used > taken) std::memmove(buffer.get(), buffer.get() + taken, used - taken);
  used -= taken;
  taken = 0;
  if (capacity > kBufferBytes && used <= kBufferBytes) {  // Grown for one long head.
    auto smaller = std::make_unique_for_overwrite<char[]>(kBufferBytes);
    if (used > 0) std::memcpy(smaller.get(), buffer.get(), used);
    buffer = std::move(smaller);
    capacity = kBufferBytes;
  }
  head_keeper.reset();
  own_head.clear();
  if (own_head.capacity() > kOwnHeadKeptBytes) own_head = std::string();
  reader.reset();
  auto fields = std::move(request.log_fields);  // Keeps its memory.
  fields.clear();
  request = ServerRequest{};
  request.log_fields = std::move(fields);
  cancel.reset();
  failure.reset();
  rest = std::string();
  body_sent = 0;
}

Connection::Connection(Shard& shard, std::unique_ptr<Stream> stream, PeerAddress peer,
                       std::string peer_key, bool by_proxy)
    : shard_(shard),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      peer_key_(std::move(peer_key)),
      by_proxy_(by_proxy) {}

Connection::~Connection() = default;

awaitable<void> Connection::run(std::shared_ptr<Connection> self,
                                std::shared_ptr<ServerState> server) {
  self->shard_.enter(*self);
  co_await self->serve_all();
  self->leave();
  if (!self->peer_key_.empty()) server->peers.leave(self->peer_key_);
  server->connection_ended();
}

awaitable<void> Connection::run_refusal(std::shared_ptr<Connection> self,
                                        std::shared_ptr<ServerState> server) {
  self->shard_.enter(*self);
  self->exchange_ = self->shard_.take_exchange();
  self->close_next_ = true;
  self->unread_input_ = true;
  co_await self->serve(Refusal{503, "too many connections"});
  co_await self->linger();
  self->leave();
  server->refusals.fetch_sub(1);
  server->connection_ended();
}

void Connection::leave() {
  // Over TLS an end that is not announced looks like one that somebody else made.
  if (stream_->secure()) stream_->finish_writing();
  stream_->close();
  if (exchange_) {
    exchange_->used = exchange_->taken = 0;
    exchange_->next_request();
    shard_.give_back(std::move(exchange_));
  }
  shard_.leave(*this);
}

awaitable<void> Connection::serve_all() {
  if (stream_->secure() && !co_await shake_hands()) co_return;
  while (!dead_) {
    std::optional<Refusal> refusal;
    if (!co_await read_head()) co_return;
    if (exchange_->failure) {
      refusal = exchange_->failure;
      close_next_ = true;
      unread_input_ = true;
    }
    first_request_ = false;
    co_await serve(refusal);
    if (dead_ || close_next_) break;
    exchange_->next_request();
    // Whoever sends request upon request is not alone here.
    if (has_had_enough()) co_await give_way();
  }
  if (unread_input_) co_await linger();
}

awaitable<bool> Connection::shake_hands() {
  set_phase(Phase::handshake, shard_.server().options.limits.header_time_max);
  for (;;) {
    const auto state = stream_->handshake();
    if (state == Io::done) co_return true;
    if (state == Io::closed || !co_await stream_->wait(state)) co_return false;
  }
}

// True when there is a head to serve, or a refusal in failure.
awaitable<bool> Connection::read_head() {
  bool begun = false;
  bool again = false;
  for (;;) {
    if (!exchange_ || exchange_->used == 0) {
      if (!expects_request(std::exchange(again, true))) co_return false;
      if (!stream_->has_pending()) {  // Waits without any buffer.
        if (exchange_) shard_.give_back(std::move(exchange_));
        if (!co_await stream_->wait(Io::again_when_readable)) co_return false;
      }
      if (!exchange_) exchange_ = shard_.take_exchange();
    } else {
      const auto done = exchange_->reader.read_head({exchange_->buffer.get(), exchange_->used});
      if (!done) exchange_->failure = done.error();
      if (!done || *done) co_return true;
    }
    if (!begun && exchange_->used > 0) {
      set_phase(Phase::head, shard_.server().options.limits.header_time_max);
      begun = true;
    }
    auto& x = *exchange_;
    x.reserve(x.used < kBufferBytes ? kBufferBytes
                                    : shard_.server().options.limits.head.header_max_bytes + 1024);
    const auto got = stream_->read({x.buffer.get() + x.used, x.capacity - x.used});
    if (got.state == Io::closed) co_return false;
    x.used += got.bytes;
    if (got.state == Io::done || x.used == 0) continue;
    const bool ready = co_await stream_->wait(got.state);
    if (expired_) {  // Whether or not a last byte came at the same moment.
      x.failure = Refusal{408, "the request header did not come in time"};
      co_return true;
    }
    if (!ready) co_return false;
  }
}

// For as long as the client likes within its limit. `again`: what came was no part of a request
// yet, as pieces of a record of TLS are not; that gives no more time.
bool Connection::expects_request(bool again) {
  const auto& limits = shard_.server().options.limits;
  if (shard_.server().draining.load()) return false;
  if (!again) {
    set_phase(Phase::idle, first_request_ ? limits.header_time_max : limits.idle_time_max);
  }
  return true;
}

awaitable<void> Connection::serve(std::optional<Refusal> refusal) {
  if (refusal) {
    begin_failed_request();
  } else {
    begin_request();
    refusal = find_route();
  }
  in_request_ = true;
  if (refusal) {
    refuse(*refusal);
  } else if (exchange_->response.mode == ResponseState::Mode::none) {
    co_await run_handler();
  }
  if (!answer_at_once()) co_await finish_answer();
  if (channel_) close_channel();
  ++watch_;
  watching_ = false;
  in_request_ = false;
  report();
  if (dead_ || !exchange_->response.keep_alive) {
    const bool body_read = body_ == Body::none || body_ == Body::done;
    unread_input_ = unread_input_ || !body_read || !exchange_->unread().empty();
    close_next_ = true;
  } else if (body_ == Body::length) {
    request_ends_ = shard_.server().clock.now() + shard_.server().options.limits.body_stall_max;
    co_await discard_body();
  }
  request_ends_ = Clock::Steady::max();
}

// A client that is still sending when the socket is closed gets a reset, and may lose the answer
// that says why. So: say that nothing more will come, and read on for a moment.
awaitable<void> Connection::linger() {
  if (dead_) co_return;
  stream_->finish_writing();
  if (!exchange_) exchange_ = shard_.take_exchange();
  exchange_->reserve(kBufferBytes);
  set_phase(Phase::linger, shard_.server().options.limits.linger_max);
  for (;;) {
    const auto got = stream_->read({exchange_->buffer.get(), exchange_->capacity});
    if (got.state == Io::closed || dead_) co_return;
    if (got.state == Io::done) {
      if (has_had_enough()) co_await give_way();
    } else if (!co_await stream_->wait(got.state)) {
      co_return;
    }
  }
}

void Connection::set_phase(Phase phase, std::chrono::milliseconds max) {
  phase_ = phase;
  expired_ = false;
  deadline_ = max == std::chrono::milliseconds::max() ? Clock::Steady::max()
                                                      : shard_.server().clock.now() + max;
}

void Connection::tick(Clock::Steady now) {
  if (dead_) return;
  if (channel_) channel_->tick(now);
  if (now >= deadline_) {
    expire();
  } else if (now >= request_ends_) {
    request_timed_out();
  }
}

void Connection::expire() {
  switch (phase_) {
    case Phase::head:
    case Phase::body:
      expired_ = true;
      deadline_ = Clock::Steady::max();
      stream_->cancel_waits();
      return;
    case Phase::writing:
      reason_ = "the client took nothing of the answer";
      cut();
      return;
    case Phase::handshake:
    case Phase::idle:
    case Phase::linger:
    case Phase::handler:
      cut();
      return;
  }
}

void Connection::request_timed_out() {
  request_ends_ = Clock::Steady::max();
  if (phase_ == Phase::body) {
    expire();
    return;
  }
  reason_ = "the request took too long";
  if (phase_ != Phase::writing && exchange_ && !exchange_->response.started()) {
    // The handler may be in the middle of its own answer: this one is made beside it.
    ResponseState state;
    state.begin(*this);
    state.wants_keep_alive = false;
    state.correlation_id = exchange_->request.correlation_id;
    state.cors_lines = exchange_->response.cors_lines;
    ResponseWriter response(state);
    // The handler goes on, and may still do what it was asked for: whoever repeats the request must
    // know that.
    const bool changes = !is_safe(exchange_->request.method);
    timed_out_status_ = changes ? 504 : 503;
    if (!changes) response.header("Retry-After", "1");
    shard_.server().options.problem(
        {.status = timed_out_status_,
         .detail = changes ? "the request took too long; it may have been done all the same"
                           : "the request took too long",
         .correlation_id = state.correlation_id},
        response);
    auto& out = shard_.scratch();
    state.append_head(out, state.body.size());
    if (!exchange_->response.head_only) out.append(state.body);
    const std::array<std::string_view, 1> parts = {out};
    stream_->write(parts);  // As much as the kernel takes: the client has waited long enough.
    stream_->finish_writing();
  }
  cut();
}

void Connection::drain() {
  if (phase_ == Phase::idle) {
    cut();
    return;
  }
  close_next_ = true;
  if (channel_) channel_->close();
  const bool long_lived =
      exchange_ && exchange_->match.route != nullptr && exchange_->match.route->limits.long_lived;
  if (in_request_ && long_lived) cancel_request("the server stops");
}

void Connection::cut() {
  if (dead_) return;
  dead_ = true;
  stream_->close();
  if (channel_) channel_->gone();
  cancel_request(reason_.empty() ? "the connection is closed" : reason_);
}

}  // namespace millrace::http
