#include "app/live_view.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::app {

LiveView::~LiveView() { finish(); }

void LiveView::draw(const std::string& block) {
  if (!active()) return;
  const std::lock_guard lock(mutex_);
  draw_locked(block, {});
}

void LiveView::print_above(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!active() || lines_ == 0) {
    context_.print(fmt::format("{}\n", line));
    return;
  }
  draw_locked(block_, line);
}

void LiveView::draw_locked(const std::string& block, std::string_view above) {
  std::string out;
  if (lines_ == 0) out += "\x1b[?25l";  // Hide the cursor.
  if (lines_ > 0) out += fmt::format("\x1b[{}A\r", lines_);
  if (!above.empty()) out += fmt::format("{}\x1b[K\n", above);
  // A line that wraps or scrolls away could not be found again.
  const auto size = terminal_size().value_or(TerminalSize{.columns = 80, .rows = 24});
  std::size_t drawn = 0;
  for (std::size_t at = 0; at < block.size() && drawn + 1 < size.rows; ++drawn) {
    const auto end = std::min(block.find('\n', at), block.size());
    const auto line = std::string_view(block).substr(at, end - at);
    out += cut_to_width(line, size.columns, context_.terminal.unicode) + "\x1b[K\n";
    at = end + 1;
  }
  out += "\x1b[J";  // What was below before.
  lines_ = drawn;
  block_ = block;
  context_.print(out);
}

void LiveView::finish() {
  const std::lock_guard lock(mutex_);
  if (lines_ == 0) return;
  context_.print("\x1b[?25h");
  lines_ = 0;
}

Result<std::vector<QueueMeter::Row>> QueueMeter::read(store::AdminStore& store, Clock::Steady now) {
  MR_TRY(const auto queues, store.list_queues());
  const double seconds = last_ ? std::chrono::duration<double>(now - *last_).count() : 0;
  last_ = now;
  std::vector<Row> rows;
  for (const auto& value : queues) {
    const auto& queue = value.as_object();
    Row row{.queue = text_member(queue, "queue"),
            .ready = int_member(queue, "ready"),
            .waiting = int_member(queue, "delayed"),
            .running = int_member(queue, "leased"),
            .completed = int_member(queue, "completed"),
            .failed = int_member(queue, "failed"),
            .paused = !text_member(queue, "paused_at").empty()};
    auto& seen = seen_[row.queue];
    const auto finished = row.completed + row.failed;
    if (seconds > 0) {
      const double rate = static_cast<double>(finished - seen.finished) / seconds;
      const double keep = std::exp(-seconds / 2.0);
      seen.per_second = seen.per_second * keep + rate * (1 - keep);
      if (seen.per_second < 0.05) seen.per_second = 0;
    }
    seen.finished = finished;
    row.per_second = seen.per_second;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string QueueMeter::render(const Context& context, const std::vector<Row>& rows) {
  Table table({left("QUEUE"), right("JOBS/S"), right("READY"), right("WAITING"), right("RUNNING"),
               right("DONE"), right("FAILED"), left("")});
  Row sum{.queue = "all"};
  for (const auto& row : rows) {
    sum.per_second += row.per_second;
    sum.ready += row.ready;
    sum.waiting += row.waiting;
    sum.running += row.running;
    sum.completed += row.completed;
    sum.failed += row.failed;
  }
  const auto add = [&](const Row& row, Style style) {
    Cell failed(static_cast<long long>(row.failed));
    if (row.failed > 0) failed.style = Style::red;
    Cell running(static_cast<long long>(row.running));
    if (row.running > 0) running.style = Style::cyan;
    table.add({Cell(row.queue, style), Cell(short_count(row.per_second)),
               Cell(static_cast<long long>(row.ready)), Cell(static_cast<long long>(row.waiting)),
               running, Cell(static_cast<long long>(row.completed)), failed,
               row.paused ? Cell("paused", Style::yellow) : Cell("")});
  };
  for (const auto& row : rows) {
    const bool idle = row.ready + row.waiting + row.running + row.completed + row.failed == 0;
    if (!idle || row.paused) add(row, Style::plain);
  }
  add(sum, Style::bold);
  return table.render(context.terminal);
}

}  // namespace millrace::app
