// RenderWorld: a renderer on a thread of its own, with a scratch folder that is thrown away, and
// calls that wait.
#pragma once

#include "base/assert.h"
#include "base/clock.h"
#include "render/renderer.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace millrace::render {

struct Answer {
  Result<Rendered> result;
  std::string pdf;
};

inline std::string ordinary_html(std::string_view word) {
  return "<!doctype html><html lang=en><head><title>Ordinary</title><style>h1{color:#c00000}"
         "</style></head><body><h1>Ordinary</h1><p>" +
         std::string(word) + "</p></body></html>";
}

class RenderWorld {
 public:
  explicit RenderWorld(RendererSpec spec = {}) {
    std::string name = (std::filesystem::temp_directory_path() / "render-XXXXXX").string();
    MR_ASSERT(::mkdtemp(name.data()) != nullptr);
    // A browser of another user passes through it.
    std::filesystem::permissions(name, std::filesystem::perms(0755));
    folder_ = name;
    thread_ = std::thread([this] { io_.run(); });
    if (spec.scratch_root.empty()) spec.scratch_root = folder_ / "scratch";
    // Started on the thread that lives as long as the browsers.
    auto started = boost::asio::co_spawn(
        io_,
        [this, spec]() -> awaitable<void> {
          auto made = Renderer::start(io_.get_executor(), clock_, spec);
          EXPECT_TRUE(made.has_value()) << made.error().describe();
          if (made.has_value()) renderer_ = *std::move(made);
          co_return;
        },
        boost::asio::use_future);
    started.get();
    MR_ASSERT(renderer_ != nullptr);
  }

  ~RenderWorld() {
    stop();
    renderer_.reset();
    guard_.reset();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  Renderer& renderer() { return *renderer_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path scratch() const { return folder_ / "scratch"; }

  std::future<Answer> begin(RenderRequest request, CancelToken cancel = {}) {
    return boost::asio::co_spawn(io_, render(std::move(request), std::move(cancel)),
                                 boost::asio::use_future);
  }
  Answer render_now(RenderRequest request) { return begin(std::move(request)).get(); }

  // An ordinary document must come out whole, whatever else goes on.
  void expect_ordinary(const Answer& answer) {
    ASSERT_TRUE(answer.result.has_value()) << answer.result.error().describe();
    EXPECT_EQ(answer.result->page_count, 1u);
    EXPECT_EQ(answer.result->bytes, answer.pdf.size());
    EXPECT_TRUE(answer.pdf.starts_with("%PDF-"));
    EXPECT_TRUE(answer.pdf.ends_with("%%EOF\n"));
  }

  Result<void> ready() {
    return boost::asio::co_spawn(io_, renderer_->ready(), boost::asio::use_future).get();
  }
  void stop() { boost::asio::co_spawn(io_, renderer_->stop(), boost::asio::use_future).get(); }
  void drain() { boost::asio::co_spawn(io_, renderer_->drain(), boost::asio::use_future).get(); }

 private:
  awaitable<Answer> render(RenderRequest request, CancelToken cancel) {
    std::string pdf;
    PdfSink sink = [&pdf](std::string piece) -> Task<void> {
      pdf += piece;
      co_return ok();
    };
    auto result = co_await renderer_->render(std::move(request), std::move(sink), cancel);
    co_return Answer{.result = std::move(result), .pdf = std::move(pdf)};
  }

  SystemClock clock_;
  std::filesystem::path folder_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  std::thread thread_;
  std::unique_ptr<Renderer> renderer_;
};

}  // namespace millrace::render
