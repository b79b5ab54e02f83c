#include "sandbox/task.h"

#include "base/both.h"
#include "base/either.h"
#include "base/event.h"
#include "base/spawn.h"
#include "sandbox/executable.h"
#include "sandbox/memory_file.h"
#include "sandbox/task_run.h"
#include "sandbox/task_verdict.h"
#include "sandbox/warm_program.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace millrace::sandbox {
namespace {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;
using End = TaskResult::End;
// A program that served this long has not died of its start.
constexpr auto kStable = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kPauseFirst{100};
constexpr std::chrono::milliseconds kPauseMax = std::chrono::seconds(10);

struct Pipe {
  UniqueFd read_end;  // Non-blocking.
  UniqueFd write_end;
};

Result<Pipe> open_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0 || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot open a pipe: {}", std::generic_category().message(errno)));
  }
  return Pipe{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
}

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

Result<void> check(const TaskSpec& spec) {
  const auto& limits = spec.limits;
  if (spec.request.size() > kTaskRequestMaxBytes) {
    return invalid(fmt::format("request has {} bytes, at most {} are allowed", spec.request.size(),
                               kTaskRequestMaxBytes));
  }
  if (spec.files.size() > kTaskFilesMax) {
    return invalid(
        fmt::format("files: {} given, at most {} are allowed", spec.files.size(), kTaskFilesMax));
  }
  for (std::size_t i = 0; i < spec.files.size(); ++i) {
    const int flags = ::fcntl(spec.files[i].get(), F_GETFL);
    if (flags < 0) return invalid(fmt::format("files[{}] is not open", i));
    if ((flags & O_ACCMODE) != O_RDONLY) {
      return invalid(fmt::format("files[{}] is not open for reading only", i));
    }
  }
  if (limits.memory_bytes == 0) return invalid("limits.memory_bytes must be above zero");
  if (limits.cpu <= std::chrono::milliseconds::zero()) {
    return invalid("limits.cpu must be above zero");
  }
  if (limits.wall <= std::chrono::milliseconds::zero()) {
    return invalid("limits.wall must be above zero");
  }
  return ok();
}

}  // namespace

// Impl: all of it on one strand but `shown_`. It lives as long as the pool, its tasks, or the
// coroutine that serves it.
class TaskPool::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Executor executor, PoolSpec spec)
      : strand_(asio::make_strand(executor)), spec_(std::move(spec)) {}

  const Executor& strand() const { return strand_; }
  Logger& log() { return spec_.log; }
  State state() const {
    const std::lock_guard lock(shown_mutex_);
    return shown_;
  }

  static awaitable<void> supervise(std::shared_ptr<Impl> self);
  static Task<void> ready(std::shared_ptr<Impl> self);
  static Task<TaskResult> run(std::shared_ptr<Impl> self, TaskSpec spec, CancelToken cancel);
  static awaitable<void> stop(std::shared_ptr<Impl> self);
  void begin_stop();
  void abandon();  // Stops without waiting for the tasks.

 private:
  enum class Phase { starting, ready, waiting, stopped };
  struct Waiter {
    Event woken;
    bool has_place = false;
  };

  awaitable<std::string> serve_once();
  awaitable<void> serve_program(std::string* why);
  awaitable<void> watch_warm_up();
  awaitable<bool> take_place(CancelToken cancel, const WaitSink& on_wait);
  void give_place_back();
  Task<void> wait_until_ready(CancelToken cancel);
  Task<TaskResult> run_in_place(TaskSpec spec, CancelToken cancel);
  void on_packet(WirePacket packet);
  void enter(Phase phase);
  void show();

  Executor strand_;
  PoolSpec spec_;
  Phase phase_ = Phase::starting;
  Event settled_;  // Set while phase_ is not `starting`.
  Event stopping_;
  Event emptied_;  // While stopping: no task is left.
  Event idle_;     // The program has ended and is not started again.
  std::shared_ptr<WarmProgram> program_;
  std::uint64_t warm_rss_bytes_ = 0;
  bool was_ready_ = false;  // The program under way, or the last one.
  Event decided_;           // It is ready, or has ended.
  std::string complaint_;   // Why it was killed or gave up, before it was ready.
  std::string last_error_;
  std::uint64_t starts_ = 0;
  JailDescription jail_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<TaskRun>> runs_;
  std::size_t running_ = 0;  // Places taken.
  std::deque<std::shared_ptr<Waiter>> waiting_;

  mutable std::mutex shown_mutex_;  // Guards shown_.
  State shown_;
};

