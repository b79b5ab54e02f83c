#include "pipeline/parse_remote.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {

Task<Outcome> run_parse_remote(StageJob job) {
  const auto& name = job.stage->provider;
  co_return Outcome::blocked(name,
                             fmt::format("provider {} is not configured on this worker", name));
}

}  // namespace millrace::pipeline
