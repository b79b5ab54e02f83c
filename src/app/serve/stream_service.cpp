#include "app/serve/stream_service.h"

#include <utility>

namespace millrace::app {
namespace {

// A pooler cannot carry notifications: where there is one, the other address is set.
pg::ConnectOptions listen_options(const Context& context, Database database) {
  const auto& direct = context.settings.text("database.direct_url");
  if (!direct.empty()) database.url = direct;
  return connect_as(database, "millrace_api", "millrace-listen");
}

}  // namespace

StreamService::StreamService(Context& context, Executor executor, const Database& database,
                             store::ApiSession& session, store::JobReader& reader)
    : pool_(executor, connect_as(database, "millrace_api", "millrace-events"),
            {.connections_max = 1}, context.random),
      session_(pool_),
      tail_(store::make_event_store(session_)),
      events_(store::make_event_store(session)),
      wake_(listen_options(context, database)),
      hub_(std::move(executor), api::EventHub::Parts{.tail = *tail_,
                                                     .events = *events_,
                                                     .jobs = reader,
                                                     .wake = &wake_,
                                                     .clock = context.clock,
                                                     .random = context.random,
                                                     .log = context.log,
                                                     .registry = context.metrics}) {}

awaitable<void> StreamService::stop() {
  co_await hub_.stop();
  pool_.close();
}

}  // namespace millrace::app
