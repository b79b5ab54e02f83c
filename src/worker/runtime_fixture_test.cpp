#include "worker/runtime_fixture.h"

#include "base/spawn.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>

namespace millrace::worker::test {

using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

awaitable<Outcome> GatedHandler::run(std::shared_ptr<JobContext> context) {
  ++started;
  beside_max = std::max(beside_max, ++beside_);
  if (on_start) on_start(*context);
  if (obedient_) {
    co_await (open.wait() || context->token().wait());
  } else {
    co_await open.wait();
  }
  --beside_;
  if (context->cancelled()) stop_reasons.push_back(context->cancel_reason());
  co_return outcome;
}

RuntimeTest::RuntimeTest() {
  auto gated_handler = std::make_unique<GatedHandler>();
  auto stubborn_handler = std::make_unique<GatedHandler>(false);
  gated_ = gated_handler.get();
  stubborn_ = stubborn_handler.get();
  (void)handlers.add("gated", std::move(gated_handler));
  (void)handlers.add("stubborn", std::move(stubborn_handler));
  (void)handlers.add("noop", std::make_unique<NoopHandler>());
  options.slots = 4;
  options.prefetch = 0;
  options.lease = 30s;
}

void RuntimeTest::TearDown() {
  if (!runtime_) return;
  gated_->open.set();
  stubborn_->open.set();
  for (auto& [name, gate] : store.gates) gate.set();
  store.trouble.clear();
  runtime_->drain();
  for (int i = 0; i < 2000 && !ended() && !error_; ++i) advance(100ms, 100ms);
  EXPECT_TRUE(ended() || error_);
  settle();
}

awaitable<void> RuntimeTest::run() {
  auto result = co_await runtime_->run();
  if (result.has_value()) {
    report_ = *result;
  } else {
    error_ = result.error();
  }
}

void RuntimeTest::start() {
  runtime_ = std::make_unique<Runtime>(
      io.get_executor(),
      Runtime::Services{.store = store, .wake = wake, .clock = clock, .random = random, .log = log},
      options, std::move(handlers));
  spawn(io.get_executor(), run(), log, "runtime");
  settle();
}

void RuntimeTest::settle() {
  io.restart();
  io.poll();
}

void RuntimeTest::advance(std::chrono::milliseconds total, std::chrono::milliseconds step) {
  for (auto passed = 0ms; passed < total; passed += step) {
    clock.advance(step);
    settle();
  }
}

void RuntimeTest::advance_until(const std::function<bool()>& done,
                                std::chrono::milliseconds limit) {
  for (auto passed = 0ms; passed < limit && !done(); passed += 10ms) {
    clock.advance(10ms);
    settle();
  }
  EXPECT_TRUE(done());
}

bool RuntimeTest::logged(std::string_view event) const {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.contains(event); });
}

}  // namespace millrace::worker::test
