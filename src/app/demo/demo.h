// The demo's two parts: documents, and jobs of every kind through a private PostgreSQL, watched
// live and accounted for.
#pragma once

#include "app/context.h"

#include <filesystem>

namespace millrace::app {

struct DemoOptions {
  std::filesystem::path folder = "build/demo";
  bool keep = false;
  double scale = 1;
  std::chrono::milliseconds timeout{120'000};
};

// Jobs of every kind. Exit code 0 when the account balances and all checks hold, 1 otherwise.
Result<int> run_job_demo(Context& context, const DemoOptions& options);

}  // namespace millrace::app
