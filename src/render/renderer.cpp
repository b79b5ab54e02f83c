#include "render/renderer.h"

#include "base/both.h"
#include "base/either.h"
#include "base/spawn.h"
#include "render/browser.h"
#include "render/scratch.h"
#include "sandbox/executable.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace millrace::render {
namespace {

namespace asio = boost::asio;
using JobPtr = std::shared_ptr<RenderJob>;
using BrowserPtr = std::shared_ptr<Browser>;
using std::chrono::milliseconds;

constexpr milliseconds kWatchEvery{100};
constexpr milliseconds kRoomEvery = std::chrono::seconds(1);
constexpr milliseconds kPauseFirst{100};
constexpr milliseconds kPauseMax = std::chrono::seconds(10);

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

std::unexpected<Error> stopped() { return fail(ErrorKind::unavailable, "the renderer is stopped"); }

Result<void> check(const RendererSpec& spec) {
  if (spec.scratch_root.empty()) return invalid("scratch_root is empty");
  if (spec.size == 0 || spec.size > 64) return invalid("size must be 1 to 64");
  if (spec.documents_max == 0) return invalid("documents_max must be above zero");
  if (spec.memory_max_bytes < spec.memory_recycle_bytes) {
    return invalid("memory_max_bytes must not be below memory_recycle_bytes");
  }
  if (spec.memory_pool_bytes == 0) return invalid("memory_pool_bytes must be above zero");
  if (spec.warm_up_timeout <= milliseconds::zero()) {
    return invalid("warm_up_timeout must be above zero");
  }
  return ok();
}

// Whoever runs this should know when a document of a stranger has fewer walls around it.
Result<void> check_walls(const Confinement& confinement, RendererSpec& spec) {
  if (confinement.missing.empty()) return ok();
  if (spec.require_confinement) {
    return fail({.kind = ErrorKind::unavailable,
                 .message = fmt::format("no browser is started without {}: {}",
                                        confinement.missing_walls(), confinement.missing),
                 .hint = std::string(kWallsHint),
                 .detail = std::string(fault::kNoBrowser)});
  }
  spec.log.warn("browser_walls_missing", {{"walls", confinement.missing_walls()},
                                          {"reason", confinement.missing},
                                          {"hint", kWallsHint}});
  return ok();
}

Error timed_out(milliseconds timeout) {
  return {.kind = ErrorKind::unavailable,
          .message = fmt::format("the document was not rendered after {} ms", timeout.count()),
          .hint = "Reduce its content: fewer pages, smaller pictures, simpler layout.",
          .detail = std::string(fault::kTimedOut)};
}

Error out_of_memory(std::string message) {
  return {.kind = ErrorKind::unavailable,
          .message = std::move(message),
          .hint = "Reduce its content: fewer pages, smaller pictures.",
          .detail = std::string(fault::kMemory)};
}

// A place in the pool, whatever browser is in it.
struct Slot {
  bool was_warm = false;  // The browser that is in it, at any time.
  bool failed = false;    // None has become warm since one did not.
};

}  // namespace

Result<std::string> find_browser() {
  // The programs themselves: what Debian puts on the path are scripts, of which one reads
  // configuration and the other stays as the leader of the browser.
  for (const char* program : {"/usr/lib/chromium/chromium-headless-shell",
                              "/usr/lib/chromium/chromium", "/usr/bin/chromium-headless-shell"}) {
    if (auto found = sandbox::find_executable({.program = program, .cwd = {}})) return found;
  }
  return fail({.kind = ErrorKind::not_found,
               .message = "no browser: neither chromium-headless-shell nor chromium is installed",
               .hint = "apt-get install chromium-headless-shell"});
}

