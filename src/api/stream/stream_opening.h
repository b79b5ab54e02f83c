// How a stream begins: with what is new, with what the client missed, with a snapshot, or not at
// all.
//
// Flow: a handler subscribes first, then asks the database for the state (which also says whether
// the caller may see it), and calls run_stream. From the Last-Event-ID of the request follows what
// is sent before the live events: nothing is left out and nothing comes twice. A stream about
// something that has ended is over when its last event is sent; its id says which end that was, and
// who comes back with it gets 204, which stops EventSource. Threading: the connection's executor.
#pragma once

#include "api/call.h"
#include "api/reply.h"
#include "api/stream/event_hub.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace millrace::api {

// Where the sources fix it (H-04, H-05) a stream looks a little different.
struct StreamStyle {
  std::string_view cache_control = "no-store";
  // After so long the client is told `timeout` and comes back if it likes.
  std::optional<std::chrono::milliseconds> timeout = {};
  // A job that is not there is an event `job_error` rather than a status.
  bool missing_is_event = false;
  bool source_words = false;  // See StreamScope.
};

struct StreamStart {
  StreamStyle style = {};
  std::string state = {};  // Of the job or batch, read after subscribing.
  bool ended = false;      // So says the state.
  ResultLink link = {};    // To what the job makes, where that is handed out by links.
};

// The Last-Event-ID: `came_back` when there is one, `after` when it is one of ours.
struct StreamReturn {
  bool came_back = false;
  std::optional<store::EventPosition> after = {};
  std::string end = {};  // The end that the client was told (end_mark), if it was.
};
StreamReturn read_return(const Call& call);

// Whether the client takes events; it does if it does not say.
bool accepts_events(const Call& call);

// How the response of a stream is written, and when the stream ends by itself.
http::SseOptions stream_options(EventHub& hub, const StreamStyle& style);
void set_stream_end(StreamReader& reader, EventHub& hub, const identity::Caller& caller,
                    const StreamStyle& style);

// Serves the stream to its end.
Task<Reply> run_stream(Call& call, EventHub& hub, std::unique_ptr<StreamSubscription> subscription,
                       StreamStart start);

// The whole stream about a job that is not there (H-05).
Task<Reply> run_missing(Call& call, StreamStyle style);

}  // namespace millrace::api
