// RuntimeTest: a Runtime on a fake store and a clock that stands still.
#pragma once

#include "base/run.h"
#include "worker/fake_job_store.h"
#include "worker/handlers/builtin.h"
#include "worker/runtime.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::worker::test {

// A handler that says nothing until the test opens its gate, and honours its token or not.
class GatedHandler final : public Handler {
 public:
  explicit GatedHandler(bool obedient = true) : obedient_(obedient) {}

  awaitable<Outcome> run(std::shared_ptr<JobContext> context) override;

  int started = 0;
  int beside_max = 0;  // Most jobs running at once.
  Event open;
  Outcome outcome = Outcome::ok("\"done\"");
  std::vector<std::string> stop_reasons;
  std::function<void(JobContext&)> on_start;
  std::chrono::milliseconds grace{2'000};

  std::chrono::milliseconds stop_grace() const override { return grace; }

 private:
  bool obedient_;
  int beside_ = 0;
};

class RuntimeTest : public ::testing::Test {
 protected:
  RuntimeTest();
  void TearDown() override;  // Drains.

  // The handler of type "gated".
  GatedHandler& gated() { return *gated_; }
  GatedHandler& stubborn() { return *stubborn_; }

  void start();
  void settle();  // Lets everything happen that can happen without time passing.
  void advance(std::chrono::milliseconds total,
               std::chrono::milliseconds step = std::chrono::milliseconds(50));
  // Advances until `done`, at most for `limit`; fails the test otherwise.
  void advance_until(const std::function<bool()>& done,
                     std::chrono::milliseconds limit = std::chrono::milliseconds(60'000));
  bool ended() const { return report_.has_value(); }
  RunReport& report() { return *report_; }
  bool logged(std::string_view event) const;
  Runtime& runtime() { return *runtime_; }

  boost::asio::io_context io{1};
  ManualClock clock;
  SeededRandom random{42};
  std::vector<std::string> lines;
  Logger log{clock, [this](std::string_view line) { lines.emplace_back(line); },
             Logger::Format::json, LogLevel::debug};
  FakeJobStore store;
  Options options;
  HandlerRegistry handlers;
  store::WakeSource* wake = nullptr;

 private:
  awaitable<void> run();

  GatedHandler* gated_ = nullptr;     // Owned by the registry.
  GatedHandler* stubborn_ = nullptr;  // Likewise.
  std::unique_ptr<Runtime> runtime_;
  std::optional<RunReport> report_;
  std::optional<Error> error_;
};

}  // namespace millrace::worker::test
