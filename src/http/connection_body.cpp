// What comes in behind the head, what goes out, and whether anybody is still there.
#include "http/connection.h"
#include "http/connection_events.h"
#include "http/server_state.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace millrace::http {
namespace {

namespace asio = boost::asio;

constexpr std::uint64_t kDiscardMaxBytes = 64 * 1024;
constexpr std::size_t kPartsMax = 4;
constexpr unsigned kAtOnceMax = 16;

std::unexpected<Error> gone() {
  return fail(ErrorKind::cancelled, "the client closed the connection");
}

}  // namespace

std::optional<std::uint64_t> Connection::body_length() const {
  const auto& head = exchange_->reader.head();
  if (head.chunked) return std::nullopt;
  return head.content_length.value_or(0);
}

Task<std::size_t> Connection::read_body(std::span<char> into) {
  if (body_ == Body::none || body_ == Body::done) co_return std::size_t{0};
  if (dead_) co_return gone();
  if (body_ == Body::failed) {
    co_return fail(ErrorKind::invalid_argument, "the body of the request cannot be read");
  }
  // Asked for only now: a handler that refuses does so before the client sends anything.
  if (std::exchange(continue_wanted_, false) && exchange_->unread().empty()) {
    const std::array<std::string_view, 1> parts = {"HTTP/1.1 100 Continue\r\n\r\n"};
    MR_CO_TRY_VOID(co_await send(parts));
  }
  if (body_ == Body::length) co_return co_await read_length_body(into);
  co_return co_await read_chunked_body(into);
}

std::size_t Connection::read_ready(std::span<char> into) {
  if (body_ != Body::length || dead_) return 0;
  auto& x = *exchange_;
  const auto size = static_cast<std::size_t>(
      std::min<std::uint64_t>({into.size(), x.unread().size(), body_left_}));
  if (size == 0) return 0;
  continue_wanted_ = false;  // It sends without having been asked to.
  std::memcpy(into.data(), x.unread().data(), size);
  x.taken += size;
  took_of_body(size);
  return size;
}

Task<std::size_t> Connection::read_length_body(std::span<char> into) {
  if (const auto ready = read_ready(into); ready > 0) co_return ready;
  into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), body_left_)));
  MR_CO_TRY(const auto size, co_await receive(into));
  took_of_body(size);
  co_return size;
}

void Connection::took_of_body(std::size_t size) {
  body_left_ -= size;
  body_received_ += size;
  if (body_left_ == 0) body_finished();
}

Task<std::size_t> Connection::read_chunked_body(std::span<char> into) {
  auto& x = *exchange_;
  for (;;) {
    const auto decoded = x.reader.decode(x.unread(), into);
    if (!decoded) co_return fail_body(decoded.error());
    x.taken += decoded->taken;
    body_received_ += decoded->made;
    if (decoded->finished) body_finished();
    if (decoded->made > 0 || decoded->finished) co_return decoded->made;
    if (x.capacity < Exchange::kUploadBufferBytes) {
      x.switch_to_upload_buffer();
    } else {
      std::memmove(x.buffer.get(), x.unread().data(), x.unread().size());
      x.used -= x.taken;
      x.taken = 0;
    }
    MR_CO_TRY(const auto got, co_await receive({x.buffer.get() + x.used, x.capacity - x.used}));
    x.used += got;
  }
}

Task<std::size_t> Connection::receive(std::span<char> into) {
  for (;;) {
    const auto got = stream_->read(into);
    if (got.state == Io::done) {
      if (has_had_enough()) co_await give_way();
      co_return got.bytes;
    }
    if (got.state == Io::closed) {
      body_ = Body::failed;
      cut();
      co_return gone();
    }
    set_phase(Phase::body, shard_.server().options.limits.body_stall_max);
    const bool ready = co_await stream_->wait(got.state);
    const bool expired = expired_;
    leave_phase();
    if (expired) co_return fail_body({408, "the request body did not come in time"});
    if (!ready) co_return gone();
  }
}

