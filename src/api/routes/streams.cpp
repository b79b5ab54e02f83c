#include "api/routes/streams.h"

#include "api/call.h"
#include "api/problem.h"
#include "api/raw_json.h"
#include "api/routes/export_batch_state.h"
#include "api/routes/export_link.h"
#include "api/routes/path.h"
#include "api/stream/state_stream.h"
#include "api/stream/stream_opening.h"
#include "identity/refusal.h"

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using std::chrono::milliseconds;

// H-04, H-05: the sources' route for exports.
constexpr StreamStyle kExportStyle{.cache_control = "no-cache",
                                   .timeout = milliseconds(60'000),
                                   .missing_is_event = true,
                                   .source_words = true};

constexpr std::string_view kInvalidBatch = "MR018";

Reply not_acceptable(const Call& call) {
  return problem_reply({.fault = {.status = 406,
                                  .code = "not_acceptable",
                                  .detail = "this is a stream of events: text/event-stream"}},
                       call.operation().form, call.request.correlation_id);
}

StreamHolder holder_in(const Call& call) {
  const auto& caller = call.caller;
  StreamHolder holder{.tenant = caller.tenant, .token_id = caller.token_id};
  const bool person = caller.role == identity::Role::authenticated;
  if (person && caller.user) holder.user = caller.user->value;
  return holder;
}

bool is_export(const std::string& state) {
  return raw_member(state, "job_type") == json_quote(kExportType);
}

// Of an export: a link to its file, made for this caller when the end is told.
ResultLink link_in(const Call& call, const StreamParts& parts, JobId id, const std::string& state) {
  if (!parts.exports || !is_export(state)) return {};
  return [services = *parts.exports, holder = link_holder(call, *parts.exports), id] {
    return export_result_link(services, holder, id);
  };
}

Task<Reply> job_events(Call& call, StreamParts parts, StreamStyle style) {
  if (!accepts_events(call)) co_return not_acceptable(call);
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  // First the place in the stream, then the state: what happens between is not lost.
  MR_CO_TRY(
      auto subscription,
      co_await parts.hub.subscribe(
          StreamScope{.tenant = call.caller.tenant, .job = id, .source_words = style.source_words},
          holder_in(call)));
  auto state = co_await parts.jobs.job_status(call.context(), id);
  if (!state) {
    if (style.missing_is_event && state.error().kind == ErrorKind::not_found) {
      subscription.reset();
      co_return co_await run_missing(call, style);
    }
    co_return fail(std::move(state).error());
  }
  // Another job is no export here, as for export.status and export.cancel.
  if (style.source_words && !is_export(*state)) {
    subscription.reset();
    co_return co_await run_missing(call, style);
  }
  const bool ended = job_end(*state).has_value();
  auto link = link_in(call, parts, id, *state);
  co_return co_await run_stream(
      call, parts.hub, std::move(subscription),
      StreamStart{
          .style = style, .state = *std::move(state), .ended = ended, .link = std::move(link)});
}

Task<Reply> batch_events(Call& call, StreamParts parts) {
  if (!accepts_events(call)) co_return not_acceptable(call);
  const auto id = call.parameters.id<BatchId>("id");
  call.note("batch_id", id);
  MR_CO_TRY(auto subscription,
            co_await parts.hub.subscribe(StreamScope{.tenant = call.caller.tenant, .batch = id},
                                         holder_in(call)));
  auto state = co_await parts.jobs.get_batch(call.context(), id);
  if (!state) {
    // The same code is for a batch that cannot be made: here there is none.
    auto error = std::move(state).error();
    if (error.sqlstate == kInvalidBatch) error.kind = ErrorKind::not_found;
    co_return fail(std::move(error));
  }
  const bool ended = batch_end(*state).has_value();
  co_return co_await run_stream(call, parts.hub, std::move(subscription),
                                StreamStart{.state = *std::move(state), .ended = ended});
}

Task<StreamState> export_batch_state(ExportServices services, BatchId id,
                                     store::CallContext context) {
  MR_CO_TRY(const auto jobs, co_await export_batch_jobs(std::move(context), services, id));
  co_return StreamState{.json = to_json(export_batch_json(id, jobs)),
                        .end_mark = export_batch_end(jobs)};
}

// A batch of exports is made of jobs that may belong to other batches, too: whatever happens to any
// of them is told with the state of all.
Task<Reply> export_batch_events(Call& call, StreamParts parts) {
  if (!accepts_events(call)) co_return not_acceptable(call);
  const auto id = call.parameters.id<BatchId>("id");
  call.note("batch_id", id);
  const auto services = *parts.exports;
  MR_CO_TRY(const auto jobs, co_await export_batch_jobs(call.context(), services, id));
  StreamScope scope{.tenant = call.caller.tenant};
  for (const auto& job : jobs) {
    MR_CO_TRY(const auto job_id, JobId::parse(text_at(job, "job_id")));
    scope.jobs.push_back(job_id);
  }
  MR_CO_TRY(auto subscription, co_await parts.hub.subscribe(std::move(scope), holder_in(call)));
  const auto read = [services, id, context = call.context()]() -> Task<StreamState> {
    return export_batch_state(services, id, context);
  };
  co_return co_await run_state_stream(call, parts.hub, std::move(subscription), read);
}

Task<Reply> queue_events(Call& call, StreamParts parts) {
  if (!accepts_events(call)) co_return not_acceptable(call);
  const auto queue = call.parameters.required("queue");
  // Clients of the database may not read queues; the server looks whether there is one.
  MR_CO_TRY_VOID(co_await parts.operations.get_queue(call.context().by_server(), queue));
  MR_CO_TRY(auto subscription,
            co_await parts.hub.subscribe(StreamScope{.tenant = call.caller.tenant, .queue = queue},
                                         holder_in(call)));
  co_return co_await run_stream(call, parts.hub, std::move(subscription), StreamStart());
}

Task<Reply> tenant_events(Call& call, StreamParts parts) {
  if (!accepts_events(call)) co_return not_acceptable(call);
  StreamScope scope{.tenant = call.caller.tenant};
  if (call.caller.role == identity::Role::authenticated) {
    // Somebody without an id of their own has no jobs either (T-02).
    if (!call.caller.user || !call.caller.tenant) {
      co_return identity::refuse(identity::Refusal::forbidden, "the token names no user");
    }
    scope.owner = call.caller.user->value;
  }
  MR_CO_TRY(auto subscription, co_await parts.hub.subscribe(std::move(scope), holder_in(call)));
  co_return co_await run_stream(call, parts.hub, std::move(subscription), StreamStart());
}

std::vector<Parameter> stream_parameters(std::optional<Parameter> path) {
  const std::string schema = R"({"type":"string","maxLength":8192})";
  std::vector<Parameter> out;
  if (path) out.push_back(*std::move(path));
  out.push_back({.in = In::header,
                 .name = "Last-Event-ID",
                 .description = "The id of the last event that arrived: go on behind it.",
                 .schema = schema});
  out.push_back({.in = In::query,
                 .name = "last_event_id",
                 .description = "The same, for a new EventSource, which can send no header.",
                 .schema = schema});
  return out;
}

Operation stream(std::string id, std::string path, std::string summary, Access access,
                 std::optional<Parameter> parameter) {
  return {.id = std::move(id),
          .method = "GET",
          .path = std::move(path),
          .tag = "Streams",
          .summary = std::move(summary),
          .access = access,
          .parameters = stream_parameters(std::move(parameter)),
          .answers = {{.status = 200,
                       .description = "Server-sent events.",
                       .content_type = "text/event-stream"}},
          .errors = {406},
          .long_lived = true,
          .handler = {}};
}

void add_end(Operation& operation) {
  operation.answers.push_back(
      {.status = 204, .description = "It has ended and all was delivered: do not come back."});
}

}  // namespace

