// DevTools: the conversation with one browser, JSON messages ended by a zero byte on two pipes.
//
// Flow: send() numbers a call and puts it into the outbox; serve() writes the outbox, reads
// messages, hands answers to whoever waits in answer(), and events to `on_event`. Calls may be sent
// ahead of the answers of earlier ones. What comes from the browser is untrusted: a message that is
// too long or no JSON, an outbox that the browser does not read, and an answer to nothing end the
// conversation. After close(), every call fails with `unavailable`.
//
// There are no deadlines here: whoever uses the browser has one and closes the conversation.
// Threading: all on one strand. Lifetime: serve() has ended before it goes away.
#pragma once

#include "base/event.h"
#include "base/json.h"
#include "base/task.h"
#include "sandbox/unique_fd.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::render {

struct DevToolsLimits {
  std::size_t message_max_bytes = std::size_t{16} * 1024 * 1024;
  std::size_t outbox_max_bytes = std::size_t{32} * 1024 * 1024;
  std::size_t pending_max = 1024;
};

struct DevToolsEvent {
  std::string_view session;  // Empty: of the browser itself.
  std::string_view method;
  const json::Object& params;
};

class DevTools {
 public:
  using EventSink = std::function<void(const DevToolsEvent& event)>;
  class Call;                             // One call under way.
  using CallPtr = std::shared_ptr<Call>;  // Shared by the caller and the list of the unanswered.

  DevTools(Executor strand, sandbox::UniqueFd to_browser, sandbox::UniqueFd from_browser,
           DevToolsLimits limits = {});

  // Ends when the conversation does.
  awaitable<void> serve(EventSink on_event);

  // `params` is a JSON object. `session` empty: to the browser itself.
  CallPtr send(std::string_view session, std::string_view method, std::string_view params = "{}");
  Task<json::Object> answer(CallPtr call);
  Task<json::Object> call(std::string session, std::string method, std::string params = "{}");
  // Nobody waits for the answer, and an error in it does not matter.
  void post(std::string_view session, std::string_view method, std::string_view params = "{}");

  void close(std::string why);  // Safe twice: the first reason stays.
  bool closed() const { return closed_; }
  const std::string& why() const { return why_; }

 private:
  awaitable<void> read_loop(EventSink on_event);
  awaitable<void> write_loop();
  void on_message(std::string_view text, const EventSink& on_event);
  std::uint64_t put(std::string_view session, std::string_view method, std::string_view params);

  boost::asio::posix::stream_descriptor input_;
  boost::asio::posix::stream_descriptor output_;
  DevToolsLimits limits_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, CallPtr> pending_;
  std::string outbox_;
  Event outbox_filled_;
  bool closed_ = false;
  std::string why_;
};

// Reading members of untrusted messages: empty or zero when there is none of that kind.
std::string_view text_member(const json::Object& object, std::string_view name);
const json::Object* object_member(const json::Object& object, std::string_view name);
bool bool_member(const json::Object& object, std::string_view name);

}  // namespace millrace::render
