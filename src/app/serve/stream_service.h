// StreamService: the event hub of this process, with the connections that it has for itself: one to
// read the log, which requests cannot hold up, and one that listens.
//
// Threading: made, started and stopped by its owner. Lifetime: context, session and reader outlive
// it; call stop() before it goes away.
#pragma once

#include "api/stream/event_hub.h"
#include "app/context.h"
#include "app/database.h"
#include "pg/pool.h"
#include "store/api/events.h"
#include "store/api/jobs_read.h"
#include "store/api/session.h"
#include "store/pg_wake_source.h"

#include <memory>

namespace millrace::app {

class StreamService {
 public:
  // `session` and `reader` answer clients that come back.
  StreamService(Context& context, Executor executor, const Database& database,
                store::ApiSession& session, store::JobReader& reader);

  api::EventHub& hub() { return hub_; }
  void start() { hub_.start(); }
  awaitable<void> stop();

 private:
  pg::Pool pool_;
  store::ApiSession session_;
  std::unique_ptr<store::EventStore> tail_;
  std::unique_ptr<store::EventStore> events_;
  store::PgWakeSource wake_;
  api::EventHub hub_;
};

}  // namespace millrace::app
