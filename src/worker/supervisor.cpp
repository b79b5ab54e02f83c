#include "worker/supervisor.h"

#include "base/either.h"
#include "base/fault.h"
#include "worker/backoff.h"
#include "worker/child_process.h"
#include "worker/pause.h"
#include "worker/settler.h"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <unistd.h>
#include <utility>

namespace millrace::worker {

namespace {

using namespace either;
using namespace std::chrono_literals;

constexpr int kReportFd = 3;

}  // namespace

Supervisor::Supervisor(Executor executor, Services services, SupervisorOptions options)
    : services_(services),
      options_(std::move(options)),
      tasks_(std::move(executor), services.log),
      slots_(static_cast<std::size_t>(std::max(1, options_.processes))) {}

void Supervisor::stop() { stopping_.set(); }

void Supervisor::kill() {
  killing_.set();
  stopping_.set();
}

std::vector<int> Supervisor::pids() const {
  std::vector<int> result;
  for (const auto& slot : slots_) {
    if (slot.pid != 0) result.push_back(slot.pid);
  }
  return result;
}

std::vector<std::string> Supervisor::child_argv() const {
  auto argv = options_.argv;
  argv.insert(argv.end(), {"--supervisor-id", options_.supervisor_id, "--child",
                           fmt::format("{}:{}", kReportFd, ::getpid())});
  return argv;
}

awaitable<void> Supervisor::run() {
  for (std::size_t i = 0; i < slots_.size(); ++i) tasks_.add("worker process", keep_running(i));
  co_await tasks_.join();
}

awaitable<void> Supervisor::keep_running(std::size_t index) {
  Backoff backoff(services_.random, options_.restart_min, options_.restart_max);
  while (!stopping_.is_set()) {
    if (co_await run_child(index)) backoff.reset();
    if (stopping_.is_set()) break;
    ++restarts_;
    co_await wait_for(services_.clock, stopping_, backoff.next());
  }
}

awaitable<bool> Supervisor::run_child(std::size_t index) {
  auto& slot = slots_[index];
  auto started =
      ChildProcess::start(co_await boost::asio::this_coro::executor, child_argv(), options_.env);
  if (!started.has_value()) {
    services_.log.error("worker_process_not_started", {{"error", started.error().describe()}});
    co_return false;
  }
  auto child = std::move(*started);
  const int pid = child.pid();
  const auto since = services_.clock.now();
  slot.pid = pid;
  slot.worker_ids.clear();
  services_.log.info("worker_process_started", {{"process", pid}});
  Event ended;
  tasks_.add("worker process stop", stop_child(index, ended));
  const auto ending =
      co_await child.wait([this, index](std::string_view line) { take_line(index, line); });
  slot.pid = 0;
  ended.set();
  const bool drained = ending.exit_code == 0;
  services_.log.log(drained ? LogLevel::info : LogLevel::error, "worker_process_ended",
                    {{"process", pid}, {"how", ending.describe()}});
  if (!drained) tasks_.add("hand back", hand_back(std::exchange(slot.worker_ids, {})));
  co_return services_.clock.now() - since >= options_.stable_after;
}

// Passes on that it is time to leave. The child is still ours to signal until `ended` is set.
awaitable<void> Supervisor::stop_child(std::size_t index, Event ended) {
  const auto pid = slots_[index].pid;
  co_await (ended.wait() || stopping_.wait());
  if (ended.is_set()) co_return;
  if (!killing_.is_set()) {
    ::kill(pid, SIGTERM);
    co_await (ended.wait() || killing_.wait() || services_.clock.sleep_for(options_.stop_timeout));
  }
  if (ended.is_set()) co_return;
  services_.log.warn("worker_process_killed", {{"process", pid}});
  ::kill(pid, SIGKILL);
}

awaitable<void> Supervisor::hand_back(std::vector<std::string> worker_ids) {
  Backoff backoff(services_.random, 50ms, 2s);
  const auto deadline = services_.clock.now() + options_.hand_back_timeout;
  for (const auto& worker_id : worker_ids) {
    while (services_.clock.now() < deadline) {
      auto returned = co_await services_.store.hand_back_process(options_.supervisor_id, worker_id);
      if (returned.has_value()) {
        MR_SOMETIMES(*returned > 0, "supervisor_handed_back");
        services_.log.info("leases_handed_back", {{"worker_id", worker_id}, {"jobs", *returned}});
        break;
      }
      services_.log.warn("leases_not_handed_back",
                         {{"worker_id", worker_id}, {"error", returned.error().describe()}});
      if (!should_repeat(returned.error())) break;
      co_await services_.clock.sleep_for(backoff.next());
    }
  }
}

void Supervisor::take_line(std::size_t index, std::string_view line) {
  constexpr std::string_view kRegistered = "registered ";
  if (!line.starts_with(kRegistered)) return;
  auto& slot = slots_[index];
  slot.worker_ids.emplace_back(line.substr(kRegistered.size()));
  slot.registered_once = true;
  const bool all = std::ranges::all_of(slots_, &Slot::registered_once);
  if (all && !std::exchange(told_ready_, true) && options_.on_ready) options_.on_ready();
}

}  // namespace millrace::worker
