// A stream whose every event is the whole state of what it is about.
//
// For things that are made of several jobs and have no events of their own, such as a batch of
// exports: the hub says that something happened to one of the jobs, and the state is read again and
// sent. Each id is the place in the log from which the state was read, so whoever comes back with
// it is told only if something has happened behind it; the last id says which end that was, and who
// comes back with that gets 204. Threading: the connection's executor.
#pragma once

#include "api/stream/stream_opening.h"

#include <functional>
#include <memory>
#include <string>

namespace millrace::api {

struct StreamState {
  std::string json;
  // Digits that name this end of all of it; empty: it goes on.
  std::string end_mark = {};
};

// Asks for the state as the caller may see it.
using ReadState = std::function<Task<StreamState>()>;

// Serves the stream to its end: `snapshot`, `progress`, at last `finished`. `subscription` began
// before this is called.
Task<Reply> run_state_stream(Call& call, EventHub& hub,
                             std::unique_ptr<StreamSubscription> subscription, ReadState read);

}  // namespace millrace::api