// Impl: all of it on one strand but `shown_`. It lives as long as the renderer or its slots.
class Renderer::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Executor executor, Clock& clock, RendererSpec spec, Scratch scratch, Confinement confinement)
      : strand_(asio::make_strand(executor)),
        clock_(clock),
        spec_(std::move(spec)),
        scratch_(std::move(scratch)),
        confinement_(std::move(confinement)) {
    slots_left_ = spec_.size;
    show();
  }

  const Executor& strand() const { return strand_; }
  Logger& log() { return spec_.log; }
  std::size_t size() const { return spec_.size; }
  State state() const {
    const std::lock_guard lock(shown_mutex_);
    return shown_;
  }

  static awaitable<void> run_slot(std::shared_ptr<Impl> self);
  static Task<void> ready(std::shared_ptr<Impl> self);
  static Task<Rendered> render(std::shared_ptr<Impl> self, JobPtr job);
  static awaitable<void> drain(std::shared_ptr<Impl> self);
  static awaitable<void> stop(std::shared_ptr<Impl> self);
  void begin_stop();

 private:
  awaitable<void> use(BrowserPtr browser, Slot* slot);
  awaitable<bool> warm_up(BrowserPtr browser);
  awaitable<void> open_page(BrowserPtr browser, Event done, bool* opened);
  awaitable<void> limit_warm_up(BrowserPtr browser, Event done);
  awaitable<JobPtr> next_job(BrowserPtr browser);
  awaitable<bool> serve_job(BrowserPtr browser, JobPtr job);
  awaitable<void> render_job(BrowserPtr browser, JobPtr job, Event done);
  awaitable<void> watch(BrowserPtr browser, JobPtr job, Event done);
  awaitable<void> wait_for_room();
  void measure(const BrowserPtr& browser);
  void tell_memory();
  void keep_within_pool();
  bool is_busy(const BrowserPtr& browser) const {
    return std::ranges::find(busy_, browser) != busy_.end();
  }
  BrowserPtr largest(bool busy) const;
  std::uint64_t memory_bytes() const;
  bool is_worn(const BrowserPtr& browser);
  void has_warmed(Slot& slot);
  void has_failed(Slot& slot);
  bool no_browser() const { return failed_ == spec_.size; }
  std::unexpected<Error> without_browser() const;
  void finish(const JobPtr& job, Result<Rendered> result);
  void show();

  Executor strand_;
  Clock& clock_;
  RendererSpec spec_;
  Scratch scratch_;
  Confinement confinement_;
  Event stopping_;
  Event decided_;   // A browser has become warm, or all have failed to.
  Event work_;      // There is a document in line, or the renderer stops.
  Event finished_;  // A document is done; reset by who waits for it.
  Event room_;      // Memory may be left for another browser; reset by who waits for it.
  Event all_gone_;  // No slot is left.
  bool draining_ = false;
  std::deque<JobPtr> line_;
  std::vector<BrowserPtr> browsers_;
  std::vector<BrowserPtr> busy_;   // Of them, those with a document.
  std::uint64_t fresh_bytes_ = 0;  // What the last new one used when it was warm.
  std::size_t slots_left_ = 0;
  std::size_t warm_ = 0;
  std::size_t failed_ = 0;  // Slots whose browsers do not start.
  State counts_;            // Only the counters and last_error are used.

  mutable std::mutex shown_mutex_;  // Guards shown_.
  State shown_;
};

void Renderer::Impl::show() {
  State now = counts_;
  now.warm = warm_;
  now.running = busy_.size();
  now.waiting = line_.size();
  now.swept = scratch_.swept();
  now.confinement = confinement_;
  now.memory_bytes = memory_bytes();
  for (const auto& browser : browsers_) now.browsers.push_back(browser->pid());
  const std::lock_guard lock(shown_mutex_);
  shown_ = std::move(now);
}

awaitable<void> Renderer::Impl::run_slot(std::shared_ptr<Impl> self) {
  milliseconds pause{0};
  Slot slot;
  while (!self->stopping_.is_set()) {
    slot.was_warm = false;
    co_await self->wait_for_room();
    if (self->stopping_.is_set()) break;
    auto started = Browser::start(self->strand_, self->clock_,
                                  {.file = self->spec_.program,
                                   .switches = {},
                                   .scratch = self->scratch_.next(),
                                   .stage = self->scratch_.stage(),
                                   .confinement = self->confinement_,
                                   .data_max_bytes = self->spec_.memory_max_bytes * 4},
                                  self->spec_.limits, self->spec_.walls);
    ++self->counts_.starts;
    if (started.has_value()) {
      const BrowserPtr browser = *std::move(started);
      self->browsers_.push_back(browser);
      self->show();
      co_await both(browser->serve(), self->use(browser, &slot));
      std::erase(self->browsers_, browser);
      self->room_.set();
      if (!slot.was_warm) self->counts_.last_error = browser->ending();
    } else {
      self->counts_.last_error = started.error().describe();
    }
    self->show();
    if (slot.was_warm) {
      pause = milliseconds(0);
      continue;
    }
    if (self->stopping_.is_set()) break;
    self->spec_.log.warn("browser_not_started", {{"reason", self->counts_.last_error}});
    self->has_failed(slot);
    pause = std::clamp(pause * 2, kPauseFirst, kPauseMax);
    co_await self->stopping_.wait_for(pause);
  }
  if (--self->slots_left_ == 0) self->all_gone_.set();
}