std::unexpected<Error> Connection::fail_body(Refusal refusal) {
  body_ = Body::failed;
  close_next_ = true;
  unread_input_ = true;
  exchange_->failure = refusal;
  return fail(ErrorKind::invalid_argument, std::string(refusal.detail));
}

// A client that is as fast as we are would otherwise have this thread for itself.
bool Connection::has_had_enough() { return ++at_once_ >= kAtOnceMax; }

awaitable<void> Connection::give_way() {
  at_once_ = 0;
  co_await asio::post(shard_.executor(), asio::use_awaitable);
}

void Connection::body_finished() {
  body_ = Body::done;
  auto& x = *exchange_;
  if (!x.own_head.empty() && x.unread().empty()) x.release_buffer();
}

bool Connection::body_can_be_discarded() const {
  if (body_ == Body::none || body_ == Body::done) return true;
  // A client that waits for 100-continue may or may not send the body now: nobody can tell what
  // the next bytes are.
  if (body_ != Body::length || continue_wanted_) return false;
  return body_left_ <= kDiscardMaxBytes;
}

awaitable<void> Connection::discard_body() {
  std::array<char, 1024> bytes;
  while (body_ == Body::length) {
    const auto got = co_await read_body(bytes);
    if (got) continue;
    close_next_ = true;
    co_return;
  }
}

CancelToken Connection::cancel_token() {
  auto& cancel = exchange_->cancel;
  if (!cancel) {
    cancel.emplace();
    if (dead_) cancel->cancel("the connection is closed");
    watch_peer();
  }
  return cancel->token();
}

void Connection::cancel_request(std::string_view why) {
  if (in_request_ && exchange_ && exchange_->cancel) exchange_->cancel->cancel(std::string(why));
}

void Connection::watch_peer() {
  if (watching_ || dead_) return;
  watching_ = true;
  stream_->wait(Io::again_when_readable, [self = shared_from_this(), watch = watch_](bool ready) {
    if (watch != self->watch_ || !ready || self->dead_) return;
    self->watching_ = false;
    // Bytes: of the body or the next request. They say that the client is there, and
    // hide whether it stays.
    const auto state = self->stream_->peek();
    if (state == Io::again_when_readable) self->watch_peer();
    if (state != Io::closed) return;
    self->reason_ = "the client closed the connection";
    self->cut();
  });
}

bool Connection::may_keep_alive() {
  return !close_next_ && !shard_.server().draining.load() && body_can_be_discarded();
}

std::string_view Connection::common_headers() { return shard_.common_headers(); }

Task<void> Connection::send(std::span<const std::string_view> parts) {
  std::array<std::string_view, kPartsMax> left;
  std::ranges::copy(parts, left.begin());
  std::span<std::string_view> rest(left.data(), parts.size());
  for (;;) {
    while (!rest.empty() && rest.front().empty()) rest = rest.subspan(1);
    if (rest.empty()) co_return ok();
    auto [state, sent] = stream_->write(rest);
    if (state == Io::closed) {
      cut();
      co_return gone();
    }
    for (auto& part : rest) {
      const auto size = std::min(sent, part.size());
      part.remove_prefix(size);
      sent -= size;
    }
    if (state == Io::done) {
      if (has_had_enough()) co_await give_way();
      continue;
    }
    set_phase(Phase::writing, shard_.server().options.limits.write_stall_max);
    const bool ready = co_await stream_->wait(state);
    leave_phase();
    if (!ready) co_return gone();
  }
}

std::shared_ptr<SseChannel> Connection::open_channel(SseOptions options, bool chunked) {
  request_ends_ = Clock::Steady::max();  // A stream has no end of its own.
  channel_ = std::make_shared<EventChannel>(*this, options, chunked);
  if (dead_) channel_->gone();
  // Those that were open have been told; this one comes just after.
  if (shard_.server().draining.load()) channel_->close();
  watch_peer();
  return channel_;
}

void Connection::fail_events(std::string_view why) {
  reason_ = why;
  cut();
}

}  // namespace millrace::http
