#include "worker/handlers/builtin.h"

#include "base/either.h"
#include "base/json.h"

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>

namespace millrace::worker {
namespace {

using namespace either;
using namespace std::chrono_literals;

struct SleepPlan {
  std::chrono::milliseconds duration{0};
  std::string fail;  // Empty: success.
};

Result<double> number(const json::Object& payload, const char* name, double fallback, double max) {
  const auto* value = payload.if_contains(name);
  if (value == nullptr) return fallback;
  const double given = value->is_number() ? value->to_number<double>() : -1;
  if (!(given >= 0 && given <= max)) {
    return fail(ErrorKind::invalid_argument,
                std::string(name) + " must be a number from 0 to " + json_number(max));
  }
  return given;
}

Result<SleepPlan> read_plan(const ClaimedJob& job, bool allow_test_outcomes) {
  MR_TRY(const auto payload, parse_json_object(job.payload_json));
  MR_TRY(const auto ms, number(payload, "ms", 0, 3'600'000));
  SleepPlan plan{.duration = std::chrono::milliseconds(static_cast<std::int64_t>(ms)), .fail = {}};
  const auto* how = payload.if_contains("fail");
  if (how == nullptr) return plan;
  if (!allow_test_outcomes) {
    return fail(ErrorKind::invalid_argument, "fail is only understood where tests allow it");
  }
  if (!how->is_string()) return fail(ErrorKind::invalid_argument, "fail must be a string");
  MR_TRY(const auto attempts, number(payload, "fail_attempts", 1e6, 1e6));
  if (job.attempt <= attempts) plan.fail = how->as_string();
  return plan;
}

Outcome end_as(const std::string& fail) {
  if (fail.empty()) return Outcome::ok();
  if (fail == "retry") return Outcome::retry("asked_to_fail", "the payload asked for a retry");
  if (fail == "permanent") return Outcome::permanent("asked_to_fail", "the payload asked to fail");
  if (fail == "throttled") return Outcome::throttled("the payload asked for throttling", 1s);
  if (fail == "blocked") return Outcome::blocked("", "the payload asked to be blocked");
  if (fail == "partial") return Outcome::partial(R"({"done":1})", "the payload asked for a part");
  if (fail == "throw") throw std::runtime_error("the payload asked for an exception");
  if (fail == "kill") std::raise(SIGKILL);
  return Outcome::permanent("invalid_payload",
                            "fail must be one of retry, permanent, throttled, blocked, partial, "
                            "throw, kill");
}

}  // namespace

awaitable<Outcome> NoopHandler::run(std::shared_ptr<JobContext>) { co_return Outcome::ok(); }

awaitable<Outcome> SleepHandler::run(std::shared_ptr<JobContext> context) {
  const auto plan = read_plan(context->job(), allow_test_outcomes_);
  if (!plan.has_value()) {
    co_return Outcome::permanent("invalid_payload", plan.error().message);
  }
  const auto token = context->token();
  if (plan->duration > 0ms && !token.cancelled()) {
    co_await (context->clock().sleep_for(plan->duration) || token.wait());
  }
  if (token.cancelled()) co_return Outcome::cancelled(token.reason());
  co_return end_as(plan->fail);
}

}  // namespace millrace::worker
