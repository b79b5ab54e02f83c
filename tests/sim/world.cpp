#include "sim/world.h"

#include "base/spawn.h"
#include "keeper/duties.h"
#include "sim/handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::sim {

namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::uint64_t kScheduling = 0xa0761d6478bd642fULL;
constexpr std::uint64_t kChance = 0xe7037ed1a0b428dbULL;
constexpr std::uint64_t kStepsMax = 2'000'000;
constexpr Time kLeaveMax = 60s;

// The keeper's duties that concern scheduling.
std::vector<keeper::Duty> duties(int pace) {
  constexpr std::array<std::string_view, 6> kWanted{"promote_due",    "advance",      "reclaim",
                                                    "expire_waiting", "expire_slots", "reconcile"};
  auto all = keeper::standard_duties();
  std::erase_if(all, [&](const keeper::Duty& duty) {
    return std::ranges::find(kWanted, duty.name) == kWanted.end();
  });
  for (auto& duty : all) duty.interval *= pace;
  return all;
}

}  // namespace

struct World::Process {
  Process(World& world, int number_, int place_, bool keeper_)
      : number(number_),
        place(place_),
        is_keeper(keeper_),
        context(world.loop_),
        clock(context),
        random(world.chance_.next()),
        link(world.database_, world.checks_, clock, world.plan_, number_),
        log(world.trace_ ? Logger(
                               clock,
                               [&checks = world.checks_, number_](std::string_view line) {
                                 checks.heard(number_, line);
                               },
                               Logger::Format::text, LogLevel::info)
                         : Logger::silent()) {}

  Executor executor() { return ContextExecutor(context); }

  int number;
  int place;  // Which of the workers or keepers it is; a successor takes its place.
  bool is_keeper;
  bool gone = false;
  Context context;
  ProcessClock clock;
  Dice random;
  Link link;
  Logger log;
  std::string worker_id;  // The last one it had.
  Time must_leave_by = kForever;
  std::unique_ptr<worker::Runtime> runtime;
  std::unique_ptr<keeper::Keeper> keeper;
};

World::World(std::uint64_t seed, Coverage& coverage, bool trace)
    : plan_(make_plan(seed)),
      loop_(seed ^ kScheduling),
      checks_(plan_, loop_, coverage, trace),
      chance_(seed ^ kChance),
      database_(plan_, loop_, checks_, chance_),
      trace_(trace) {
  runs_.resize(plan_.jobs.size());
  loop_.slowness = plan_.weather.slowness;
  checks_.leads = [this](int number) {
    return processes_[static_cast<std::size_t>(number)]->keeper->leading();
  };
  checks_.on_hint = [this] {
    if (!plan_.hints) return;
    loop_.at(loop_.now() + chance_.time(50us, 2ms), [this] {
      for (auto* process : living(false)) {
        if (database_.calm() || chance_.chance(0.8)) process->link.hint();
      }
    });
  };
}

World::~World() {
  for (auto& process : processes_) {
    process->context.end();
    process->runtime.reset();
    process->keeper.reset();
  }
}

// --- Processes ---

worker::HandlerRegistry World::make_handlers(int process) {
  worker::HandlerRegistry handlers;
  for (const auto& type : plan_.policies.types) {
    const auto& queue = plan_.policies.queues[static_cast<std::size_t>(type.queue)];
    (void)handlers.add(type.name, std::make_unique<ScriptedHandler>(*this, process),
                       {.timeout = std::nullopt, .queue = queue.name});
  }
  return handlers;
}

void World::start_worker(int place) {
  const int number =
      checks_.add_process(fmt::format("worker {}.{}", place, processes_.size()), false);
  processes_.push_back(std::make_unique<Process>(*this, number, place, false));
  auto& process = *processes_.back();
  auto options = plan_.options;
  options.worker_id_prefix = fmt::format("w{}", number);
  options.pid = number;
  options.on_registered = [&process](const std::string& id) { process.worker_id = id; };
  process.runtime = std::make_unique<worker::Runtime>(
      process.executor(),
      worker::Runtime::Services{.store = process.link,
                                .wake = plan_.hints ? &process.link : nullptr,
                                .clock = process.clock,
                                .random = process.random,
                                .log = process.log},
      std::move(options), make_handlers(number));
  spawn(process.executor(), run_worker(&process), process.log, "worker");
}

