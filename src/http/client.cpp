#include "http/client.h"

#include "base/assert.h"
#include "http/transfer.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace millrace::http {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kBodyPieceBytes = 64 * 1024;

void init_curl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  MR_ASSERT(code == CURLE_OK);
}

// Tells the watch of one call when it has ended.
class Told {
 public:
  Told(CallWatch* watch, const std::string& service)
      : watch_(service.empty() ? nullptr : watch), service_(service) {}

  void answered(int status) const {
    if (watch_ != nullptr) watch_->called(service_, status, Steady::now() - began_);
  }
  void failed(const Error& error) const {
    const bool is_theirs =
        error.kind == ErrorKind::unavailable || error.kind == ErrorKind::in_doubt;
    if (is_theirs) answered(0);
  }

 private:
  CallWatch* watch_;
  std::string service_;
  Steady::time_point began_ = Steady::now();
};

// One of libcurl's sockets: libcurl opens and closes it, Asio says when it is ready.
struct Watch {
  explicit Watch(const Executor& strand) : descriptor(strand) {}

  Descriptor descriptor;
  int wanted = CURL_POLL_NONE;  // CURL_POLL_IN, _OUT or _INOUT, which are bits.
  bool waiting_in = false;
  bool waiting_out = false;
};

}  // namespace

// Everything below runs on strand_. libcurl calls on_socket and on_timer from inside its own
// functions, so those two never call back into it.
class Client::Impl final : public std::enable_shared_from_this<Client::Impl> {
 public:
  Impl(const Executor& executor, ClientOptions options)
      : strand_(asio::make_strand(executor)),
        options_(std::move(options)),
        timer_(strand_),
        multi_(curl_multi_init()) {
    MR_ASSERT(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Impl::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Impl::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                      static_cast<long>(options_.idle_connections_max));
  }

  ~Impl() {
    // libcurl closes its sockets; Asio must have forgotten them by then.
    for (auto& [socket, watch] : watches_) watch->descriptor.release();
    watches_.clear();
    curl_multi_cleanup(multi_);
  }

  // Both keep the Impl for as long as they run, whatever happens to the client.
  static Task<Response> send(std::shared_ptr<Impl> impl, Request request, CancelToken cancel) {
    const Executor strand = impl->strand_;
    const Told told(impl->options_.call_watch, request.service);
    auto answer = co_await asio::co_spawn(
        strand, send_here(std::move(impl), std::move(request), std::move(cancel)),
        asio::use_awaitable);
    if (answer) {
      told.answered(answer->status);
    } else {
      told.failed(answer.error());
    }
    co_return answer;
  }
  static Task<ResponseStream> open(std::shared_ptr<Impl> impl, Request request,
                                   CancelToken cancel) {
    const Executor strand = impl->strand_;
    const Told told(impl->options_.call_watch, request.service);
    auto stream = co_await asio::co_spawn(
        strand, open_here(std::move(impl), std::move(request), std::move(cancel)),
        asio::use_awaitable);
    if (stream) {
      told.answered(stream->head().status);
    } else {
      told.failed(stream.error());
    }
    co_return stream;
  }
  static void stop(std::shared_ptr<Impl> impl) {
    const Executor strand = impl->strand_;
    asio::post(strand, [impl = std::move(impl)] { impl->stop_here(); });
  }

 private:
  friend class ResponseStream;

  static Task<Response> send_here(std::shared_ptr<Impl> impl, Request request, CancelToken cancel) {
    co_return co_await impl->send_here(std::move(request), std::move(cancel));
  }
  static Task<ResponseStream> open_here(std::shared_ptr<Impl> impl, Request request,
                                        CancelToken cancel);

  void stop_here() {
    stopped_ = true;
    for (const Transfer* transfer : transfers_) transfer->wake().set();
  }

