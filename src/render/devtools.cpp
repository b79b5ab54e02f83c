#include "render/devtools.h"

#include "base/both.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::render {
namespace {

namespace asio = boost::asio;
constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadBytes = std::size_t{256} * 1024;

}  // namespace

class DevTools::Call {
 public:
  std::string method;
  std::optional<Result<json::Object>> result;
  Event done;

  void finish(Result<json::Object> ended) {
    result = std::move(ended);
    done.set();
  }
};

DevTools::DevTools(Executor strand, sandbox::UniqueFd to_browser, sandbox::UniqueFd from_browser,
                   DevToolsLimits limits)
    : input_(strand, to_browser.release()),
      output_(strand, from_browser.release()),
      limits_(limits) {}

awaitable<void> DevTools::serve(EventSink on_event) {
  co_await both(read_loop(std::move(on_event)), write_loop());
}

awaitable<void> DevTools::read_loop(EventSink on_event) {
  std::string message;
  std::string buffer(kReadBytes, '\0');
  while (!closed_) {
    const auto [error, size] = co_await output_.async_read_some(asio::buffer(buffer), kUse);
    if (error) {
      close("the browser closed its pipe");
      break;
    }
    std::string_view piece(buffer.data(), size);
    while (!closed_ && !piece.empty()) {
      const auto end = piece.find('\0');
      message += piece.substr(0, end);
      if (message.size() > limits_.message_max_bytes) {
        close(fmt::format("the browser sent a message of more than {} bytes",
                          limits_.message_max_bytes));
        break;
      }
      if (end == std::string_view::npos) break;
      piece.remove_prefix(end + 1);
      on_message(message, on_event);
      // One large message must not keep its memory for good.
      if (message.capacity() > 4 * kReadBytes) {
        message = {};
      } else {
        message.clear();
      }
    }
  }
}

void DevTools::on_message(std::string_view text, const EventSink& on_event) {
  auto parsed = parse_json_object(text, {.max_bytes = limits_.message_max_bytes, .max_depth = 200});
  if (!parsed.has_value()) return close("the browser sent what is no JSON");
  json::Object& message = *parsed;
  if (const auto* id = message.if_contains("id"); id != nullptr) {
    const auto number = id->is_int64() ? static_cast<std::uint64_t>(id->get_int64()) : 0;
    const auto found = pending_.find(number);
    if (found == pending_.end()) {
      if (number == 0 || number > last_id_) close("the browser answered what nobody asked");
      return;  // Of a call that was posted.
    }
    const auto call = std::move(found->second);
    pending_.erase(found);
    if (const auto* error = object_member(message, "error")) {
      return call->finish(
          fail(ErrorKind::internal,
               fmt::format("{}: {}", call->method, text_member(*error, "message").substr(0, 300))));
    }
    const auto* result = object_member(message, "result");
    return call->finish(result != nullptr ? *result : json::Object());
  }
  const auto* params = object_member(message, "params");
  static const json::Object kNone;
  on_event({.session = text_member(message, "sessionId"),
            .method = text_member(message, "method"),
            .params = params != nullptr ? *params : kNone});
}

awaitable<void> DevTools::write_loop() {
  std::string writing;
  while (!closed_) {
    if (outbox_.empty()) {
      outbox_filled_.reset();
      co_await outbox_filled_.wait();
      continue;
    }
    writing.clear();
    std::swap(writing, outbox_);
    const auto [error, size] = co_await asio::async_write(input_, asio::buffer(writing), kUse);
    if (error) close("the browser does not read its pipe");
    if (writing.capacity() > 4 * kReadBytes) writing = {};
  }
}

std::uint64_t DevTools::put(std::string_view session, std::string_view method,
                            std::string_view params) {
  const std::uint64_t id = ++last_id_;
  if (closed_) return id;
  if (outbox_.size() + params.size() > limits_.outbox_max_bytes) {
    close("the browser does not read its pipe fast enough");
    return id;
  }
  outbox_ += fmt::format(R"({{"id":{},"method":"{}","params":)", id, method);
  outbox_ += params;
  if (!session.empty()) outbox_ += R"(,"sessionId":)" + json_quote(session);
  outbox_ += '}';
  outbox_ += '\0';
  outbox_filled_.set();
  return id;
}

DevTools::CallPtr DevTools::send(std::string_view session, std::string_view method,
                                 std::string_view params) {
  auto call = std::make_shared<Call>();
  call->method = method;
  if (pending_.size() >= limits_.pending_max) close("the browser leaves too much unanswered");
  const std::uint64_t id = put(session, method, params);
  if (closed_) {
    call->finish(fail(ErrorKind::unavailable, why_));
  } else {
    pending_.emplace(id, call);
  }
  return call;
}

Task<json::Object> DevTools::answer(CallPtr call) {
  co_await call->done.wait();
  if (!call->result) co_return fail(ErrorKind::cancelled, "the wait for the browser was cancelled");
  co_return std::move(*call->result);
}

Task<json::Object> DevTools::call(std::string session, std::string method, std::string params) {
  co_return co_await answer(send(session, method, params));
}

void DevTools::post(std::string_view session, std::string_view method, std::string_view params) {
  put(session, method, params);
}

void DevTools::close(std::string why) {
  if (closed_) return;
  closed_ = true;
  why_ = std::move(why);
  boost::system::error_code ignored;
  input_.close(ignored);
  output_.close(ignored);
  outbox_filled_.set();
  const auto unanswered = std::exchange(pending_, {});
  for (const auto& [id, call] : unanswered) call->finish(fail(ErrorKind::unavailable, why_));
}

std::string_view text_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

const json::Object* object_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

bool bool_member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace millrace::render
