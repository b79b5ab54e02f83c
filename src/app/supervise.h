// supervise: `worker --processes N`: children of this program, looked after on a thread of its own.
#pragma once

#include "app/context.h"
#include "app/database.h"
#include "app/signals.h"

#include <functional>
#include <string>
#include <vector>

namespace millrace::app {

struct SuperviseOptions {
  Database database;
  int processes = 1;
  std::vector<std::string> arguments;  // Of `millrace worker` in each child.
  std::function<Result<void>(const std::string& supervisor_id)> on_ready;
};

// Until a signal: the first lets the children drain, the second kills them.
Result<int> supervise(Context& context, const SignalWaiter& signals, SuperviseOptions options);

}  // namespace millrace::app