void TaskPool::Impl::enter(Phase phase) {
  phase_ = phase;
  if (phase == Phase::starting) {
    settled_.reset();
  } else {
    settled_.set();
  }
  show();
}

void TaskPool::Impl::show() {
  const std::lock_guard lock(shown_mutex_);
  shown_ = {.ready = phase_ == Phase::ready,
            .program_pid = program_ ? program_->pid() : -1,
            .starts = starts_,
            .running = running_,
            .waiting = waiting_.size(),
            .last_error = last_error_,
            .jail = jail_};
}

awaitable<void> TaskPool::Impl::supervise(std::shared_ptr<Impl> self) {
  std::chrono::milliseconds pause{0};
  while (!self->stopping_.is_set()) {
    self->enter(Phase::starting);
    const auto began = Steady::now();
    self->last_error_ = co_await self->serve_once();
    self->program_.reset();
    for (const auto& [id, run] : self->runs_) {
      run->lost({.kind = ErrorKind::unavailable,
                 .message = fmt::format("the task was lost: {}", self->last_error_)});
    }
    if (self->stopping_.is_set()) break;
    self->spec_.log.warn("task_program_ended",
                         {{"program", self->spec_.program}, {"reason", self->last_error_}});
    // The first restart of a program that once served is at once: its tasks are waiting.
    if (Steady::now() - began >= kStable) pause = std::chrono::milliseconds(0);
    const bool at_once = self->was_ready_ && pause.count() == 0;
    if (!at_once) {
      self->enter(Phase::waiting);
      co_await self->stopping_.wait_for(std::max(pause, kPauseFirst));
    }
    pause = std::clamp(pause * 2, kPauseFirst, kPauseMax);
  }
  self->enter(Phase::stopped);
  self->idle_.set();
}

awaitable<std::string> TaskPool::Impl::serve_once() {
  was_ready_ = false;
  complaint_.clear();
  decided_.reset();
  ++starts_;
  auto started = WarmProgram::start(strand_, spec_);
  if (!started.has_value()) co_return started.error().message;
  program_ = *std::move(started);
  show();
  std::string why;
  co_await both(serve_program(&why), watch_warm_up());
  co_return complaint_.empty() ? why : complaint_;
}

awaitable<void> TaskPool::Impl::serve_program(std::string* why) {
  *why = co_await program_->serve([this](WirePacket packet) { on_packet(std::move(packet)); });
  decided_.set();
}

awaitable<void> TaskPool::Impl::watch_warm_up() {
  if (co_await decided_.wait_for(spec_.warm_up_timeout)) co_return;
  complaint_ = fmt::format("the program was not ready after {} ms", spec_.warm_up_timeout.count());
  program_->kill();
}

void TaskPool::Impl::on_packet(WirePacket packet) {
  const WireMessage& message = packet.message;
  if (message.type == WireType::ready) {
    was_ready_ = true;
    warm_rss_bytes_ = message.peak_rss_bytes;
    jail_ = decode_description(packet.text);
    decided_.set();
    if (!stopping_.is_set()) enter(Phase::ready);
    spec_.log.info("task_program_ready", {{"pid", program_->pid()}});
    return;
  }
  if (message.type == WireType::not_ready) {
    complaint_ = fmt::format("the program did not get ready: {}",
                             printable(packet.text, kTaskMessageMaxBytes));
    return;
  }
  const auto found = runs_.find(message.task_id);
  if (found == runs_.end()) return;  // Of a task that has been given up.
  TaskRun& run = *found->second;
  switch (message.type) {
    case WireType::started:
      return run.started(packet.fds.empty() ? UniqueFd() : std::move(packet.fds.front()));
    case WireType::ended:
      return run.ended(message);
    case WireType::cannot_confine:
      return run.cannot_confine(std::move(packet.text));
    case WireType::not_started:
      return run.lost({.kind = ErrorKind::unavailable,
                       .message = fmt::format("no process for the task: {}", packet.text)});
    default:
      return;
  }
}

