#include "app/serve/stream_service.h"

#include <algorithm>
#include <utility>

namespace millrace::app {
namespace {

// When a server has gone, its clients come back all at once: they wait for each other here.
constexpr std::size_t kReturnConnections = 2;
constexpr std::size_t kReturnsWaitingMax = 20'000;

// One tenant leaves room for the streams, and the requests, of others.
api::EventHubOptions hub_options(const Context& context) {
  const auto connections =
      static_cast<std::size_t>(context.settings.integer("server.connections_max"));
  return {.streams_per_tenant_max = std::max<std::size_t>(1, connections * 3 / 4)};
}

}  // namespace

StreamService::StreamService(Context& context, Executor executor, const Database& database,
                             store::JobReader& reader, std::unique_ptr<store::WakeSource> wake)
    : tail_pool_(executor, connect_as(database, "millrace_api", "millrace-events"),
                 {.connections_max = 1}, context.random),
      tail_session_(tail_pool_),
      tail_(store::make_event_store(tail_session_)),
      return_pool_(executor, connect_as(database, "millrace_api", "millrace-returns"),
                   {.connections_max = kReturnConnections, .waiters_max = kReturnsWaitingMax},
                   context.random),
      return_session_(return_pool_),
      returns_(store::make_event_store(return_session_)),
      wake_(std::move(wake)),
      hub_(std::move(executor),
           api::EventHub::Parts{.tail = *tail_,
                                .events = *returns_,
                                .jobs = reader,
                                .wake = wake_.get(),
                                .clock = context.clock,
                                .random = context.random,
                                .log = context.log,
                                .registry = context.metrics},
           hub_options(context)) {}

awaitable<void> StreamService::stop() {
  co_await hub_.stop();
  tail_pool_.close();
  return_pool_.close();
}

}  // namespace millrace::app
