#include "app/commands/watch.h"

#include "app/exit_code.h"
#include "app/live_view.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <map>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

bool is_final_status(const std::string& status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

struct Watched {
  JobId id;
  std::string status;
  std::string line;  // Last one printed.
  std::int64_t log_seq = 0;
  json::Object job;
};

std::string describe(const Context& context, const json::Object& job) {
  const auto status = text_member(job, "status");
  const auto& terminal = context.terminal;
  std::string out = fmt::format("{}  {}", text_member(job, "job_id"), text_member(job, "job_type"));
  const auto cell = show_status(json::Value(status), job);
  out += "  " + terminal.paint(cell.style, status);
  if (status == "processing") {
    const auto percent = int_member(job, "progress");
    out += fmt::format("  {} {:3} %", bar(static_cast<double>(percent) / 100, 20, terminal.unicode),
                       percent);
    const auto message = text_member(job, "progress_message");
    if (!message.empty()) out += "  " + printable(message);
  }
  if (status == "retrying" || status == "failed") {
    const auto* error = member(job, "error");
    if (error != nullptr && !error->is_null()) {
      out += "  " + printable(show_error(*error, job).text);
    }
  }
  if (status == "retrying" || status == "pending") {
    const auto* due = member(job, "scheduled_at");
    if (due != nullptr && due->is_string()) {
      const auto text = show_age(*due, job).text;
      if (text.starts_with("in ")) out += "  due " + text;
    }
  }
  return out;
}

// What the people who watch see: on a terminal a line per job, drawn again in place, with log lines
// above; elsewhere a line per change.
class JobView {
 public:
  explicit JobView(Context& context) : context_(context), view_(context) {}

  void show(Watched& watched) {
    const auto line = describe(context_, watched.job);
    const bool changed = line != watched.line;
    watched.line = line;
    if (changed && !view_.active()) context_.print(line + "\n");
  }

  void print(const std::string& line) { view_.print_above(line); }

  void redraw(const std::vector<Watched>& all) {
    std::string block;
    for (const auto& watched : all) block += watched.line + "\n";
    view_.draw(block);
  }

 private:
  Context& context_;
  LiveView view_;
};

void print_logs(Context& context, store::AdminStore& store, Watched& watched, JobView& view) {
  auto logs = store.job_logs(watched.id, watched.log_seq, 200);
  if (!logs) return;  // Shown when possible; watching goes on.
  for (const auto& value : *logs) {
    const auto& line = value.as_object();
    watched.log_seq = int_member(line, "log_seq");
    const auto level = text_member(line, "level");
    const auto style = level == "error" ? Style::red : level == "warn" ? Style::yellow : Style::dim;
    const auto text = fmt::format("  {:5} {}", level, printable(text_member(line, "message")));
    view.print(context.terminal.paint(style, text));
  }
}

void print_result(const json::Object& job, JobView& view) {
  const auto* result = member(job, "result");
  if (result == nullptr || result->is_null()) return;
  view.print(fmt::format("  result {}", to_json(*result)));
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interrupt::requested() { return interrupted != 0; }

bool Interrupt::wait(milliseconds time) {
  if (requested()) return true;
  timespec left{.tv_sec = time.count() / 1000, .tv_nsec = (time.count() % 1000) * 1'000'000};
  ::nanosleep(&left, nullptr);  // A signal ends it early.
  return requested();
}

std::string bar(double share, std::size_t width, bool unicode) {
  const double clamped = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(clamped * static_cast<double>(width) + 0.5);
  std::string out;
  for (std::size_t i = 0; i < width; ++i) {
    if (unicode) {
      out += i < full ? "█" : "░";
    } else {
      out += i < full ? '#' : '-';
    }
  }
  return out;
}

Result<int> watch_jobs(Context& context, store::AdminStore& store, std::vector<JobId> ids,
                       const WatchOptions& options) {
  Interrupt interrupt;
  JobView view(context);
  std::vector<Watched> all;
  for (const auto& id : ids) all.push_back({.id = id, .status = {}, .line = {}, .job = {}});
  const auto started = context.clock.now();
  for (;;) {
    bool open = false;
    for (auto& watched : all) {
      if (is_final_status(watched.status)) continue;
      MR_TRY(watched.job, store.get_job(watched.id));
      watched.status = text_member(watched.job, "status");
      open = open || !is_final_status(watched.status);
      if (context.json()) continue;
      view.show(watched);
      print_logs(context, store, watched, view);
      if (watched.status == "completed") print_result(watched.job, view);
    }
    if (!context.json()) view.redraw(all);
    if (!open) break;
    if (options.timeout && context.clock.now() - started > *options.timeout) {
      return fail(Error{
          .kind = ErrorKind::unavailable,
          .message = fmt::format("still not finished after {}", format_duration(*options.timeout)),
          .hint = "the job goes on; see 'millrace jobs show'"});
    }
    if (Interrupt::wait(options.interval)) return kExitInterrupted;
  }
  json::Array out;
  bool all_completed = true;
  for (auto& watched : all) {
    all_completed = all_completed && watched.status == "completed";
    out.emplace_back(std::move(watched.job));
  }
  if (context.json()) context.print_json(all.size() == 1 ? out.front() : json::Value(out));
  return all_completed ? kExitOk : kExitJobFailed;
}

Result<int> watch_queue(Context& context, store::AdminStore& store,
                        std::optional<std::string> queue, bool until_empty,
                        const WatchOptions& options) {
  if (queue) {
    MR_TRY(const bool exists, store.queue_exists(*queue));
    if (!exists) {
      return fail(Error{.kind = ErrorKind::not_found,
                        .message = fmt::format("queue '{}' does not exist", *queue),
                        .sqlstate = "MR007",
                        .hint = "see 'millrace queues list'"});
    }
  }
  Interrupt interrupt;
  const auto started = context.clock.now();
  auto last_at = started;
  MR_TRY(auto last, store.counts(queue));
  const bool live_line = context.terminal.out_tty && !context.json();
  const auto interval =
      live_line ? options.interval : std::max(options.interval, milliseconds(1000));
  for (;;) {
    MR_TRY(const auto now, store.counts(queue));
    const auto at = context.clock.now();
    const double seconds = std::chrono::duration<double>(at - last_at).count();
    const auto done = (now.completed + now.failed) - (last.completed + last.failed);
    const double rate = seconds > 0.01 ? static_cast<double>(done) / seconds : 0;
    if (context.json()) {
      context.print(to_json(json::Object{{"ready", now.ready},
                                         {"delayed", now.delayed},
                                         {"leased", now.leased},
                                         {"completed", now.completed},
                                         {"failed", now.failed},
                                         {"cancelled", now.cancelled},
                                         {"per_second", rate}}) +
                    "\n");
    } else {
      const auto line = fmt::format(
          "{:<14} {:>8}/s   ready {:<9} waiting {:<9} running {:<7} done {:<10} failed {}",
          queue.value_or("all queues"), short_count(rate), group_digits(now.ready),
          group_digits(now.delayed), group_digits(now.leased), group_digits(now.completed),
          group_digits(now.failed));
      context.print(live_line ? fmt::format("\r\x1b[K{}", line) : line + "\n");
    }
    if (at - last_at >= milliseconds(900)) {
      last = now;
      last_at = at;
    }
    if (until_empty && now.live() == 0) break;
    if (options.timeout && at - started > *options.timeout) {
      if (live_line) context.print("\n");
      return fail(ErrorKind::unavailable, fmt::format("still {} live jobs after {}", now.live(),
                                                      format_duration(*options.timeout)));
    }
    if (Interrupt::wait(interval)) {
      if (live_line) context.print("\n");
      return kExitInterrupted;
    }
  }
  if (live_line) context.print("\n");
  return kExitOk;
}

}  // namespace millrace::app