  Task<Response> send_here(Request request, CancelToken cancel) {
    if (stopped_) co_return fail(ErrorKind::cancelled, "the HTTP client was stopped");
    if (cancel.cancelled()) co_return fail(cancelled_error(cancel, false));
    MR_CO_TRY(const auto transfer,
              Transfer::make(std::move(request), options_, Transfer::Delivery::whole));
    const Added added(this, transfer.get());
    if (!added.good()) co_return fail(cannot_start(*transfer));
    const CancelCallback on_cancel(cancel, [wake = transfer->wake()]() mutable { wake.set(); });
    MR_CO_TRY_VOID(
        co_await drive(transfer.get(), cancel, Until::finished, Steady::time_point::max()));
    co_return transfer->result();
  }

  enum class Until { finished, head, body };

  // Works for a transfer until it has ended, or has what is waited for; an error otherwise.
  Task<void> drive(Transfer* transfer, CancelToken cancel, Until until,
                   Steady::time_point deadline) {
    auto wake = transfer->wake();
    for (;;) {
      wake.reset();
      if (transfer->finished()) co_return ok();
      if (until == Until::head && transfer->head_complete()) co_return ok();
      if (until == Until::body && transfer->has_piece()) co_return ok();
      if (stopped_) co_return fail(ErrorKind::cancelled, "the HTTP client was stopped");
      if (cancel.cancelled()) co_return fail(cancelled_error(cancel, transfer->sent()));
      if (transfer->wants_body()) {
        MR_CO_TRY_VOID(co_await feed(transfer));
        continue;
      }
      const bool woken = deadline == Steady::time_point::max()
                             ? co_await wake.wait()
                             : co_await wake.wait_for(deadline - Steady::now());
      if (woken) continue;
      if (Steady::now() < deadline) co_return fail(cancelled_error(cancel, transfer->sent()));
      co_return fail(transfer->sent() ? ErrorKind::in_doubt : ErrorKind::unavailable,
                     late(*transfer, until));
    }
  }

  static std::string late(const Transfer& transfer, Until until) {
    const auto& request = transfer.request();
    return until == Until::head ? fmt::format("{}: no answer within {} ms", transfer.origin(),
                                              request.total_timeout.count())
                                : fmt::format("{}: no more of the answer within {} ms",
                                              transfer.origin(), request.idle_timeout.count());
  }

  Task<void> feed(Transfer* transfer) {
    std::array<std::byte, kBodyPieceBytes> piece;
    const auto room = std::min<std::uint64_t>(transfer->body_left(), piece.size());
    MR_CO_TRY(const std::size_t size,
              co_await transfer->request().body_source->read(std::span(piece).first(room)));
    if (size == 0) {
      co_return fail(ErrorKind::internal, fmt::format("{}: the request's body ended {} bytes early",
                                                      transfer->origin(), transfer->body_left()));
    }
    transfer->supply(std::span(piece).first(size));
    co_return ok();
  }

  // A transfer is in the multi handle exactly as long as its coroutine waits for it.
  class Added {
   public:
    Added(Impl* impl, Transfer* transfer) : impl_(impl), transfer_(transfer) {
      good_ = curl_multi_add_handle(impl_->multi_, transfer_->easy()) == CURLM_OK;
      if (good_) impl_->transfers_.insert(transfer_);
    }
    Added(const Added&) = delete;
    Added& operator=(const Added&) = delete;
    ~Added() {
      if (!good_) return;
      impl_->transfers_.erase(transfer_);
      curl_multi_remove_handle(impl_->multi_, transfer_->easy());
    }
    bool good() const { return good_; }

   private:
    Impl* impl_;
    Transfer* transfer_;
    bool good_;
  };

  static Error cannot_start(const Transfer& transfer) {
    return {.kind = ErrorKind::unavailable,
            .message = fmt::format("cannot start a request to {}", transfer.origin())};
  }

  static Error cancelled_error(const CancelToken& cancel, bool sent) {
    const auto reason = cancel.reason();
    return {.kind = ErrorKind::cancelled,
            .message = reason.empty() ? "the request was cancelled"
                                      : fmt::format("the request was cancelled: {}", reason),
            .detail = sent ? "the request had been sent" : "the request had not been sent"};
  }