awaitable<bool> TaskPool::Impl::take_place(CancelToken cancel, const WaitSink& on_wait) {
  using namespace either;
  if (running_ < spec_.size && waiting_.empty()) {
    ++running_;
    show();
    co_return true;
  }
  // Shared with the queue: whoever gives a place back may come when this has given up.
  const auto self = std::make_shared<Waiter>();
  waiting_.push_back(self);
  show();
  if (on_wait) on_wait(true);
  co_await (self->woken.wait() || cancel.wait());
  if (on_wait) on_wait(false);
  if (self->has_place) co_return true;
  std::erase(waiting_, self);
  show();
  co_return false;
}

void TaskPool::Impl::give_place_back() {
  if (waiting_.empty()) {
    --running_;
  } else {
    const auto next = waiting_.front();
    waiting_.pop_front();
    next->has_place = true;
    next->woken.set();
  }
  if (running_ == 0 && stopping_.is_set()) emptied_.set();
  show();
}

Task<void> TaskPool::Impl::wait_until_ready(CancelToken cancel) {
  using namespace either;
  while (phase_ == Phase::starting && !cancel.cancelled()) {
    co_await (settled_.wait() || cancel.wait());
  }
  if (cancel.cancelled()) co_return fail(ErrorKind::cancelled, cancel.reason());
  if (phase_ == Phase::ready) co_return ok();
  if (phase_ == Phase::stopped || stopping_.is_set()) {
    co_return fail(ErrorKind::unavailable, "the task pool is stopped");
  }
  co_return fail(ErrorKind::unavailable, fmt::format("no program for tasks: {}", last_error_));
}

Task<void> TaskPool::Impl::ready(std::shared_ptr<Impl> self) {
  co_return co_await self->wait_until_ready({});
}

Task<TaskResult> TaskPool::Impl::run(std::shared_ptr<Impl> self, TaskSpec spec,
                                     CancelToken cancel) {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto cancelled = [&cancel] {
    return TaskResult{.end = End::cancelled,
                      .code = "cancelled",
                      .message = printable(cancel.reason(), kTaskMessageMaxBytes)};
  };
  MR_CO_TRY_VOID(check(spec));
  if (self->stopping_.is_set()) {
    co_return fail(ErrorKind::unavailable, "the task pool is stopped");
  }
  if (!co_await self->take_place(cancel, spec.on_wait)) {
    if (cancel.cancelled()) co_return cancelled();
    co_return fail(ErrorKind::unavailable, "the task pool is stopped");
  }
  struct Place {
    Impl& pool;
    ~Place() { pool.give_place_back(); }
  } const place{*self};
  const auto is_ready = co_await self->wait_until_ready(cancel);
  if (cancel.cancelled()) co_return cancelled();
  MR_CO_TRY_VOID(is_ready);
  co_return co_await self->run_in_place(std::move(spec), cancel);
}

