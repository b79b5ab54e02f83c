#include "api/stream/stream_event.h"

#include "base/assert.h"
#include "model/job.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::api {
namespace {

using http::SseFrame;

constexpr JsonLimits kDataLimits{.max_bytes = 1024 * 1024, .max_depth = 64};
constexpr JsonLimits kStateLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};
constexpr std::size_t kStateMaxBytes = 64 * 1024;  // With a larger result it is left out.

// How the engine keeps apart what it did to many jobs at once: nothing to anybody else.
constexpr std::array<std::string_view, 4> kOwnMembers = {"claim", "done", "jobs", "batch_id"};

// What a job is after an event; nothing where that depends on more than the event says.
std::string_view status_after(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kStatuses = {
      {{"job.enqueued", "pending"},
       {"job.redriven", "pending"},
       {"job.run_now", "pending"},
       {"job.handed_back", "pending"},
       {"job.claimed", "processing"},
       {"job.progress", "processing"},
       {"job.cancel_requested", "processing"},
       {"job.retried", "retrying"},
       {"job.completed", "completed"},
       {"job.failed", "failed"},
       {"job.cancelled", "cancelled"}}};
  for (const auto& [name, status] : kStatuses) {
    if (name == kind) return status;
  }
  return {};
}

// The status of a job that waits, or begins, as the source's client knows it: it has words
// for neither attempts nor deliveries, and is told where the job stands. Nothing for all else.
std::string_view source_status_after(std::string_view kind) {
  if (kind == "job.claimed") return "processing";
  // Only a job that goes on: one that does not has failed.
  if (kind == "job.reclaimed" || kind == "job.rescheduled") return "pending";
  const auto status = status_after(kind);
  return status == "pending" || status == "retrying" ? "pending" : std::string_view();
}

json::Value source_status(const json::Value& status) {
  const bool waits = status == json::Value("retrying") || status == json::Value("deferred");
  return waits ? json::Value("pending") : status;
}

bool is_job_end(std::string_view kind) {
  return kind == "job.completed" || kind == "job.failed" || kind == "job.cancelled";
}

// The name of a frame. Handlers choose the kinds of their own events: what EventSource keeps for
// itself (K01), or what is not one plain word, gets another name and stands in the data as it is.
std::string name_of(std::string_view kind, std::string_view noun) {
  if (!noun.empty() && kind.starts_with(noun)) kind.remove_prefix(noun.size());
  if (kind == "error") return "job_error";
  const bool plain =
      !kind.empty() && std::ranges::all_of(kind, [](char c) { return c > 0x20 && c < 0x7F; });
  return plain ? std::string(kind) : std::string("event");
}

SseFrame make_frame(std::string_view name, std::string_view id, const json::Object& data) {
  const auto text = to_json(data);
  auto frame = SseFrame::make({.data = text, .event = name, .id = id});
  MR_ASSERT(frame.has_value());  // Names and ids are ours, in one line.
  return *std::move(frame);
}

json::Object head_of(const StreamEvent& event) {
  json::Object out{{"kind", event.stored.kind}, {"at", event.stored.at}};
  if (event.stored.queue.empty()) {
    out["queue"] = nullptr;
  } else {
    out["queue"] = event.stored.queue;
  }
  return out;
}

// For streams of tenants and queues; `owner`: only the jobs of that person.
json::Object wide_data(const StreamEvent& event, const std::optional<Uuid>& owner) {
  auto out = head_of(event);
  out["tenant_id"] = event.stored.tenant.to_string();
  if (event.batch) out["batch_id"] = event.batch->to_string();
  const auto& ids = event.stored.job_ids;
  json::Array named;
  std::size_t own = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (owner && event.owners[i] != *owner) continue;
    if (++own <= kJobsNamedMax) named.emplace_back(ids[i].to_string());
  }
  const bool all = !owner || own == ids.size();
  // What is said of several jobs at once is not for somebody who may see only some of them.
  if (!event.data.empty() && all) out["data"] = event.data;
  out["jobs"] = all ? event.jobs : own;
  out["job_ids"] = std::move(named);
  return out;
}