  void act(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(multi_, socket, events, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg == CURLMSG_DONE) {
        Transfer::of(message->easy_handle).finish(message->data.result);
      }
    }
  }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    static_cast<Impl*>(self)->watch(socket, what);
    return 0;
  }

  void watch(curl_socket_t socket, int what) {
    auto found = watches_.find(socket);
    if (what == CURL_POLL_REMOVE) {
      if (found == watches_.end()) return;
      found->second->wanted = CURL_POLL_NONE;
      found->second->descriptor.release();
      watches_.erase(found);
      return;
    }
    if (found == watches_.end()) {
      auto added = std::make_shared<Watch>(strand_);
      boost::system::error_code error;
      added->descriptor.assign(socket, error);
      if (error) return;  // Nobody will report progress; the request's timeout ends it.
      found = watches_.emplace(socket, std::move(added)).first;
    }
    found->second->wanted = what;
    wait_for(found->second, socket);
  }

  void wait_for(const std::shared_ptr<Watch>& watch, curl_socket_t socket) {
    if ((watch->wanted & CURL_POLL_IN) != 0 && !std::exchange(watch->waiting_in, true)) {
      wait_for(watch, socket, Descriptor::wait_read);
    }
    if ((watch->wanted & CURL_POLL_OUT) != 0 && !std::exchange(watch->waiting_out, true)) {
      wait_for(watch, socket, Descriptor::wait_write);
    }
  }

  void wait_for(const std::shared_ptr<Watch>& watch, curl_socket_t socket,
                Descriptor::wait_type type) {
    watch->descriptor.async_wait(
        type, [weak = weak_from_this(), watch, socket, type](boost::system::error_code error) {
          const bool in = type == Descriptor::wait_read;
          (in ? watch->waiting_in : watch->waiting_out) = false;
          const auto self = weak.lock();
          if (!self || error == asio::error::operation_aborted) return;
          if ((watch->wanted & (in ? CURL_POLL_IN : CURL_POLL_OUT)) != 0) {
            self->act(socket, in ? CURL_CSELECT_IN : CURL_CSELECT_OUT);
          }
          self->wait_for(watch, socket);
        });
  }

  static int on_timer(CURLM*, long timeout_ms, void* self) {
    static_cast<Impl*>(self)->set_timer(timeout_ms);
    return 0;
  }

  void set_timer(long timeout_ms) {
    timer_.cancel();
    if (timeout_ms < 0) return;
    timer_.expires_after(std::chrono::milliseconds(timeout_ms));
    timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
      const auto self = weak.lock();
      if (self && !error) self->act(CURL_SOCKET_TIMEOUT, 0);
    });
  }

  Executor strand_;
  ClientOptions options_;
  asio::steady_timer timer_;
  std::unordered_map<curl_socket_t, std::shared_ptr<Watch>> watches_;  // Shared with its waits.
  std::unordered_set<const Transfer*> transfers_;
  bool stopped_ = false;
  CURLM* multi_;
};

// A transfer that outlives the call that started it. Made, used and destroyed on the client's
// strand.
class ResponseStream::Impl {
 public:
  Impl(std::shared_ptr<Client::Impl> client, std::unique_ptr<Transfer> transfer, CancelToken cancel)
      : client_(std::move(client)),
        transfer_(std::move(transfer)),
        cancel_(std::move(cancel)),
        added_(client_.get(), transfer_.get()),
        on_cancel_(cancel_, [wake = transfer_->wake()]() mutable { wake.set(); }) {}

  Executor strand() const { return client_->strand_; }
  const Response& head() const { return transfer_->head(); }

  Task<void> wait_for_head() {
    if (!added_.good()) co_return fail(Client::Impl::cannot_start(*transfer_));
    const auto deadline = Steady::now() + transfer_->request().total_timeout;
    MR_CO_TRY_VOID(co_await client_->drive(transfer_.get(), cancel_, Until::head, deadline));
    if (transfer_->head_complete()) co_return ok();
    MR_CO_TRY_VOID(transfer_->result());
    co_return fail(ErrorKind::in_doubt, "the answer has no headers");
  }

