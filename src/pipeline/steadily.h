// steadily: asks again while a service of ours is away, as long as the job may run.
//
// A database that restarts, or a blob store that cannot be reached for a moment, is no fault of the
// document: the job waits here with its lease, instead of using up attempts.
#pragma once

#include "base/clock.h"
#include "base/either.h"
#include "worker/job_context.h"

#include <algorithm>
#include <chrono>

namespace millrace::pipeline {

template <class Call>
auto steadily(worker::JobContext& context, Call call) -> decltype(call()) {
  using namespace either;
  auto pause = std::chrono::milliseconds(50);
  for (;;) {
    auto answer = co_await call();
    if (answer.has_value() || context.cancelled()) co_return answer;
    const auto kind = answer.error().kind;
    const bool passes = kind == ErrorKind::unavailable || kind == ErrorKind::in_doubt ||
                        kind == ErrorKind::throttled;
    if (!passes || context.clock().now() + pause >= context.deadline()) co_return answer;
    co_await (context.clock().sleep_for(pause) || context.token().wait());
    pause = std::min(pause * 2, std::chrono::milliseconds(2'000));
  }
}

}  // namespace millrace::pipeline
