// DoomedServer: another server on the same database and store, which dies at a fault point, or when
// it comes there for the so-many-th time.
#pragma once

#include "upload_world.h"

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

class DoomedServer {
 public:
  DoomedServer(const UploadWorld& world, const std::string& point, std::uint64_t time = 1,
               const std::map<std::string, std::string>& more = {}) {
    auto env = world.other_env();
    for (const auto& [name, value] : more) env[name] = value;
    env["MILLRACE_FAULT"] = fmt::format("{}=kill@{}", point, time);
    const auto ready = folder_.path() / "ready.json";
    program_ = std::make_unique<BackgroundProgram>(
        std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--ready-file",
                                 ready.string()},
        RunOptions{.env = std::move(env), .stdin_text = {}, .cwd = {}});
    const auto content = program_->wait_for_ready(ready);
    const std::string url(content.at("http_url").as_string());
    address_ = must(http::parse_listen(url.substr(url.rfind('/') + 1)));
  }

  http::Reply ask(const Ask& request) {
    return http::RawClient(address_).ask(ApiWorld::bytes_of(request), request.method == "HEAD");
  }
  // Sends them one after the other, until one is not answered; false when all were.
  bool dies_of(const std::vector<Ask>& requests) {
    for (const auto& request : requests) {
      if (ask(request).status == 0) return true;
    }
    return false;
  }
  // False: it lives, because the point was not on the way.
  bool died() { return program_->wait() == 128 + SIGKILL; }

 private:
  TempFolder folder_;
  std::unique_ptr<BackgroundProgram> program_;
  http::ListenAddress address_;
};

}  // namespace millrace::test