awaitable<void> World::run_worker(Process* process) {
  auto report = co_await process->runtime->run();
  if (!report.has_value()) checks_.note("cannot start", process->number);
  leaving_.emplace_back(process->number, false);
}

void World::start_keeper(int place) {
  const int number =
      checks_.add_process(fmt::format("keeper {}.{}", place, processes_.size()), true);
  processes_.push_back(std::make_unique<Process>(*this, number, place, true));
  auto& process = *processes_.back();
  process.keeper = std::make_unique<keeper::Keeper>(
      process.executor(), process.link, process.clock, process.random, process.log,
      keeper::Options{.holder = fmt::format("k{}", number),
                      .ttl = duration_cast<milliseconds>(plan_.keeper_ttl),
                      .failure_pause_max = 2s},
      duties(plan_.keeper_pace));
  process.keeper->start();
}

awaitable<void> World::stop_keeper(Process* process) {
  co_await process->keeper->stop();
  leaving_.emplace_back(process->number, false);
}

void World::crash(int process) { leaving_.emplace_back(process, true); }

std::vector<World::Process*> World::living(bool keepers) {
  std::vector<Process*> result;
  for (const auto& process : processes_) {
    if (!process->gone && process->is_keeper == keepers) result.push_back(process.get());
  }
  return result;
}

// Ends the processes that died or left in this step; others take their places.
void World::bury() {
  for (const auto& [number, killed] : std::exchange(leaving_, {})) leave(number, killed);
}

void World::leave(int number, bool killed) {
  auto& process = *processes_[static_cast<std::size_t>(number)];
  if (process.gone) return;
  process.gone = true;
  if (!killed) check_drain(process);
  checks_.process_gone(number, killed);
  process.context.end();
  process.runtime.reset();
  process.keeper.reset();
  if (killed && plan_.supervised && !process.is_keeper) hand_back(process);
  if (closing_) return;
  loop_.at(loop_.now() + chance_.time(5ms, 500ms),
           [this, place = process.place, keeper = process.is_keeper] {
             if (closing_) return;
             if (keeper) {
               start_keeper(place);
             } else {
               start_worker(place);
             }
           });
}

// The supervisor saw its child die.
void World::hand_back(const Process& process) {
  loop_.at(loop_.now() + chance_.time(1ms, 50ms), [this, id = process.worker_id] {
    if (!database_.calm() && chance_.chance(0.2)) return;  // It could not reach the database.
    checks_.note("supervisor hands back");
    if (database_.now().hand_back_process("s", id) > 0) {
      checks_.reach(Path::handed_back_by_supervisor);
    }
  });
}

void World::drain(Process& process, bool hurried) {
  auto& record = checks_.process(process.number);
  if (record.drained_at < Time(0)) {
    record.drained_at = loop_.now();
    Time longest{0};
    for (const auto token : record.deliveries) {
      const auto* delivery = checks_.delivery(LeaseToken{numbered(2, token)});
      if (delivery->started && !delivery->returned) {
        longest = std::max(longest, delivery->ends_at - loop_.now());
      }
    }
    process.must_leave_by =
        loop_.now() + std::min<Time>(longest, plan_.options.drain_timeout + 200ms) + 1s;
  }
  if (hurried) record.hurried = true;
  checks_.note(hurried ? "is told to leave at once" : "drains", process.number);
  if (hurried) {
    process.runtime->kill();
  } else {
    process.runtime->drain();
  }
}

