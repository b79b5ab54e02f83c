// Connection: one accepted connection and the requests on it, one after the other. Internal to
// http.
//
// Flow: wait for a byte, read a head, find the route, run the handler, write its answer, read what
// the handler left of the body, begin again. While it waits for a request it holds no buffer; while
// a long-lived handler runs, only the head. All waiting has a deadline, looked at by the Shard's
// tick. Threading: its Shard's executor. Lifetime: kept by its own coroutine and by waits under
// way.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "http/connection_stream.h"
#include "http/request_reader.h"
#include "http/response.h"
#include "http/response_state.h"
#include "http/router.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::http {

class EventChannel;
class Shard;
struct ServerState;

// The memory of one request; connections take turns in using it.
struct Exchange {
  static constexpr std::size_t kUploadBufferBytes = 64 * 1024;

  explicit Exchange(HeadLimits limits) : reader(limits) {}

  std::unique_ptr<char[]> buffer;
  std::size_t capacity = 0;
  std::size_t used = 0;   // Bytes in the buffer.
  std::size_t taken = 0;  // Of them, those that have been understood.
  std::string own_head;   // The head of a long-lived request, when the buffer was given up.
  std::unique_ptr<char[]> head_keeper;  // The buffer with the head, when a larger one took over.

  RequestReader reader;
  RequestPath path;
  RouteMatch match;
  ServerRequest request;
  ResponseState response;
  CorrelationId correlation_id{};
  PeerAddress client;  // For whom a trusted proxy asks.
  std::optional<CancelSource> cancel;
  std::optional<Refusal> failure;  // Of the head or the body.
  std::string rest;                // Of an answer that the kernel did not take at once,
  std::size_t body_sent = 0;       // and how much it took of the body behind it.

  std::string_view unread() const { return {buffer.get() + taken, used - taken}; }
  void reserve(std::size_t size);  // Views of the head do not survive it.
  void switch_to_upload_buffer();  // Views of the head do.
  void release_buffer();
  void next_request();  // Keeps what has been read of it.
};

class Connection final : public std::enable_shared_from_this<Connection>,
                         private RequestSource,
                         private ResponseSink {
 public:
  // `by_proxy`: the peer is a trusted proxy.
  Connection(Shard& shard, std::unique_ptr<Stream> stream, PeerAddress peer, std::string peer_key,
             bool by_proxy);
  ~Connection();

  // The whole life. The server's state lives at least as long.
  static awaitable<void> run(std::shared_ptr<Connection> self, std::shared_ptr<ServerState> server);
  // Says 503 and goes.
  static awaitable<void> run_refusal(std::shared_ptr<Connection> self,
                                     std::shared_ptr<ServerState> server);

  void tick(Clock::Steady now);
  void drain();
  void cut();

  // For EventChannel.
  Stream& stream() { return *stream_; }
  Shard& shard() { return shard_; }
  void fail_events(std::string_view why);  // The client is too slow or gone.

  // Links of the shard's list.
  Connection* previous = nullptr;
  Connection* next = nullptr;

 private:
  enum class Phase { handshake, idle, head, body, handler, writing, linger };
  enum class Body { none, length, chunked, done, failed };

  // connection.cpp
  void leave();
  awaitable<void> serve_all();
  awaitable<bool> shake_hands();
  awaitable<bool> read_head();
  bool expects_request(bool again);
  awaitable<void> serve(std::optional<Refusal> refusal);
  awaitable<void> linger();
  void expire();
  void request_timed_out();
  void set_phase(Phase phase, std::chrono::milliseconds max);
  void leave_phase() { set_phase(Phase::handler, std::chrono::milliseconds::max()); }

  // connection_serve.cpp
  void begin_request();
  void begin_failed_request();
  void fill_request(std::string_view correlation_id);
  void read_forwarded();
  std::optional<Refusal> find_route();
  std::optional<Refusal> check_body(const RouteLimits& limits);
  void answer_options(std::string_view allow);
  void detach_head();
  awaitable<void> run_handler();
  void handler_failed(const Error& error);
  void refuse(Refusal refusal);
  bool answer_at_once();
  awaitable<void> finish_answer();
  awaitable<void> finish_events();
  void close_channel();
  void report();

  // connection_body.cpp
  std::optional<std::uint64_t> body_length() const override;
  Task<std::size_t> read_body(std::span<char> into) override;
  std::size_t read_ready(std::span<char> into) override;
  CancelToken cancel_token() override;
  Task<std::size_t> read_length_body(std::span<char> into);
  void took_of_body(std::size_t size);
  Task<std::size_t> read_chunked_body(std::span<char> into);
  Task<std::size_t> receive(std::span<char> into);
  awaitable<void> discard_body();
  bool has_had_enough();  // Of reading and writing while others wait for their turn.
  awaitable<void> give_way();
  void body_finished();
  std::unexpected<Error> fail_body(Refusal refusal);
  bool body_can_be_discarded() const;
  void watch_peer();
  void cancel_request(std::string_view why);

  // connection_body.cpp, too: what goes out.
  bool may_keep_alive() override;
  std::string_view common_headers() override;
  Task<void> send(std::span<const std::string_view> parts) override;
  std::shared_ptr<SseChannel> open_channel(SseOptions options, bool chunked) override;

  Shard& shard_;
  std::unique_ptr<Stream> stream_;
  PeerAddress peer_;
  std::string peer_key_;  // Empty: not counted.
  bool by_proxy_;
  std::unique_ptr<Exchange> exchange_;
  std::shared_ptr<EventChannel> channel_;  // Shared with the handles of handlers.

  Phase phase_ = Phase::handler;
  Clock::Steady deadline_ = Clock::Steady::max();      // Of the phase.
  Clock::Steady request_ends_ = Clock::Steady::max();  // Of the request.
  Clock::Steady request_began_{};
  std::string_view reason_;    // Why the server refused or cut it: a literal.
  bool expired_ = false;       // The wait ended because its time was up.
  bool dead_ = false;          // The socket is closed.
  bool close_next_ = false;    // No further request.
  bool unread_input_ = false;  // The client may still be sending: linger before closing.
  bool first_request_ = true;
  bool in_request_ = false;
  int timed_out_status_ = 0;

  Body body_ = Body::none;
  std::uint64_t body_left_ = 0;  // With Body::length.
  std::uint64_t body_received_ = 0;
  bool continue_wanted_ = false;
  bool watching_ = false;
  unsigned at_once_ = 0;     // Reads and writes since anybody else had a turn.
  std::uint64_t watch_ = 0;  // Which watch counts: those of past requests do not.
};

}  // namespace millrace::http
