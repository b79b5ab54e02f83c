#include "http/connection_stream.h"

#include "base/assert.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace millrace::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kPartsMax = 4;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE.
int bio_write(BIO* bio, const char* data, int size) {
  const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(fd, data, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && would_block()) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* data, int size) {
  const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(fd, data, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got < 0 && would_block()) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO* new_socket_bio(int fd) {
  struct FreeMethod {
    void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
  };
  // One for the process and never changed: OpenSSL keeps a pointer to it in every BIO.
  static const std::unique_ptr<BIO_METHOD, FreeMethod> method = [] {
    std::unique_ptr<BIO_METHOD, FreeMethod> made(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals"));
    BIO_meth_set_write(made.get(), bio_write);
    BIO_meth_set_read(made.get(), bio_read);
    BIO_meth_set_ctrl(made.get(), bio_control);
    return made;
  }();
  BIO* bio = BIO_new(method.get());
  MR_ASSERT(bio != nullptr);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  return bio;
}

IoResult written(ssize_t sent) {
  if (sent >= 0) return {.bytes = static_cast<std::size_t>(sent)};
  return {.state = would_block() ? Io::again_when_writable : Io::closed};
}

Stream::Socket::wait_type wait_type(Io state) {
  return state == Io::again_when_writable ? Stream::Socket::wait_write : Stream::Socket::wait_read;
}

}  // namespace

void Stream::FreeSession::operator()(ssl_st* session) const { SSL_free(session); }

Stream::Stream(Socket socket, ssl_st* session) : socket_(std::move(socket)), session_(session) {
  if (!session_) return;
  BIO* bio = new_socket_bio(socket_.native_handle());
  SSL_set_bio(session_.get(), bio, bio);
}

Stream::~Stream() = default;

Io Stream::state_after(int result) const {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Io::again_when_readable;
    case SSL_ERROR_WANT_WRITE:
      return Io::again_when_writable;
    default:
      ERR_clear_error();
      return Io::closed;
  }
}

Io Stream::handshake() {
  if (!socket_.is_open()) return Io::closed;  // The number may be somebody else's by now.
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  return result == 1 ? Io::done : state_after(result);
}

IoResult Stream::read(std::span<char> into) {
  if (!socket_.is_open()) return {.state = Io::closed};
  if (session_) {
    ERR_clear_error();
    const int got = SSL_read(session_.get(), into.data(),
                             static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX)));
    if (got > 0) return {.bytes = static_cast<std::size_t>(got)};
    return {.state = state_after(got)};
  }
  const auto got = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
  if (got > 0) return {.bytes = static_cast<std::size_t>(got)};
  if (got < 0 && would_block()) return {.state = Io::again_when_readable};
  return {.state = Io::closed};
}

IoResult Stream::write(std::span<const std::string_view> parts) {
  if (!socket_.is_open()) return {.state = Io::closed};
  if (session_) return write_session(parts);
  const int fd = socket_.native_handle();
  if (parts.size() == 1) {  // Nearly every answer; the kernel takes it a little faster so.
    return written(::send(fd, parts[0].data(), parts[0].size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  std::array<iovec, kPartsMax> vectors;
  MR_ASSERT(parts.size() <= vectors.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    vectors[i] = {.iov_base = const_cast<char*>(parts[i].data()), .iov_len = parts[i].size()};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = parts.size();
  return written(::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

IoResult Stream::write_session(std::span<const std::string_view> parts) {
  std::size_t total = 0;
  for (const auto part : parts) {
    if (part.empty()) continue;
    ERR_clear_error();
    const auto size = static_cast<int>(std::min<std::size_t>(part.size(), INT_MAX));
    const int sent = SSL_write(session_.get(), part.data(), size);
    if (sent <= 0) {
      // A refusal after some parts is reported by the next call.
      if (total > 0) return {.bytes = total};
      return {.state = state_after(sent)};
    }
    total += static_cast<std::size_t>(sent);
    if (static_cast<std::size_t>(sent) < part.size()) break;
  }
  return {.bytes = total};
}

Io Stream::peek() {
  if (!socket_.is_open()) return Io::closed;
  char byte = 0;
  if (session_) {
    ERR_clear_error();
    const int got = SSL_peek(session_.get(), &byte, 1);
    return got > 0 ? Io::done : state_after(got);
  }
  const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  if (got > 0) return Io::done;
  return got < 0 && would_block() ? Io::again_when_readable : Io::closed;
}

// Bytes that can be read now. SSL_has_pending would count those of a record that is not whole yet.
bool Stream::has_pending() const { return session_ && SSL_pending(session_.get()) > 0; }

awaitable<bool> Stream::wait(Io state) {
  if (!socket_.is_open()) co_return false;
  const auto [error] =
      co_await socket_.async_wait(wait_type(state), asio::as_tuple(asio::use_awaitable));
  co_return !error;
}

void Stream::wait(Io state, std::function<void(bool ready)> then) {
  socket_.async_wait(wait_type(state),
                     [then = std::move(then)](boost::system::error_code error) { then(!error); });
}

void Stream::cancel_waits() {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Stream::finish_writing() {
  if (!socket_.is_open()) return;
  if (session_) {
    ERR_clear_error();
    if (SSL_is_init_finished(session_.get()) == 1) SSL_shutdown(session_.get());
    ERR_clear_error();
  }
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Stream::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace millrace::http
