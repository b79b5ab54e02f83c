// StoreWorld: a store in the network whose server does exactly what a test tells it to. For tests
// only.
#pragma once

#include "base/run.h"
#include "blob/blob_store.h"
#include "blob/remote.h"
#include "http/scripted_server.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace millrace::blob {

class StoreWorld : public testing::Test {
 protected:
  StoreWorld() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace_store_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~StoreWorld() override {
    store_.reset();
    pool_.join();
    std::filesystem::remove_all(folder_);
  }

  // The test's own fixture makes store_ of it.
  http::ScriptedServer& script(std::vector<http::Step> steps) {
    return server_.emplace(io_, std::move(steps));
  }
  RemoteServices services() { return {client_, pool_.get_executor(), clock_, random_}; }
  RemoteLimits limits() {
    return {.request_timeout = std::chrono::seconds(5),
            .attempts_max = 3,
            .spool_folder = folder_ / "not there yet" / "spool"};
  }

  // Pauses pass as fast as they are asked for.
  template <class T>
  Result<T> run(Task<T> task) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto both = run_blocking(io_, std::move(task) || pass_time());
    return std::get<0>(std::move(both));
  }

  Result<BlobInfo> put(std::string text, PutOptions options = {}) {
    return run(put_task(store_.get(), std::move(text), std::move(options)));
  }

  const std::string& request(std::size_t number) const { return server_->requests().at(number); }
  // "PUT /path?query"
  std::string line(std::size_t number) const {
    return request(number).substr(0, request(number).find(" HTTP/1.1"));
  }
  std::string body(std::size_t number) const {
    return request(number).substr(request(number).find("\r\n\r\n") + 4);
  }

  boost::asio::io_context io_{1};
  boost::asio::thread_pool pool_{1};
  ManualClock clock_;
  SeededRandom random_{11};
  http::Client client_{io_.get_executor()};
  std::filesystem::path folder_;
  std::optional<http::ScriptedServer> server_;
  std::unique_ptr<BlobStore> store_;

 private:
  awaitable<void> pass_time() {
    for (;;) {
      co_await clock_.wait_for_sleepers(1);
      const auto next = clock_.next_wakeup();
      if (!next) co_return;
      clock_.advance(*next - clock_.now());
    }
  }
  static Task<BlobInfo> put_task(BlobStore* store, std::string text, PutOptions options) {
    MR_CO_TRY(const auto writer, co_await store->create(std::move(options)));
    MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(text))));
    co_return co_await writer->finish();
  }
};

}  // namespace millrace::blob
