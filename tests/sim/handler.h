// ScriptedHandler: does what the plan says about each job, and tells Checks.
#pragma once

#include "sim/world.h"
#include "worker/handler.h"

namespace millrace::sim {

class ScriptedHandler final : public worker::Handler {
 public:
  ScriptedHandler(World& world, int process) : world_(world), process_(process) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override;
  std::chrono::milliseconds stop_grace() const override { return std::chrono::milliseconds(100); }

 private:
  awaitable<void> work(std::shared_ptr<worker::JobContext> context, Script script);
  Outcome end_of(worker::JobContext& context, const Script& script, bool first);

  World& world_;
  const int process_;
};

}  // namespace millrace::sim
