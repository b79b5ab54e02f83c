#include "sim/handler.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <stdexcept>

namespace millrace::sim {

using namespace boost::asio::experimental::awaitable_operators;
using std::chrono::milliseconds;

awaitable<Outcome> ScriptedHandler::run(std::shared_ptr<worker::JobContext> context) {
  const auto index = job_index(context->job().id);
  const auto& script = world_.plan_.jobs[index].script;
  auto& checks = world_.checks_;
  const bool first = world_.runs_[index]++ < script.times;
  checks.handler_started(process_, context->job(), context->token(),
                         world_.loop_.now() + script.run);
  if (first && script.first == Script::End::crash) {
    world_.crash(process_);
    co_await Event().wait();  // Nobody sets it: the process ends here.
  }
  if (script.talks) {
    context->progress(10, "begun");
    context->log(LogLevel::info, "begun");
  }
  const bool hangs = first && script.first == Script::End::hang;
  if (hangs || script.first != Script::End::hang) co_await work(context, script);
  auto outcome = end_of(*context, script, first);
  checks.handler_returned(process_, context->job(), outcome.kind);
  if (first && script.first == Script::End::thrown) {
    checks.reach(Path::handler_threw);
    throw std::runtime_error("thrown by the script");
  }
  co_return outcome;
}

awaitable<void> ScriptedHandler::work(std::shared_ptr<worker::JobContext> context, Script script) {
  if (script.run <= Time(0)) co_return;
  if (script.stubborn) {
    co_await context->clock().sleep_for(script.run);
  } else {
    co_await (context->clock().sleep_for(script.run) || context->token().wait());
  }
  if (script.talks) context->log(LogLevel::info, "done");
}

Outcome ScriptedHandler::end_of(worker::JobContext& context, const Script& script, bool first) {
  using End = Script::End;
  auto& checks = world_.checks_;
  const auto after = std::chrono::duration_cast<milliseconds>(script.retry_after);
  if (first) {
    switch (script.first) {
      case End::retry:
        checks.reach(Path::outcome_retry);
        return Outcome::retry("scripted", "try again");
      case End::thrown:
        return Outcome::retry("exception", "thrown by the script");
      case End::throttled:
        checks.reach(Path::outcome_throttled);
        return Outcome::throttled("too fast", after);
      case End::blocked: {
        checks.reach(Path::outcome_blocked);
        auto outcome = Outcome::blocked("p:e", "not now");
        outcome.retry_after = after;
        return outcome;
      }
      case End::permanent:
        checks.reach(Path::outcome_permanent);
        return Outcome::permanent("scripted", "never");
      case End::partial:
        checks.reach(Path::outcome_partial);
        return Outcome::partial("{\"page\":1}", "some of it");
      case End::ok:
      case End::hang:
      case End::crash:
        break;
    }
  }
  if (script.statement) {
    const bool fails = script.statement_fails && first;
    context.in_settlement({{.sql = fails ? "fail" : "insert", .params = {}}});
  }
  if (context.cancelled()) return Outcome::ok();  // Too late to count, as are its statements.
  if (script.follow_up) {
    json::Object spec;
    spec["id"] = script.follow_up->to_string();
    const auto next = job_index(*script.follow_up);
    spec["job_type"] =
        world_.plan_.policies.types[static_cast<std::size_t>(world_.plan_.jobs[next].spec.type)]
            .name;
    spec["payload"] = json::Object{{"n", 1}};
    context.add_effect_job(std::move(spec));
  }
  return Outcome::ok();
}

}  // namespace millrace::sim
