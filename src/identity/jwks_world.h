// JwksWorld: a key cache, the server it fetches from and a clock that the test moves, on one
// thread. For tests only.
#pragma once

#include "base/clock.h"
#include "base/run.h"
#include "http/client.h"
#include "http/kept_calls.h"
#include "http/scripted_server.h"
#include "identity/jwks_cache.h"
#include "identity/refusal_matcher.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::identity {

class JwksWorld : public testing::Test {
 protected:
  void TearDown() override {
    if (cache_) run_blocking(io_, cache_->stop());
  }

  JwksCache& serve(std::vector<http::Step> script, JwksOptions options = {}) {
    server_.emplace(io_, std::move(script));
    options.url = server_->url("/auth/v1/.well-known/jwks.json");
    EXPECT_THAT(check_jwks_options(options), Accepted());
    return cache_.emplace(io_.get_executor(), client_, clock_, log_, std::move(options));
  }

  static http::Step answer(std::string body, const std::string& cache_control = "max-age=600") {
    return http::answer(200, std::move(body), "Cache-Control: " + cache_control + "\r\n");
  }

  Result<KeySetPtr> keys() { return run_blocking(io_, cache_->keys()); }
  Result<KeySetPtr> newer_keys(KeySetPtr seen) {
    return run_blocking(io_, cache_->newer_keys(std::move(seen)));
  }
  // Until the fetch that runs beside has ended.
  void settle(std::size_t requests) {
    run_blocking(io_, server_->wait_for_requests(requests));
    while (logged_.size() < requests) io_.run_one();  // Every fetch ends with a line.
  }
  std::size_t requests() const { return server_->requests().size(); }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  std::vector<std::string> logged_;
  Logger log_{clock_, [this](std::string_view line) { logged_.emplace_back(line); },
              Logger::Format::json};
  http::KeptCalls calls_;
  http::Client client_{io_.get_executor(), {.call_watch = &calls_}};
  std::optional<http::ScriptedServer> server_;
  std::optional<JwksCache> cache_;
};

}  // namespace millrace::identity