awaitable<void> Renderer::Impl::use(BrowserPtr browser, Slot* slot) {
  while (!stopping_.is_set() && co_await warm_up(browser)) {
    has_warmed(*slot);
    if (browser->documents() == 0) {
      measure(browser);
      fresh_bytes_ = browser->measured_bytes();
    }
    const JobPtr job = co_await next_job(browser);
    if (!job) break;
    const bool well = co_await serve_job(browser, job);
    if (!well || is_worn(browser)) break;
  }
  browser->kill({.kind = ErrorKind::unavailable, .message = "the browser was ended"});
}

awaitable<bool> Renderer::Impl::warm_up(BrowserPtr browser) {
  Event done;
  bool opened = false;
  co_await both(open_page(browser, done, &opened), limit_warm_up(browser, done));
  co_return opened;
}

void Renderer::Impl::has_warmed(Slot& slot) {
  slot.was_warm = true;
  if (std::exchange(slot.failed, false)) --failed_;
  decided_.set();
}

// Without any browser a document would wait until the time of its job is over. It is told at once:
// others may have one.
void Renderer::Impl::has_failed(Slot& slot) {
  if (!std::exchange(slot.failed, true)) ++failed_;
  if (!no_browser()) return;
  for (const auto& job : std::exchange(line_, {})) finish(job, without_browser());
  show();
  decided_.set();
  finished_.set();
}

std::unexpected<Error> Renderer::Impl::without_browser() const {
  return fail({.kind = ErrorKind::unavailable,
               .message = fmt::format("no browser: {}", counts_.last_error),
               .detail = std::string(fault::kNoBrowser)});
}

awaitable<void> Renderer::Impl::open_page(BrowserPtr browser, Event done, bool* opened) {
  const auto page = co_await browser->open_page();
  *opened = page.has_value();
  if (!page.has_value()) browser->kill(page.error());
  const bool ended = browser->killed_for() && browser->killed_for()->detail == fault::kMemory;
  if (!page.has_value() && !stopping_.is_set() && !ended) {
    spec_.log.warn("browser_page_not_opened", {{"reason", page.error().describe()}});
  }
  done.set();
}

awaitable<void> Renderer::Impl::limit_warm_up(BrowserPtr browser, Event done) {
  if (co_await done.wait_for(spec_.warm_up_timeout)) co_return;
  browser->kill({.kind = ErrorKind::unavailable,
                 .message = fmt::format("the browser was not ready after {} ms",
                                        spec_.warm_up_timeout.count())});
}

awaitable<JobPtr> Renderer::Impl::next_job(BrowserPtr browser) {
  using namespace either;
  ++warm_;
  show();
  while (line_.empty() && !stopping_.is_set() && !browser->unreachable()) {
    work_.reset();
    co_await (work_.wait() || browser->gone().wait());
  }
  --warm_;
  JobPtr job;
  if (!line_.empty() && !stopping_.is_set() && !browser->unreachable()) {
    job = std::move(line_.front());
    line_.pop_front();
    busy_.push_back(browser);
  }
  show();
  co_return job;
}

// True: the document was rendered.
awaitable<bool> Renderer::Impl::serve_job(BrowserPtr browser, JobPtr job) {
  Event done;
  co_await both(render_job(browser, job, done), watch(browser, job, done));
  std::erase(busy_, browser);
  const bool well = job->result->has_value();
  if (!well) {
    ++counts_.failures;
    const Error& error = job->result->error();
    spec_.log.info("document_not_rendered",
                   {{"reason", error.describe()}, {"fault", error.detail}});
  }
  show();
  finished_.set();
  job->done.set();
  co_return well;
}

awaitable<void> Renderer::Impl::render_job(BrowserPtr browser, JobPtr job, Event done) {
  const auto began = clock_.now();
  auto rendered = co_await browser->render(job);
  const auto to_ms = [](auto duration) {
    return std::chrono::duration_cast<milliseconds>(duration);
  };
  if (rendered.has_value()) {
    rendered->waited = to_ms(began - job->queued_at);
    rendered->took = to_ms(clock_.now() - began);
  } else if (browser->killed_for()) {
    rendered = fail(*browser->killed_for());
  } else if (browser->unreachable()) {
    rendered = fail(
        {.kind = ErrorKind::unavailable,
         .message = "the browser ended while it rendered the document: " + rendered.error().message,
         .detail = std::string(fault::kCrashed)});
  }
  ++counts_.documents;
  job->result = std::move(rendered);
  done.set();
}