Task<TaskResult> TaskPool::Impl::run_in_place(TaskSpec spec, CancelToken cancel) {
  MR_CO_TRY(Pipe pipe, open_pipe());
  MR_CO_TRY(UniqueFd request, make_memory_file("request", spec.request));
  const std::uint64_t id = ++last_id_;
  // Weak: this pool may be gone when the last of its tasks is.
  const auto on_stuck = [weak = std::weak_ptr(program_)] {
    if (const auto program = weak.lock()) program->kill();
  };
  // Shared by the table and by cancels on their way.
  const auto run =
      std::make_shared<TaskRun>(strand_, TaskRun::Parts{.limits = spec.limits,
                                                        .warm_rss_bytes = warm_rss_bytes_,
                                                        .on_output = std::move(spec.on_output),
                                                        .on_progress = std::move(spec.on_progress),
                                                        .on_stuck = on_stuck});
  MR_CO_TRY_VOID(run->watch(std::move(pipe.read_end)));
  struct Entry {
    Impl& pool;
    std::uint64_t id;
    ~Entry() { pool.runs_.erase(id); }
  } const entry{*this, id};
  runs_[id] = run;

  const WireMessage start{.type = WireType::start,
                          .task_id = id,
                          .memory_bytes = spec.limits.memory_bytes,
                          .cpu_seconds = whole_seconds(spec.limits.cpu),
                          .file_bytes = spec.limits.file_bytes,
                          .processes = spec.limits.processes};
  std::vector<int> fds = {request.get(), pipe.write_end.get()};
  for (const auto& file : spec.files) fds.push_back(file.get());
  const auto program = program_;
  MR_CO_TRY_VOID(co_await program->send(start, std::move(fds)));
  // From here on the child alone holds them: its end is the end of the pipe.
  pipe.write_end.reset();
  request.reset();
  spec.files.clear();
  co_return co_await run->finish(std::move(cancel));
}

void TaskPool::Impl::begin_stop() {
  if (stopping_.is_set()) return;
  stopping_.set();
  for (const auto& waiter : std::exchange(waiting_, {})) waiter->woken.set();
  for (const auto& [id, run] : runs_) {
    run->stop({End::cancelled, "cancelled", "the task pool is stopping"});
  }
  if (running_ == 0) emptied_.set();
  if (program_ && phase_ == Phase::starting) program_->kill();
  if (phase_ != Phase::stopped) enter(phase_ == Phase::starting ? Phase::waiting : phase_);
}

void TaskPool::Impl::abandon() {
  begin_stop();
  if (program_) program_->kill();
}

awaitable<void> TaskPool::Impl::stop(std::shared_ptr<Impl> self) {
  self->begin_stop();
  co_await self->emptied_.wait();
  if (self->program_) self->program_->kill();
  co_await self->idle_.wait();
}

TaskPool::TaskPool(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

TaskPool::~TaskPool() {
  // Should nothing run there any more, the program ends with the coroutine that serves it.
  asio::post(impl_->strand(), [impl = impl_] { impl->abandon(); });
}

Result<std::unique_ptr<TaskPool>> TaskPool::start(Executor executor, PoolSpec spec) {
  if (spec.size == 0) return invalid("size must be above zero");
  if (spec.warm_up_timeout <= std::chrono::milliseconds::zero()) {
    return invalid("warm_up_timeout must be above zero");
  }
  MR_TRY_VOID(find_executable({.program = spec.program, .cwd = {}}));
  auto impl = std::make_shared<Impl>(std::move(executor), std::move(spec));
  spawn(impl->strand(), Impl::supervise(impl), impl->log(), "task_pool");
  return std::unique_ptr<TaskPool>(new TaskPool(std::move(impl)));
}

Task<void> TaskPool::ready() {
  co_return co_await asio::co_spawn(impl_->strand(), Impl::ready(impl_), asio::use_awaitable);
}

Task<TaskResult> TaskPool::run(TaskSpec spec, CancelToken cancel) {
  co_return co_await asio::co_spawn(
      impl_->strand(), Impl::run(impl_, std::move(spec), std::move(cancel)), asio::use_awaitable);
}

awaitable<void> TaskPool::stop() {
  co_await asio::co_spawn(impl_->strand(), Impl::stop(impl_), asio::use_awaitable);
}

TaskPool::State TaskPool::state() const { return impl_->state(); }

}  // namespace millrace::sandbox
