#include "base/fault.h"

#include "base/history.h"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::fault {
namespace {

enum class Action { kill, stop, error, drop, delay };

struct Trap {
  std::string name;
  bool prefix = false;
  Action action = Action::kill;
  long delay_ms = 0;
  long left = 1;  // Times to pass before it springs; then it is spent.
};

std::mutex mutex;  // Guards both.
std::vector<Trap> traps;
std::vector<std::string> gone_off;

constexpr std::pair<std::string_view, Action> kActions[] = {{"kill", Action::kill},
                                                            {"stop", Action::stop},
                                                            {"error", Action::error},
                                                            {"drop", Action::drop},
                                                            {"delay", Action::delay}};

std::string_view name_of(Action action) {
  for (const auto& [name, value] : kActions) {
    if (value == action) return name;
  }
  return "";
}

std::optional<long> parse_number(std::string_view text) {
  long value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

Result<Trap> parse_trap(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("fault plan '{}': {}; write POINT=ACTION[:MS][@NTH]", text, why));
  };
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return wrong("no POINT= in it");
  Trap trap;
  trap.name = text.substr(0, equals);
  if (trap.name.ends_with('*')) {
    trap.name.pop_back();
    trap.prefix = true;
  }
  auto rest = text.substr(equals + 1);
  if (const auto at = rest.find('@'); at != std::string_view::npos) {
    const auto nth = parse_number(rest.substr(at + 1));
    if (!nth) return wrong("NTH is a number from 1 on");
    trap.left = *nth;
    rest = rest.substr(0, at);
  }
  const auto colon = rest.find(':');
  const auto verb = rest.substr(0, colon);
  bool known = false;
  for (const auto& [name, action] : kActions) {
    if (name != verb) continue;
    trap.action = action;
    known = true;
  }
  if (!known) return wrong("the actions are kill, stop, error, drop and delay");
  if ((trap.action == Action::delay) != (colon != std::string_view::npos)) {
    return wrong("a delay needs its milliseconds, other actions have none");
  }
  if (colon != std::string_view::npos) {
    const auto ms = parse_number(rest.substr(colon + 1));
    if (!ms) return wrong("MS is a number from 1 on");
    trap.delay_ms = *ms;
  }
  return trap;
}

std::string full_name(std::string_view name, std::string_view stage) {
  return stage.empty() ? std::string(name) : fmt::format("{}.{}", name, stage);
}

std::optional<Trap> spring(const std::string& name) {
  const std::lock_guard lock(mutex);
  for (auto& trap : traps) {
    const bool meant = trap.prefix ? name.starts_with(trap.name) : name == trap.name;
    if (!meant || trap.left <= 0) continue;
    if (--trap.left > 0) continue;
    gone_off.push_back(name);
    return trap;
  }
  return std::nullopt;
}

void stand_still(long ms) {
  timespec left{.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1'000'000};
  while (::nanosleep(&left, &left) != 0) {
  }
}

}  // namespace

Result<void> arm(std::string_view plan) {
  std::vector<Trap> parsed;
  while (!plan.empty()) {
    const auto end = plan.find(';');
    MR_TRY(auto trap, parse_trap(plan.substr(0, end)));
    parsed.push_back(std::move(trap));
    plan = end == std::string_view::npos ? std::string_view() : plan.substr(end + 1);
  }
  const std::lock_guard lock(mutex);
  traps = std::move(parsed);
  gone_off.clear();
  detail::armed = !traps.empty();
  return {};
}

void disarm() { static_cast<void>(arm({})); }

std::vector<std::string> sprung() {
  const std::lock_guard lock(mutex);
  return gone_off;
}

Error injected(std::string_view name, std::string_view stage) {
  return {.kind = ErrorKind::unavailable,
          .message = fmt::format("fault injected at {}", full_name(name, stage))};
}

Effect detail::reach(std::string_view name, std::string_view stage) {
  const auto point = full_name(name, stage);
  const auto trap = spring(point);
  if (!trap) return Effect::none;
  history::record("fault", {{"point", point}, {"action", std::string(name_of(trap->action))}});
  switch (trap->action) {
    case Action::kill:
      ::kill(::getpid(), SIGKILL);
      for (;;) ::pause();  // Until the kernel has done it.
    case Action::stop:
      ::kill(::getpid(), SIGSTOP);
      return Effect::none;
    case Action::delay:
      stand_still(trap->delay_ms);
      return Effect::none;
    case Action::error:
      return Effect::error;
    case Action::drop:
      return Effect::drop;
  }
  return Effect::none;
}

void detail::note_reached(const char* property) noexcept {
  if (!history::enabled()) return;
  try {
    history::record("reached", {{"name", property}});
  } catch (...) {  // Evidence for tests must never disturb the program.
    return;
  }
}

void detail::note_broken(const char* property, const char* file, int line) noexcept {
  try {
    history::record("violated", {{"name", property}});
  } catch (...) {  // The process ends here in any case.
    assertion_failed(property, file, line);
  }
  assertion_failed(property, file, line);
}

}  // namespace millrace::fault