void World::check_drain(const Process& process) {
  const auto& record = checks_.process(process.number);
  if (process.is_keeper || record.drained_at < Time(0)) return;
  if (record.hurried) {
    checks_.reach(Path::killed_with_goodbye);
    return;
  }
  if (!checks_.calm_since(record, record.drained_at - plan_.options.lease)) return;
  checks_.reach(Path::drain_finished_calmly);
  if (loop_.now() > process.must_leave_by) {
    checks_.violate("drain_slow", fmt::format("{} took too long to leave", record.name));
  }
}

// --- What happens ---

void World::schedule() {
  if (plan_.batch_size) {
    database_.now().open_batch(plan_.jobs[*plan_.callback].spec);
  }
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
    if (plan_.jobs[i].at == kForever) continue;
    ++to_enqueue_;
    loop_.at(plan_.jobs[i].at, [this, i] { enqueue(i); });
  }
  for (const auto& fault : plan_.faults) {
    loop_.at(fault.at, [this, &fault] { strike(fault); });
  }
  for (int i = 0; i < plan_.workers; ++i) {
    loop_.at(chance_.time(0ms, 100ms), [this, i] {
      if (!closing_) start_worker(i);
    });
  }
  for (int i = 0; i < plan_.keepers; ++i) {
    loop_.at(chance_.time(0ms, 100ms), [this, i] {
      if (!closing_) start_keeper(i);
    });
  }
}

void World::enqueue(std::size_t job) {
  const auto& planned = plan_.jobs[job];
  for (const auto& id : planned.spec.after) {
    if (database_.model().find(id) != nullptr) continue;
    loop_.at(loop_.now() + 1ms, [this, job] { enqueue(job); });
    return;
  }
  database_.now().enqueue(planned.spec);
  if (planned.repeated && !database_.now().enqueue(planned.spec)) {
    checks_.reach(Path::enqueue_repeated);
  }
  --to_enqueue_;
  if (to_enqueue_ == 0 && plan_.batch_size) database_.now().seal_batch(0);
}

void World::pause(Process& process, const Fault& fault) {
  if (process.context.paused()) return;
  const bool frozen = fault.kind == Fault::Kind::freeze_worker;
  process.context.pause(frozen);
  checks_.paused(process.number, frozen);
  loop_.at(loop_.now() + fault.duration, [this, number = process.number] {
    auto& paused = *processes_[static_cast<std::size_t>(number)];
    if (paused.gone) return;
    paused.context.resume();
    checks_.resumed(number);
  });
}

// Any job, or one that is held: those are the ones for which it matters.
std::size_t World::aim(const Fault& fault) {
  std::vector<std::size_t> held;
  for (const auto& job : database_.model().jobs()) {
    if (job.place == Place::lease) held.push_back(job_index(job.id));
  }
  if (held.empty() || fault.which % 2 == 0) return fault.which % plan_.jobs.size();
  return held[fault.which / 2 % held.size()];
}

// Few jobs wait for a slot at any moment: some cancellations wait for one that does.
bool World::cancel_prefetched(const Fault& fault) {
  if (fault.kind != Fault::Kind::cancel_job || fault.which % 4 != 1) return false;
  for (const auto& job : database_.model().jobs()) {
    if (job.place != Place::lease) continue;
    const auto* delivery = checks_.delivery(job.token);
    if (!delivery->received || delivery->started || delivery->sent) continue;
    cancel(job_index(job.id));
    return true;
  }
  if (loop_.now() >= plan_.calm_from) return false;
  loop_.at(loop_.now() + 2ms, [this, &fault] { strike(fault); });
  return true;
}

void World::cancel(std::size_t job) {
  checks_.note("cancelled by an operator", -1, static_cast<int>(job));
  checks_.cancel_wanted(job);
  if (database_.now().cancel(job_id(job), "cancelled") == "cancelled") {
    checks_.reach(Path::cancelled_while_waiting);
  }
}

