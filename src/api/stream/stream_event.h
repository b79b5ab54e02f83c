// StreamEvent: an event of the log as streams see it, and its forms on the wire.
//
// Flow: the hub makes one of every event that it reads; streams of a tenant or a queue share its
// frame; the stream of one job or batch gets a form of its own, named without the noun:
// "job.completed" of the log is `completed` there (H-05). What only the engine understands (claims,
// bits) is left out. Threading: immutable once made, shared by all threads.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "http/sse.h"
#include "store/api/events.h"

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

// Between the position and the mark of an id that ends a stream.
inline constexpr char kEndSign = '!';

// As many jobs are named in one event of a tenant or a queue; `jobs` says how many there are.
inline constexpr std::size_t kJobsNamedMax = 200;

// What a stream is about, as far as given, and who reads it.
struct StreamScope {
  std::optional<TenantId> tenant = {};  // Nothing: all of them.
  std::optional<Uuid> owner = {};       // A person: only the own jobs (T-02).
  std::optional<JobId> job = {};
  std::vector<JobId> jobs = {};  // Whatever happens to any of these (StreamReader::on_event).
  std::optional<BatchId> batch = {};
  std::optional<std::string> queue = {};
  bool source_words = false;  // Of an export: only what its client knows (H-05, Q-05).

  // Of a tenant or a queue, for services: all of them get the event's own frame.
  bool wide() const { return !job && jobs.empty() && !batch && !owner; }
};

// With whose credentials a stream was opened.
struct StreamHolder {
  std::optional<TenantId> tenant = {};  // Nothing: not confined to one.
  std::optional<Uuid> user = {};        // A person.
  std::string token_id = {};            // Empty: the token has none.
};

struct StreamEvent {
  std::uint64_t number =
      0;  // In the order in which this process read them; 0: read for one client.
  store::StoredEvent stored;
  store::EventPosition position;
  std::optional<BatchId> batch;
  std::size_t jobs = 0;      // How many it is about; not all of them need be named.
  json::Object data;         // Of the event, without what is the engine's own.
  std::vector<Uuid> owners;  // Of stored.job_ids, nil: none. Empty: nobody asked for them.
  std::optional<http::SseFrame> frame;  // For streams of tenants and queues.

  bool owners_known() const { return stored.job_ids.empty() || !owners.empty(); }
  std::size_t size_bytes() const;  // About what it takes in memory.
};

using EventPtr = std::shared_ptr<const StreamEvent>;  // Shared by the ring and all streams.

// internal for an event whose position cannot be read. `owners`: see above.
Result<StreamEvent> make_stream_event(store::StoredEvent stored, std::uint64_t number,
                                      std::vector<Uuid> owners = {});

// A person's events need owners_known().
bool in_scope(const StreamEvent& event, const StreamScope& scope);
// Whether it is the last one of the job or batch that the stream is about.
bool ends(const StreamEvent& event, const StreamScope& scope);

// The event in the form of the scope's stream.
http::SseFrame frame_of(const StreamEvent& event, const StreamScope& scope, std::string_view id);

// What stands as `resultUrl` of a job whose file is handed out by links: made for one client when
// the end is told, and in no frame that others get.
struct LinkedResult {
  bool linked = false;  // Not: what the result itself says.
  std::optional<std::string> url = {};
};
using ResultLink = std::function<Task<std::optional<std::string>>()>;
// Asks for the link of a job that has completed; `linked` is false without one to ask, or before.
Task<LinkedResult> linked_result(ResultLink link, std::string state_json);

// The state of a job, as `job_json` (JobReader::job_status) has it: {"jobId", "status", "progress",
// "message", "resultUrl", "error", "job"}. Named `snapshot` (`progress` in the source's words), or
// as it ended. `missed`: events before it are gone. `source_words`: as in StreamScope.
Result<http::SseFrame> job_state_frame(const std::string& job_json, std::string_view id,
                                       bool missed, const LinkedResult& linked = {},
                                       bool source_words = false);
// The state of a batch (JobReader::get_batch), named `snapshot` or `finished`.
Result<http::SseFrame> batch_state_frame(const std::string& batch_json, std::string_view id,
                                         bool missed);
// Of a tenant or a queue there is no state that says it all: read the lists again.
http::SseFrame missed_frame(std::string_view id);

// "completed", "failed" or "cancelled" of a job, "finished" of a batch; nothing while it lives.
std::optional<std::string> job_end(const std::string& job_json);
std::optional<std::string> batch_end(const std::string& batch_json);
// The same of what the scope is about.
std::optional<std::string> end_of(const StreamScope& scope, const std::string& state_json);

// The id of the last event of something: a position, and which end it was. Whoever comes back with
// it has been told, wherever the position lies and however long ago that was.
std::string ended_id(std::string_view position, std::string_view mark);
// Which end it was: no two ends of one job have the same. Of a state that has ended.
std::string end_mark(const std::string& state_json);

}  // namespace millrace::api
