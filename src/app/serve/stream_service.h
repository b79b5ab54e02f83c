// StreamService: the event hub of this process, with the connections that it has for itself: one to
// read the log, which requests cannot hold up, and two for clients that come back, which hold up no
// requests.
//
// Threading: made, started and stopped by its owner. Lifetime: context and reader outlive it; call
// stop() before it goes away.
#pragma once

#include "api/stream/event_hub.h"
#include "app/context.h"
#include "app/database.h"
#include "pg/pool.h"
#include "store/api/events.h"
#include "store/api/jobs_read.h"
#include "store/api/session.h"
#include "store/wake_source.h"

#include <memory>

namespace millrace::app {

class StreamService {
 public:
  StreamService(Context& context, Executor executor, const Database& database,
                store::JobReader& reader, std::unique_ptr<store::WakeSource> wake);

  api::EventHub& hub() { return hub_; }
  void start() { hub_.start(); }
  awaitable<void> stop();

 private:
  pg::Pool tail_pool_;
  store::ApiSession tail_session_;
  std::unique_ptr<store::EventStore> tail_;
  pg::Pool return_pool_;
  store::ApiSession return_session_;
  std::unique_ptr<store::EventStore> returns_;
  std::unique_ptr<store::WakeSource> wake_;
  api::EventHub hub_;
};

}  // namespace millrace::app