void World::strike(const Fault& fault) {
  using Kind = Fault::Kind;
  if (cancel_prefetched(fault)) return;
  const bool on_keeper = fault.kind == Kind::kill_keeper || fault.kind == Kind::pause_keeper ||
                         fault.kind == Kind::stop_keeper;
  const auto candidates = living(on_keeper);
  auto* process = candidates.empty() ? nullptr : candidates[fault.which % candidates.size()];
  const auto job = aim(fault);
  const bool exists = !closing_ && database_.model().find(job_id(job)) != nullptr;
  switch (fault.kind) {
    case Kind::kill_worker:
    case Kind::kill_keeper:
      if (process != nullptr) leave(process->number, true);
      break;
    case Kind::pause_worker:
    case Kind::freeze_worker:
    case Kind::pause_keeper:
      if (process != nullptr) pause(*process, fault);
      break;
    case Kind::drain_worker:
    case Kind::kill_politely:
      if (process != nullptr) drain(*process, fault.kind == Kind::kill_politely);
      break;
    case Kind::stop_keeper:
      if (process != nullptr) {
        checks_.note("stops its duties", process->number);
        spawn(process->executor(), stop_keeper(process), process->log, "keeper stop");
      }
      break;
    case Kind::restart_database:
      database_.restart(fault.duration);
      break;
    case Kind::stall_database:
      database_.stall(fault.duration);
      break;
    case Kind::step_wall:
      if (process == nullptr) break;
      checks_.reach(Path::wall_clock_stepped);
      checks_.note("wall clock steps", process->number);
      process->clock.step_wall(fault.which % 2 == 0 ? Time(1h) : Time(-1h));
      break;
    case Kind::cancel_job:
      if (exists) cancel(job);
      break;
    case Kind::redrive_job:
      for (const auto& dead : database_.model().jobs()) {
        if (closing_ || database_.now().redrive(dead.id) == "redriven") break;
      }
      break;
    case Kind::run_job_now:
      if (exists) database_.now().run_now(job_id(job));
      break;
  }
}

bool World::step() {
  const auto limit = plan_.calm_from + plan_.patience + (closing_ ? kLeaveMax : Time(0));
  const bool went_on = loop_.step(limit);
  if (!leaving_.empty()) bury();
  if (loop_.steps() > kStepsMax) checks_.violate("endless", "too much happens");
  return went_on;
}

bool World::run_until_done() {
  const auto& model = database_.model();
  for (;;) {
    if (checks_.violation()) return false;
    const bool all = checks_.unfinished() == 0 && to_enqueue_ == 0 && model.notes() == 0 &&
                     (!plan_.batch_size || model.batches()[0].finished);
    if (all) return true;
    if (step()) continue;
    std::optional<std::size_t> stuck;
    for (const auto& job : model.jobs()) {
      if (job.place != Place::history && !stuck) stuck = job_index(job.id);
    }
    const auto* job = stuck ? model.find(job_id(*stuck)) : nullptr;
    checks_.violate("stuck",
                    job == nullptr
                        ? std::string("something was never paid")
                        : fmt::format("a job lies in {} and does not end", to_string(job->place)),
                    stuck);
    return false;
  }
}

// Everybody leaves, and must be able to.
void World::close() {
  closing_ = true;
  for (auto* process : living(false)) {
    if (checks_.process(process->number).drained_at < Time(0)) drain(*process, false);
  }
  for (auto* process : living(true)) {
    spawn(process->executor(), stop_keeper(process), process->log, "keeper stop");
  }
  while (!checks_.violation() && (!living(false).empty() || !living(true).empty())) {
    if (step()) continue;
    const auto left = living(!living(true).empty());
    checks_.violate("leaves_not",
                    fmt::format("{} does not leave", checks_.process(left[0]->number).name));
  }
}

WorldResult World::run() {
  schedule();
  if (run_until_done()) close();
  if (!checks_.violation()) checks_.at_the_end();
  return {.violation = checks_.violation(),
          .digest = checks_.digest(),
          .steps = loop_.steps(),
          .lasted = loop_.now()};
}

}  // namespace millrace::sim