// Holds the document to its time and its memory.
awaitable<void> Renderer::Impl::watch(BrowserPtr browser, JobPtr job, Event done) {
  using namespace either;
  const auto timeout = job->request.timeout;
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (!done.is_set()) {
    const auto left = until - std::chrono::steady_clock::now();
    if (job->cancel.cancelled()) {
      browser->kill({.kind = ErrorKind::cancelled, .message = job->cancel.reason()});
    } else if (left <= Clock::Duration::zero()) {
      browser->kill(timed_out(timeout));
    } else {
      co_await (done.wait_for(std::min<Clock::Duration>(left, kWatchEvery)) || job->cancel.wait());
      if (!done.is_set()) measure(browser);
      continue;
    }
    co_await done.wait();  // The calls of the document fail now.
  }
}

std::uint64_t Renderer::Impl::memory_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& browser : browsers_) {
    const auto measured = browser->measured_bytes();
    sum += measured > 0 ? measured : fresh_bytes_;
  }
  return sum;
}

// A browser that ends still uses what it did. What the others free may be seen only when they are
// measured again, and those without a document are not.
awaitable<void> Renderer::Impl::wait_for_room() {
  const auto has_room = [this] {
    return browsers_.empty() || memory_bytes() + fresh_bytes_ <= spec_.memory_pool_bytes;
  };
  while (!stopping_.is_set() && !has_room()) {
    room_.reset();
    if (co_await room_.wait_for(kRoomEvery)) continue;
    for (const auto& browser : browsers_) {
      if (browser->measured_bytes() > 0 && !is_busy(browser)) browser->measure();
    }
    tell_memory();
  }
}

void Renderer::Impl::measure(const BrowserPtr& browser) {
  browser->measure();
  tell_memory();
  if (browser->measured_bytes() > spec_.memory_max_bytes) {
    browser->kill(out_of_memory(
        fmt::format("the document needed more than {} MiB", spec_.memory_max_bytes >> 20U)));
  }
  keep_within_pool();
  room_.set();
}

void Renderer::Impl::tell_memory() {
  if (spec_.on_memory) spec_.on_memory(memory_bytes());
  show();
}

BrowserPtr Renderer::Impl::largest(bool busy) const {
  BrowserPtr found;
  for (const auto& browser : browsers_) {
    if (is_busy(browser) != busy || browser->unreachable()) continue;
    // One that is not warm yet was not measured, and may not be ended: it would count as failed.
    if (browser->measured_bytes() == 0) continue;
    if (!found || browser->measured_bytes() > found->measured_bytes()) found = browser;
  }
  return found;
}

// What is being ended is as good as gone: for it no other one is ended as well.
void Renderer::Impl::keep_within_pool() {
  for (;;) {
    std::uint64_t sum = 0;
    for (const auto& browser : browsers_) {
      if (!browser->unreachable()) sum += browser->measured_bytes();
    }
    if (sum <= spec_.memory_pool_bytes) return;
    const auto idle = largest(false);
    // The next one would not be smaller.
    if (idle && idle->documents() == 0 && idle->measured_bytes() == sum) return;
    const auto ended = idle ? idle : largest(true);
    if (!ended) return;
    if (idle) ++counts_.recycled_for_memory;
    spec_.log.info("browser_ended_for_memory", {{"bytes", ended->measured_bytes()},
                                                {"all_bytes", sum},
                                                {"limit_bytes", spec_.memory_pool_bytes},
                                                {"idle", idle != nullptr}});
    ended->kill(out_of_memory(fmt::format(
        "documents that were printed together needed more than {} MiB, this one most of all",
        spec_.memory_pool_bytes >> 20U)));
  }
}

bool Renderer::Impl::is_worn(const BrowserPtr& browser) {
  if (browser->documents() >= spec_.documents_max) {
    ++counts_.recycled_for_count;
    return true;
  }
  // Documents that follow each other within the watch's interval are looked at by its pace, too.
  if (clock_.now() - browser->measured_at() >= kWatchEvery) measure(browser);
  if (browser->unreachable()) return true;  // For the sake of the others, and counted.
  if (browser->measured_bytes() > spec_.memory_recycle_bytes) {
    ++counts_.recycled_for_memory;
    return true;
  }
  return false;
}

Task<void> Renderer::Impl::ready(std::shared_ptr<Impl> self) {
  co_await self->decided_.wait();
  if (self->stopping_.is_set()) co_return stopped();
  if (self->no_browser()) co_return self->without_browser();
  co_return ok();
}

