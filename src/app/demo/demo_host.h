// DemoHost: what the parts of the demo that use a running server have in common: the server, the
// screen, the clock.
//
// Lifetime: everything it refers to outlives it. Threading: one thread.
#pragma once

#include "app/context.h"
#include "app/demo/demo.h"
#include "app/demo/served.h"
#include "app/live_view.h"
#include "app/signals.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::app {

struct DemoHost {
  Context& context;
  const DemoOptions& options;
  SignalWaiter& signals;
  LiveView& view;
  Served& served;
  Clock::Steady begun;

  void say(const std::string& line) const {
    if (!context.json()) view.print_above(line);
  }
  std::string paint(Style style, const std::string& text) const {
    return context.terminal.paint(style, text);
  }
  double elapsed() const {
    return std::chrono::duration<double>(context.clock.now() - begun).count();
  }
  bool late() const { return context.clock.now() - begun > options.timeout; }
};

// What became of a part.
enum class DemoEnd { good, wrong, interrupted };

// examples/<name> below the working directory, or beside the build folder this program lies in;
// empty: not there.
std::filesystem::path example_folder(std::string_view name);

// A fresh one, for a part that runs alone.
Result<std::unique_ptr<Served>> start_demo_server(Context& context, const DemoOptions& options);

}  // namespace millrace::app
