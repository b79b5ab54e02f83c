// The keeper's duties as a table: what, how often, how much at a time.
#pragma once

#include "base/log.h"
#include "base/task.h"
#include "store/keeper_store.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace millrace::keeper {

struct Duty {
  std::string name;
  std::chrono::milliseconds interval;
  // What it may handle in one call; a call that handled this many is repeated at once. 0: never.
  int batch_max = 0;
  std::function<Task<std::int64_t>(store::KeeperStore& store, Logger& log, int batch_max)> run;
  std::chrono::milliseconds quiet_interval{0};  // While nothing is at hand. 0: as ever.
};

struct DutyOptions {
  int batch_max = 1000;
  std::chrono::milliseconds horizon_warning{60'000};
};

std::vector<Duty> standard_duties(DutyOptions options = {});

}  // namespace millrace::keeper
