#include "pipeline/provider_room.h"

#include "base/either.h"
#include "pipeline/steadily.h"

#include <boost/json/object.hpp>

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

awaitable<std::expected<json::Object, Outcome>> take_room(StageJob& job, RoomAsked asked) {
  const bool claimed = asked.first && job.work.limited_by == asked.provider;
  if (claimed && asked.claimed_tokens) co_return json::Object();
  Patience patience(job);
  for (;;) {
    auto grant = co_await steadily(*job.context, [&] {
      return job.services.ingest->take_capacity(job.held(), claimed ? 0 : 1, asked.tokens,
                                                asked.provider);
    });
    if (!grant) {
      co_return std::unexpected(Outcome::held_up(grant.error().message, std::chrono::seconds(1)));
    }
    if (grant->granted) co_return std::move(grant->capacity);
    const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(grant->tokens_room, 0));
    if (asked.fewer && left > 0 && left < asked.tokens) {
      if (const auto fewer = co_await asked.fewer(left)) {
        asked.tokens = *fewer;
        continue;
      }
    }
    auto ended = co_await patience.wait(grant->retry, "no room at the provider's limits");
    if (ended) co_return std::unexpected(*std::move(ended));
  }
}

}  // namespace millrace::pipeline
