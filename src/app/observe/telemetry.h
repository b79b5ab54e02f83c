// Telemetry: what this process tells of itself without being asked: spans to a collector, and a
// line in the log when its memory grows.
//
// Flow: start() reads trace.* and log.memory_max_mb, sets Context::tracer when traces are wanted,
// and works on a thread of its own, so that nothing it does holds up requests or jobs. Threading:
// made and destroyed by the owning thread. Lifetime: context outlives it; it outlives whatever uses
// the tracer. Its end sends the last spans, for three seconds at most.
#pragma once

#include "app/context.h"
#include "http/otlp.h"

#include <memory>
#include <optional>

namespace millrace::app {

class Telemetry {
 public:
  static Result<std::unique_ptr<Telemetry>> start(Context& context);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

 private:
  struct Parts;
  explicit Telemetry(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// As the settings have them; nothing when traces are off. invalid_argument names the setting.
Result<std::optional<http::OtlpOptions>> otlp_options(const Settings& settings);

}  // namespace millrace::app