json::Object job_data(const StreamEvent& event, JobId job) {
  auto out = head_of(event);
  // What a handler added does not replace what the engine says.
  if (event.stored.job_ids.size() == 1) {
    for (const auto& [name, value] : event.data) out.emplace(name, value);
  }
  out["jobId"] = job.to_string();
  if (const auto status = status_after(event.stored.kind); !status.empty()) out["status"] = status;
  if (is_job_end(event.stored.kind)) {
    out.emplace("resultUrl", nullptr);
    out.emplace("error", nullptr);
  }
  return out;
}

json::Object batch_data(const StreamEvent& event) {
  auto out = head_of(event);
  for (const auto& [name, value] : event.data) out.emplace(name, value);
  out["batchId"] = event.batch->to_string();
  return out;
}

json::Value member_or_null(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value == nullptr ? json::Value(nullptr) : *value;
}

// One line for people, as the sources' clients show it; the whole error is in the job.
json::Value error_text(const json::Value& error) {
  if (const auto* object = error.if_object()) {
    const auto message = member_or_null(*object, "message");
    return message.is_string() ? message : member_or_null(*object, "error_type");
  }
  return error.is_string() ? error : json::Value(nullptr);
}

}  // namespace

std::size_t StreamEvent::size_bytes() const {
  return sizeof(StreamEvent) + stored.data_json.size() * 3 + position.late.size() * 40 +
         stored.job_ids.size() * sizeof(JobId) + owners.size() * sizeof(Uuid) +
         (frame ? frame->text().size() : 0);
}

Result<StreamEvent> make_stream_event(store::StoredEvent stored, std::uint64_t number,
                                      std::vector<Uuid> owners) {
  StreamEvent event;
  event.number = number;
  auto position = store::EventPosition::parse(stored.position);
  if (!position) return fail(ErrorKind::internal, "an event has no position");
  event.position = *std::move(position);
  event.stored = std::move(stored);
  event.owners = std::move(owners);
  MR_ASSERT(event.owners.empty() || event.owners.size() == event.stored.job_ids.size());
  if (!event.stored.data_json.empty()) {
    // Data that is no object, or larger than anything that should be here, is not passed on.
    auto data = parse_json_object(event.stored.data_json, kDataLimits);
    if (data) event.data = *std::move(data);
  }
  if (const auto* batch = event.data.if_contains("batch_id"); batch && batch->is_string()) {
    if (const auto id = BatchId::parse(batch->get_string())) event.batch = *id;
  }
  event.jobs = event.stored.job_ids.size();
  if (const auto* jobs = event.data.if_contains("jobs"); jobs && jobs->is_int64()) {
    event.jobs = std::max(event.jobs,
                          static_cast<std::size_t>(std::max<std::int64_t>(0, jobs->get_int64())));
  }
  for (const auto name : kOwnMembers) event.data.erase(name);
  event.frame = make_frame(name_of(event.stored.kind, {}), event.stored.position,
                           wide_data(event, std::nullopt));
  return event;
}

bool in_scope(const StreamEvent& event, const StreamScope& scope) {
  if (scope.tenant && event.stored.tenant != *scope.tenant) return false;
  if (scope.queue && event.stored.queue != *scope.queue) return false;
  if (scope.batch && event.batch != scope.batch) return false;
  const auto& jobs = event.stored.job_ids;
  if (scope.job && std::ranges::find(jobs, *scope.job) == jobs.end()) return false;
  if (!scope.jobs.empty() && std::ranges::find_first_of(jobs, scope.jobs) == jobs.end()) {
    return false;
  }
  if (!scope.owner) return true;
  return std::ranges::find(event.owners, *scope.owner) != event.owners.end();
}

bool ends(const StreamEvent& event, const StreamScope& scope) {
  if (scope.job) return is_job_end(event.stored.kind);
  return scope.batch && event.stored.kind == "batch.finished";
}

