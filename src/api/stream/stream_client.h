// StreamClient: an EventSource, as far as tests need one. For tests only.
#pragma once

#include "http/server_fixture.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::api {

class StreamClient {
 public:
  struct Got {
    std::string id;
    std::string event;
    std::string data;
  };

  StreamClient(const http::ListenAddress& address, std::string_view path, std::string_view headers)
      : client_(address) {
    client_.send(http::get(path, headers));
    head_ = client_.read_until("\r\n\r\n");
  }

  int status() const { return head_.size() < 12 ? 0 : std::stoi(head_.substr(9, 3)); }
  const std::string& head() const { return head_; }

  // The next event; nothing at the end of the stream.
  std::optional<Got> next() {
    for (;;) {
      const auto size = client_.read_until("\r\n");
      ended_ = size == "0\r\n";
      if (ended_ || !size.ends_with("\r\n")) return std::nullopt;
      const auto text = client_.read_until("\n\n\r\n");
      Got got;
      bool event = false;
      std::string_view lines(text);
      while (!lines.empty() && !lines.starts_with('\n')) {
        const auto line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        if (line.starts_with("id: ")) last_id_ = line.substr(4);
        if (line.starts_with("event: ")) got.event = line.substr(7);
        if (line.starts_with("data: ")) {
          event = true;
          got.data = line.substr(6);
        }
      }
      got.id = last_id_;
      if (event) return got;
    }
  }
  // "progress" or whatever comes next; empty at the end.
  std::string next_name() {
    const auto got = next();
    return got ? got->event : std::string();
  }
  const std::string& last_id() const { return last_id_; }
  bool ended() const { return ended_; }  // Properly, not cut.
  http::RawClient& raw() { return client_; }

 private:
  http::RawClient client_;
  std::string head_;
  std::string last_id_;
  bool ended_ = false;
};

}  // namespace millrace::api