  Task<std::size_t> read(std::span<std::byte> buffer) {
    if (const auto size = transfer_->take(buffer); size > 0) co_return size;
    const auto deadline = Steady::now() + transfer_->request().idle_timeout;
    MR_CO_TRY_VOID(co_await client_->drive(transfer_.get(), cancel_, Until::body, deadline));
    if (const auto size = transfer_->take(buffer); size > 0) co_return size;
    if (!ended_) ended_ = discard(transfer_->result());
    MR_CO_TRY_VOID(Result<void>(*ended_));
    co_return 0;
  }

 private:
  using Until = Client::Impl::Until;

  static Result<void> discard(Result<Response> result) {
    if (!result) return fail(std::move(result).error());
    return ok();
  }

  std::shared_ptr<Client::Impl> client_;  // The transfer is in its multi handle.
  std::unique_ptr<Transfer> transfer_;
  CancelToken cancel_;
  Client::Impl::Added added_;
  CancelCallback on_cancel_;
  std::optional<Result<void>> ended_;  // result() can be asked once only.
};

Task<ResponseStream> Client::Impl::open_here(std::shared_ptr<Impl> impl, Request request,
                                             CancelToken cancel) {
  if (impl->stopped_) co_return fail(ErrorKind::cancelled, "the HTTP client was stopped");
  if (cancel.cancelled()) co_return fail(cancelled_error(cancel, false));
  MR_CO_TRY(auto transfer,
            Transfer::make(std::move(request), impl->options_, Transfer::Delivery::streamed));
  auto stream = std::make_unique<ResponseStream::Impl>(std::move(impl), std::move(transfer),
                                                       std::move(cancel));
  MR_CO_TRY_VOID(co_await stream->wait_for_head());
  co_return ResponseStream(std::move(stream));
}

ResponseStream::ResponseStream() = default;
ResponseStream::ResponseStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResponseStream::ResponseStream(ResponseStream&& other) noexcept = default;
ResponseStream& ResponseStream::operator=(ResponseStream&& other) noexcept {
  if (this == &other) return *this;
  close();
  impl_ = std::move(other.impl_);
  return *this;
}
ResponseStream::~ResponseStream() { close(); }

// libcurl is touched on the strand only; when nobody runs that any more, by whoever destroys it.
void ResponseStream::close() noexcept {
  if (!impl_) return;
  const Executor strand = impl_->strand();
  asio::post(strand, [held = std::move(impl_)] {});
}

const Response& ResponseStream::head() const {
  MR_ASSERT(impl_ != nullptr);
  return impl_->head();
}

Task<std::size_t> ResponseStream::read(std::span<std::byte> buffer) {
  MR_ASSERT(impl_ != nullptr);
  MR_ASSERT(!buffer.empty());
  co_return co_await asio::co_spawn(impl_->strand(), impl_->read(buffer), asio::use_awaitable);
}

Task<std::string> ResponseStream::read_text(std::size_t max_bytes) {
  std::string text;
  while (text.size() < max_bytes) {
    std::array<std::byte, 4096> piece;
    const auto room = std::min(piece.size(), max_bytes - text.size());
    MR_CO_TRY(const std::size_t size, co_await read(std::span(piece).first(room)));
    if (size == 0) break;
    text.append(reinterpret_cast<const char*>(piece.data()), size);
  }
  co_return text;
}

Client::Client(Executor executor, ClientOptions options) {
  init_curl();
  impl_ = std::make_shared<Impl>(executor, std::move(options));
}

Client::~Client() { Impl::stop(std::move(impl_)); }

Task<Response> Client::send(Request request, CancelToken cancel) {
  return Impl::send(impl_, std::move(request), std::move(cancel));
}

Task<ResponseStream> Client::open(Request request, CancelToken cancel) {
  return Impl::open(impl_, std::move(request), std::move(cancel));
}

}  // namespace millrace::http