SseFrame frame_of(const StreamEvent& event, const StreamScope& scope, std::string_view id) {
  const auto& kind = event.stored.kind;
  if (scope.job) {
    auto data = job_data(event, *scope.job);
    const auto status = scope.source_words ? source_status_after(kind) : std::string_view();
    if (status.empty()) return make_frame(name_of(kind, "job."), id, data);
    data["status"] = status;
    data["progress"] = 0;  // As H-02 has it, until the delivery says more.
    return make_frame("progress", id, data);
  }
  if (scope.batch) return make_frame(name_of(kind, "batch."), id, batch_data(event));
  return make_frame(name_of(kind, {}), id, wide_data(event, scope.owner));
}

std::optional<std::string> job_end(const std::string& job_json) {
  const auto job = parse_json_object(job_json, kStateLimits);
  const auto* status = job ? job->if_contains("status") : nullptr;
  if (status == nullptr || !status->is_string()) return std::nullopt;
  const auto parsed = parse_job_status(status->get_string());
  if (!parsed || !is_final(*parsed)) return std::nullopt;
  return std::string(to_string(*parsed));
}

std::optional<std::string> batch_end(const std::string& batch_json) {
  const auto batch = parse_json_object(batch_json, kStateLimits);
  const auto* finished = batch ? batch->if_contains("finished_at") : nullptr;
  if (finished == nullptr || finished->is_null()) return std::nullopt;
  return "finished";
}

std::optional<std::string> end_of(const StreamScope& scope, const std::string& state_json) {
  return scope.job ? job_end(state_json) : batch_end(state_json);
}

std::string ended_id(std::string_view position, std::string_view mark) {
  return mark.empty() ? std::string(position) : fmt::format("{}{}{}", position, kEndSign, mark);
}

std::string end_mark(const std::string& state_json) {
  const auto state = parse_json_object(state_json, kStateLimits);
  const auto* finished = state ? state->if_contains("finished_at") : nullptr;
  std::string mark;
  if (finished == nullptr || !finished->is_string()) return mark;
  for (const char c : finished->get_string()) {
    if (c >= '0' && c <= '9') mark.push_back(c);
  }
  return mark;
}

Task<LinkedResult> linked_result(ResultLink link, std::string state_json) {
  if (!link || job_end(state_json) != "completed") co_return LinkedResult();
  MR_CO_TRY(auto url, co_await link());
  co_return LinkedResult{.linked = true, .url = std::move(url)};
}

Result<SseFrame> job_state_frame(const std::string& job_json, std::string_view id, bool missed,
                                 const LinkedResult& linked, bool source_words) {
  MR_TRY(auto job, parse_json_object(job_json, kStateLimits));
  const auto result = member_or_null(job, "result");
  json::Object out{{"jobId", member_or_null(job, "job_id")},
                   {"status", member_or_null(job, "status")},
                   {"progress", member_or_null(job, "progress")},
                   {"message", member_or_null(job, "progress_message")},
                   {"resultUrl", nullptr},
                   {"error", error_text(member_or_null(job, "error"))}};
  if (source_words) out["status"] = source_status(out.at("status"));
  if (linked.linked) {
    if (linked.url) out["resultUrl"] = *linked.url;
  } else if (const auto* object = result.if_object()) {
    out["resultUrl"] = member_or_null(*object, "result_url");
  }
  if (job_json.size() > kStateMaxBytes) {
    job.erase("result");
    out["resultOmitted"] = true;
  }
  if (missed) out["missed"] = true;
  out["job"] = std::move(job);
  // The source's client knows `progress` and the ends, and hears no other name (H-05).
  return make_frame(job_end(job_json).value_or(source_words ? "progress" : "snapshot"), id, out);
}

Result<SseFrame> batch_state_frame(const std::string& batch_json, std::string_view id,
                                   bool missed) {
  MR_TRY(auto batch, parse_json_object(batch_json, kStateLimits));
  json::Object out{{"batchId", member_or_null(batch, "batch_id")},
                   {"progress", member_or_null(batch, "progress")}};
  if (missed) out["missed"] = true;
  const auto name = batch_end(batch_json).value_or("snapshot");
  out["batch"] = std::move(batch);
  return make_frame(name, id, out);
}

SseFrame missed_frame(std::string_view id) {
  return make_frame("snapshot", id, json::Object{{"missed", true}});
}

}  // namespace millrace::api