Task<Rendered> Renderer::Impl::render(std::shared_ptr<Impl> self, JobPtr job) {
  using namespace either;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  MR_CO_TRY_VOID(check_request(job->request, self->spec_.limits));
  if (job->cancel.cancelled()) co_return fail(ErrorKind::cancelled, job->cancel.reason());
  if (self->stopping_.is_set() || self->draining_) co_return stopped();
  if (self->no_browser()) co_return self->without_browser();
  if (self->line_.size() >= self->spec_.waiting_max) {
    co_return fail(ErrorKind::throttled,
                   fmt::format("{} documents wait to be rendered already", self->line_.size()));
  }
  job->queued_at = self->clock_.now();
  self->line_.push_back(job);
  self->work_.set();
  self->show();
  co_await (job->done.wait() || job->cancel.wait());
  if (!job->done.is_set() && std::erase(self->line_, job) > 0) {
    self->show();
    self->finished_.set();
    co_return fail(ErrorKind::cancelled, job->cancel.reason());
  }
  co_await job->done.wait();  // Its browser is being killed.
  co_return std::move(*job->result);
}

void Renderer::Impl::finish(const JobPtr& job, Result<Rendered> result) {
  job->result = std::move(result);
  job->done.set();
}

awaitable<void> Renderer::Impl::drain(std::shared_ptr<Impl> self) {
  self->draining_ = true;
  while (!self->stopping_.is_set() && (!self->busy_.empty() || !self->line_.empty())) {
    self->finished_.reset();
    co_await self->finished_.wait();
  }
}

void Renderer::Impl::begin_stop() {
  if (stopping_.is_set()) return;
  stopping_.set();
  for (const auto& job : std::exchange(line_, {})) finish(job, stopped());
  for (const auto& browser : browsers_) {
    browser->kill({.kind = ErrorKind::unavailable, .message = "the renderer is stopped"});
  }
  work_.set();
  room_.set();
  decided_.set();
  finished_.set();
}

awaitable<void> Renderer::Impl::stop(std::shared_ptr<Impl> self) {
  self->begin_stop();
  co_await self->all_gone_.wait();
}

Renderer::Renderer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Renderer::~Renderer() {
  // Should nothing run there any more, the browsers end with the coroutines that serve them.
  asio::post(impl_->strand(), [impl = impl_] { impl->begin_stop(); });
}

Result<std::unique_ptr<Renderer>> Renderer::start(Executor executor, Clock& clock,
                                                  RendererSpec spec) {
  MR_TRY_VOID(check(spec));
  if (spec.program.empty()) {
    MR_TRY(spec.program, find_browser());
  } else {
    MR_TRY(spec.program, sandbox::find_executable({.program = spec.program, .cwd = {}}));
  }
  MR_TRY(Scratch scratch, Scratch::open(spec.scratch_root));
  MR_TRY(Confinement confinement, Confinement::probe(scratch.stage(), spec.namespaces));
  for (const auto& line : confinement.lines())
    spec.log.info("browser_confinement", {{"line", line}});
  MR_TRY_VOID(check_walls(confinement, spec));
  auto impl = std::make_shared<Impl>(std::move(executor), clock, std::move(spec),
                                     std::move(scratch), std::move(confinement));
  for (std::size_t i = 0; i < impl->size(); ++i) {
    spawn(impl->strand(), Impl::run_slot(impl), impl->log(), "browser slot");
  }
  return std::unique_ptr<Renderer>(new Renderer(std::move(impl)));
}

Task<void> Renderer::ready() {
  co_return co_await asio::co_spawn(impl_->strand(), Impl::ready(impl_), asio::use_awaitable);
}

Task<Rendered> Renderer::render(RenderRequest request, PdfSink sink, CancelToken cancel) {
  auto job = std::make_shared<RenderJob>(RenderJob{.request = std::move(request),
                                                   .sink = std::move(sink),
                                                   .cancel = std::move(cancel),
                                                   .queued_at = {}});
  co_return co_await asio::co_spawn(impl_->strand(), Impl::render(impl_, std::move(job)),
                                    asio::use_awaitable);
}

awaitable<void> Renderer::drain() {
  co_await asio::co_spawn(impl_->strand(), Impl::drain(impl_), asio::use_awaitable);
}

awaitable<void> Renderer::stop() {
  co_await asio::co_spawn(impl_->strand(), Impl::stop(impl_), asio::use_awaitable);
}

Renderer::State Renderer::state() const { return impl_->state(); }

}  // namespace millrace::render
