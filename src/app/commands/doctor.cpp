#include "app/commands/commands.h"
#include "app/context.h"
#include "app/doctor/examine.h"
#include "app/exit_code.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace millrace::app {
namespace {

Style style_of(Finding::State state) {
  switch (state) {
    case Finding::State::ok:
      return Style::green;
    case Finding::State::warn:
      return Style::yellow;
    case Finding::State::fail:
      return Style::red;
  }
  return Style::plain;
}

Result<int> run_doctor(Context& context, bool strict) {
  const auto findings = examine(context);
  const auto count = [&](Finding::State state) {
    return std::ranges::count(findings, state, &Finding::state);
  };
  const auto failed = count(Finding::State::fail);
  const auto warned = count(Finding::State::warn);
  if (context.json()) {
    json::Array checks;
    for (const auto& finding : findings) {
      checks.emplace_back(json::Object{{"name", finding.name},
                                       {"state", std::string(to_string(finding.state))},
                                       {"explanation", finding.explanation},
                                       {"action", finding.action}});
    }
    context.print_json(json::Object{{"checks", std::move(checks)},
                                    {"failed", failed},
                                    {"warned", warned},
                                    {"ok", failed + warned == 0}});
  } else {
    for (const auto& finding : findings) {
      const auto state = fmt::format("{:<5}", to_string(finding.state));
      context.print(fmt::format("{} {:<12} {}\n",
                                context.terminal.paint(style_of(finding.state), state),
                                finding.name, printable(finding.explanation)));
      if (finding.state != Finding::State::ok && !finding.action.empty()) {
        context.print(fmt::format("{:18} {}\n", "",
                                  context.terminal.paint(Style::bold, "→ " + finding.action)));
      }
    }
    context.print(failed + warned == 0 ? std::string("\nall is well\n")
                                       : fmt::format("\n{} {}, {} {}\n", failed,
                                                     failed == 1 ? "problem" : "problems", warned,
                                                     warned == 1 ? "warning" : "warnings"));
  }
  return failed > 0 || (strict && warned > 0) ? kExitProblems : kExitOk;
}

}  // namespace

void add_doctor_command(Command& root) {
  auto strict = std::make_shared<bool>(false);
  auto& command = root.add("doctor", "Find out what is wrong and what to do").group("Operation");
  command.flag("--strict", *strict, "Exit 7 for warnings too");
  command.action([strict](Context& context) { return run_doctor(context, *strict); });
}

}  // namespace millrace::app
