#include "app/observe/call_metrics.h"

#include "api/server_metrics.h"

#include <string>
#include <vector>

namespace millrace::app {
namespace {

// From a store beside us to a solver that thinks for minutes.
std::vector<double> call_bounds_s() {
  return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
}

}  // namespace

CallMetrics::CallMetrics(MetricRegistry& registry)
    : calls_(api::StageMetrics(registry).external_calls),
      times_(registry.family({.name = "millrace_external_call_seconds",
                              .help = "From a request to another service to its answer, or to "
                                      "giving it up.",
                              .kind = MetricKind::histogram,
                              .labels = {"service"},
                              .bounds = call_bounds_s()})) {}

void CallMetrics::called(std::string_view service, int status, std::chrono::nanoseconds took) {
  const auto answer = status == 0 ? std::string("none") : std::to_string(status);
  calls_.counter({service, answer}).add();
  times_.histogram({service}).observe(std::chrono::duration<double>(took).count());
}

}  // namespace millrace::app
