// The worker of the latency bench: a process like any other, whose handler notes when it started.
#include "app/bench/rows.h"
#include "app/engine.h"
#include "app/exit_code.h"
#include "app/ready_file.h"
#include "app/signals.h"
#include "base/file.h"
#include "cluster/unique_fd.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <ctime>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

// A line per job, written at once, so that a reader sees whole lines.
class ClockHandler final : public worker::Handler {
 public:
  explicit ClockHandler(int file) : file_(file) {}

  awaitable<Outcome> run(std::shared_ptr<worker::JobContext> context) override {
    const double now = realtime_ms();  // First of all.
    const auto line = fmt::format("{} {:.4f}\n", context->job().id.to_string(), now);
    [[maybe_unused]] const auto written = ::write(file_, line.data(), line.size());
    co_return Outcome::ok();
  }

 private:
  int file_;
};

}  // namespace

double realtime_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) * 1000 + static_cast<double>(now.tv_nsec) / 1e6;
}

Result<Started> read_times(const std::filesystem::path& times, std::size_t offset) {
  MR_TRY(const auto text, read_file(times, std::size_t{1} << 30));
  const auto end = text.rfind('\n');
  Started started{.jobs = {}, .offset = offset};
  if (end == text.npos || end < offset) return started;
  std::istringstream lines(text.substr(offset, end + 1 - offset));
  std::string id;
  double at = 0;
  while (lines >> id >> at) started.jobs.emplace_back(id, at);
  started.offset = end + 1;
  return started;
}

Result<int> run_clock_worker(Context& context, const std::filesystem::path& times,
                             const std::filesystem::path& ready) {
  SignalWaiter signals;
  ReadyFile ready_file(ready);
  MR_TRY_VOID(ready_file.remove_stale());
  const cluster::UniqueFd file(
      ::open(times.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return fail(ErrorKind::invalid_argument, "--times: cannot write there");
  EngineOptions options;
  MR_TRY(options.database, find_database(context.settings));
  options.worker = worker_options(context);
  options.worker.queues = {{.name = kClockQueue}};
  options.handlers = [&file](const HandlerParts&) -> Result<worker::HandlerRegistry> {
    worker::HandlerRegistry registry;
    MR_TRY_VOID(registry.add(kClockType, std::make_unique<ClockHandler>(file.get()),
                             {.timeout = {}, .queue = kClockQueue}));
    return registry;
  };
  Engine engine(context, std::move(options));
  engine.start();
  if (engine.wait_ready(60s)) MR_TRY_VOID(ready_file.write({}));
  while (!engine.finished()) {
    if (signals.wait(200ms)) engine.drain();
  }
  MR_TRY_VOID(engine.join());
  return kExitOk;
}

}  // namespace millrace::app
