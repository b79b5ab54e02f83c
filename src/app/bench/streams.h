// StreamLoad: many open event streams to one HTTP server, and how soon all of them hear of a job.
//
// Every stream is a connection of its own over loopback, read by one thread that shares the machine
// with the server. A job is enqueued by one more connection; the clock runs from the first byte of
// that request, so that its commit is in the figures, until the event has come on a stream, and on
// the last of them. Then comes the next job, after a moment of random length: the server must not
// be caught at the same point of its rhythm each time.
#pragma once

#include "app/context.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct StreamLoadOptions {
  std::string url = {};  // http://127.0.0.1:8080
  std::string token = {};
  int streams = 10'000;
  std::string path = "/api/v1/events";
  std::string job_type = "bench";
  std::string queue = "bench";
  std::int64_t payload_bytes = 110;
};

// Milliseconds.
struct StreamTimes {
  std::vector<double> last = {};  // To the last stream: one for each event.
  std::vector<double> each = {};  // To each stream.
};

class StreamLoad {
 public:
  // All of them are open when it returns.
  static Result<std::unique_ptr<StreamLoad>> open(StreamLoadOptions options, Clock& clock,
                                                  Random& random);
  ~StreamLoad();
  StreamLoad(const StreamLoad&) = delete;
  StreamLoad& operator=(const StreamLoad&) = delete;

  double opened_in_seconds() const;
  // Enqueues so many jobs, one after the other, and waits until every stream has heard of each.
  // unavailable when one does not.
  Result<void> measure(std::int64_t events, StreamTimes& times);

 private:
  struct Impl;
  explicit StreamLoad(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Counts the events in a stream of server-sent events, however it is cut into pieces.
class EventCounter {
 public:
  std::size_t feed(std::string_view bytes);

 private:
  std::size_t matched_ = 0;  // Characters of the line end and "data: " that have come.
};

// `millrace bench streams --url`: a server that runs already; prints JSON.
struct StreamsCommand {
  StreamLoadOptions load;
  std::int64_t events = 100;
};
Result<int> run_streams_command(Context& context, const StreamsCommand& command);

}  // namespace millrace::app
