#include "pipeline/provider_room.h"

#include "base/either.h"
#include "pipeline/steadily.h"

#include <algorithm>
#include <utility>

namespace millrace::pipeline {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWaitMax{2'000};
constexpr milliseconds kLeast{50};

}  // namespace

awaitable<std::optional<Outcome>> Patience::wait(milliseconds pause, std::string why) {
  using namespace either;
  pause = std::max(pause, kLeast);
  waited_ += pause;
  if (waited_ > kWaitMax) co_return Outcome::held_up(why, pause);
  co_await (job_.context->clock().sleep_for(pause) || job_.context->token().wait());
  if (job_.context->cancelled()) co_return Outcome::cancelled(job_.context->cancel_reason());
  co_return std::nullopt;
}

awaitable<std::optional<Outcome>> take_room(StageJob& job, std::string provider) {
  Patience patience(job);
  for (;;) {
    const auto grant = co_await steadily(*job.context, [&] {
      return job.services.ingest->take_capacity(job.held(), 0, 0, provider);
    });
    if (!grant) co_return Outcome::held_up(grant.error().message, std::chrono::seconds(1));
    if (grant->granted) co_return std::nullopt;
    auto ended = co_await patience.wait(grant->retry, "no room at the provider's limits");
    if (ended) co_return ended;
  }
}

}  // namespace millrace::pipeline
