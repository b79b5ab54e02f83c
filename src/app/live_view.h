// LiveView: a block of lines that is drawn again in place on a terminal.
//
// On anything but a terminal draw() does nothing; whoever uses it prints lines of its own there.
// Threading: any; log lines of other threads come in through print_above().
#pragma once

#include "app/context.h"
#include "store/admin_store.h"

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

class LiveView {
 public:
  explicit LiveView(const Context& context) : context_(context) {}
  ~LiveView();  // Shows the cursor again.

  bool active() const { return context_.terminal.out_tty && !context_.json(); }
  void draw(const std::string& block);
  // A line above the block, which moves down.
  void print_above(std::string_view line);
  // Leaves what was drawn on the screen and goes on below it.
  void finish();

 private:
  void draw_locked(const std::string& block, std::string_view above);

  const Context& context_;
  std::mutex mutex_;  // Guards what follows and the order of writes.
  std::string block_;
  std::size_t lines_ = 0;
};

// Queues and their throughput since the last look; the rate is smoothed over a few seconds.
class QueueMeter {
 public:
  struct Row {
    std::string queue;
    double per_second = 0;
    std::int64_t ready = 0;
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    bool paused = false;
  };

  Result<std::vector<Row>> read(store::AdminStore& store, Clock::Steady now);
  // Only queues that have or had jobs, and their sum.
  static std::string render(const Context& context, const std::vector<Row>& rows);

 private:
  struct Seen {
    std::int64_t finished = 0;
    double per_second = 0;
  };
  std::map<std::string, Seen> seen_;
  std::optional<Clock::Steady> last_;
};

}  // namespace millrace::app