std::vector<Operation> stream_operations(StreamParts parts) {
  std::vector<Operation> out;
  auto job = stream("jobs.events", "/api/v1/jobs/{id}/events", "What happens to a job, live",
                    Access::stream(Capability::read), id_parameter("The job."));
  job.description =
      "First `snapshot` with the job as it is, then `claimed`, `progress`, `retried` and others, "
      "at last `completed`, `failed` or `cancelled` with the result. Data: JobStreamData.";
  job.handler = [parts](Call& call) { return job_events(call, parts, {}); };
  add_end(job);
  out.push_back(std::move(job));

  auto batch =
      stream("batches.events", "/api/v1/batches/{id}/events", "What happens to a batch, live",
             Access::service_stream(Capability::read), id_parameter("The batch."));
  batch.description =
      "First `snapshot`, then `progress`, at last `finished`. Data: BatchStreamData.";
  batch.handler = [parts](Call& call) { return batch_events(call, parts); };
  add_end(batch);
  out.push_back(std::move(batch));

  auto queue =
      stream("queues.events", "/api/v1/queues/{queue}/events", "What happens in a queue, live",
             Access::service_stream(Capability::read), name_parameter("queue", "The queue.", 63));
  queue.description = "Events are named as in the log: `job.completed`. Data: StreamData.";
  queue.handler = [parts](Call& call) { return queue_events(call, parts); };
  out.push_back(std::move(queue));

  auto tenant = stream("events", "/api/v1/events", "What happens in the tenant, live",
                       Access::stream(Capability::read), std::nullopt);
  tenant.description =
      "All events of the caller's tenant; people get those of their own jobs. Data: StreamData.";
  tenant.handler = [parts](Call& call) { return tenant_events(call, parts); };
  out.push_back(std::move(tenant));

  auto exported = stream("export.stream", "/api/v1/export/job/{id}/stream",
                         "What happens to an export, live, for a minute",
                         Access::stream(Capability::read), id_parameter("The export job."));
  exported.description =
      "`progress`, first as it is and then whenever it changes, at last `completed`, `failed` or "
      "`cancelled`: status and progress are those of export.status. A job that is not there is an "
      "event `job_error`; after 60 seconds comes `timeout`.";
  exported.form = Form::envelope;
  exported.handler = [parts](Call& call) { return job_events(call, parts, kExportStyle); };
  add_end(exported);
  out.push_back(std::move(exported));
  if (!parts.exports) return out;

  auto together = stream("export.batch_stream", "/api/v1/export/batch/{id}/stream",
                         "How far a batch of exports is, live", Access::stream(Capability::read),
                         id_parameter("The batch."));
  together.description =
      "First `snapshot`, then `progress` whenever something happens to one of its jobs, at last "
      "`finished`. Each event has the whole state. Data: ExportBatch.";
  together.form = Form::envelope;
  together.handler = [parts](Call& call) { return export_batch_events(call, parts); };
  add_end(together);
  out.push_back(std::move(together));
  return out;
}

}  // namespace millrace::api
