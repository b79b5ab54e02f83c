#include "app/demo/stand_in.h"

#include "app/context.h"
#include "base/json.h"
#include "base/spawn.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <set>
#include <thread>

namespace millrace::app {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kBodyMaxBytes = 1024 * 1024;

std::size_t content_length(std::string_view head) {
  for (const std::string_view name : {"Content-Length: ", "content-length: "}) {
    const auto at = head.find(name);
    if (at == head.npos) continue;
    std::size_t length = 0;
    const auto digits = head.substr(at + name.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    return length;
  }
  return 0;
}

}  // namespace

struct StandIn::Parts {
  explicit Parts(const Ledger& book) : ledger(book) {}

  awaitable<void> accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor.async_accept(kTuple);
      if (error) co_return;
      spawn(io.get_executor(), serve(std::move(socket)), log, "stand_in");
    }
  }

  awaitable<void> serve(tcp::socket socket) {
    std::string buffer;
    for (;;) {
      auto [error, head_size] =
          co_await asio::async_read_until(socket, asio::dynamic_buffer(buffer), "\r\n\r\n", kTuple);
      if (error) co_return;
      const auto length = content_length(std::string_view(buffer).substr(0, head_size));
      if (length > kBodyMaxBytes) co_return;
      const auto wanted = head_size + length;
      if (buffer.size() < wanted) {
        auto [read_error, got] =
            co_await asio::async_read(socket, asio::dynamic_buffer(buffer),
                                      asio::transfer_exactly(wanted - buffer.size()), kTuple);
        if (read_error || got == 0) co_return;
      }
      const auto reply = answer(std::string_view(buffer).substr(head_size, length));
      buffer.erase(0, wanted);
      auto [write_error, sent] = co_await asio::async_write(socket, asio::buffer(reply), kTuple);
      if (write_error || sent == 0) co_return;
    }
  }

  std::string answer(std::string_view body) {
    const auto reply = [](const char* status, const std::string& headers, const std::string& text) {
      return fmt::format(
          "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", status,
          text.size(), headers, text);
    };
    const auto job = parse_json_object(body);
    if (!job) return reply("400 Bad Request", "", R"({"error": "not a job"})");
    const auto id = text_member(*job, "job_id");
    const auto type = text_member(*job, "job_type");
    const auto* payload = member(*job, "payload");
    const auto number =
        payload != nullptr && payload->is_object() ? int_member(payload->as_object(), "number") : 0;
    if (number % 5 == 0 && sent_away.insert(id).second) {
      ledger.append(type, id, "retry", "asked to come back");
      return reply("503 Service Unavailable", "Retry-After: 1\r\n", R"({"error": "busy"})");
    }
    ledger.append(type, id, "done");
    return reply("200 OK", "", fmt::format(R"({{"length": {}}})", body.size()));
  }

  const Ledger& ledger;
  Logger log = Logger::silent();
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  std::set<std::string> sent_away;
  std::thread thread;
};

StandIn::StandIn(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

StandIn::~StandIn() {
  parts_->io.stop();
  if (parts_->thread.joinable()) parts_->thread.join();
}

Result<std::unique_ptr<StandIn>> StandIn::start(const Ledger& ledger) {
  auto parts = std::make_unique<Parts>(ledger);
  boost::system::error_code error;
  const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), 0);
  parts->acceptor.open(endpoint.protocol(), error);
  if (!error) parts->acceptor.bind(endpoint, error);
  if (!error) parts->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot listen on the loopback address: {}", error.message()));
  }
  spawn(parts->io.get_executor(), parts->accept(), parts->log, "stand_in_accept");
  parts->thread = std::thread([raw = parts.get()] { raw->io.run(); });
  return std::unique_ptr<StandIn>(new StandIn(std::move(parts)));
}

std::string StandIn::url() const {
  return fmt::format("http://127.0.0.1:{}/measure", parts_->acceptor.local_endpoint().port());
}

}  // namespace millrace::app
