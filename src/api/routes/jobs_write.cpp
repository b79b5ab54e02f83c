// Changing jobs: create, cancel, retry, redrive; batches.
#include "api/call.h"
#include "api/page.h"
#include "api/raw_json.h"
#include "api/routes/handler_of.h"
#include "api/routes/jobs.h"
#include "api/routes/path.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::JobWriter;

constexpr std::uint64_t kOneJobBytes = 512 * 1024;  // A payload has 256 KiB at most.
constexpr std::uint64_t kManyJobsBytes = 8 * 1024 * 1024;
constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};

// A job as the client wrote it, digit by digit, with the ids of the request in front where it does
// not name its own: so one id follows the job from the client to its worker (A-07).
std::string with_request_ids(const Call& call, const json::Object& job, std::string_view text) {
  constexpr std::size_t kIdsBytes = 256;
  const auto inside = text.find('{') + 1;
  std::string out;
  out.reserve(text.size() + kIdsBytes);
  out.append(text.substr(0, inside));
  // Both are made of characters that JSON takes as they are. A job has at least one member, so the
  // commas are right.
  out.append(R"("traceparent":")").append(call.request.trace.traceparent()).append(R"(",)");
  if (!job.contains("correlation_id")) {
    out.append(R"("correlation_id":")").append(call.request.correlation_id).append(R"(",)");
  }
  out.append(text.substr(inside));
  return out;
}

// The same for each of a list, whose text is `text`.
std::string jobs_with_request_ids(const Call& call, const json::Array& jobs,
                                  std::string_view text) {
  const auto raw = raw_elements(text);
  std::string out = "[";
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i > 0) out += ',';
    out += with_request_ids(call, jobs[i].as_object(), raw.at(i));
  }
  return out + "]";
}

// [{"job_id", "answer"}] of one job as that job. 200 where it was there already.
Reply created_one(std::string effect) {
  // The array of one is unwrapped as text: what PostgreSQL wrote goes out as it is.
  const auto begin = effect.find('{');
  const auto end = effect.rfind('}');
  auto job = begin == effect.npos ? effect : effect.substr(begin, end - begin + 1);
  const bool created = job.contains("\"created\"");
  std::string location;
  if (const auto id = raw_member(job, "job_id"); id && id->size() > 2) {
    location = fmt::format("/api/v1/jobs/{}", id->substr(1, id->size() - 2));
  }
  auto reply = Reply::json_text(std::move(job), created ? 201 : 200);
  if (!location.empty()) reply.headers.emplace_back("Location", std::move(location));
  return reply;
}

Reply created_many(std::string effect) {
  return Reply::json_text(fmt::format(R"({{"items":{}}})", effect), 201);
}

Reply answers(std::string effect) { return list_reply(effect); }

Task<Reply> create_job(Call& call, JobWriter& writer) {
  auto job = with_request_ids(call, call.body.as_object(), call.body_text);
  MR_CO_TRY(auto effect,
            co_await writer.enqueue_jobs(call.context(), std::move(job), call.request_key));
  auto reply = created_one(std::move(effect));
  if (const auto id = raw_member(reply.body, "job_id"); id && id->size() > 2) {
    call.note("job_id", id->substr(1, id->size() - 2));
  }
  co_return reply;
}

Task<Reply> create_jobs(Call& call, JobWriter& writer) {
  auto jobs = jobs_with_request_ids(call, call.body.as_array(), call.body_text);
  MR_CO_TRY(auto effect,
            co_await writer.enqueue_jobs(call.context(), std::move(jobs), call.request_key));
  call.note("jobs", call.body.as_array().size());
  co_return created_many(std::move(effect));
}

std::vector<JobId> ids_in(const json::Value& list) {
  std::vector<JobId> out;
  for (const auto& id : list.as_array()) out.push_back(*JobId::parse(id.as_string()));
  return out;
}

// The one answer of a verb that was given one job; not_found as such.
Result<std::string> only_answer(const JobId& id, const std::string& rows) {
  MR_TRY(const auto value, parse_json(rows, kAnswerLimits));
  for (const auto& row : value.as_array()) {
    if (row.at("job_id").as_string() == id.to_string()) {
      return std::string(row.at("answer").as_string());
    }
  }
  return "not_found";
}

Task<Reply> cancel_job(Call& call, JobWriter& writer) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY(const auto rows,
            co_await writer.cancel_jobs(call.context(), {id}, call.text("reason"), {}));
  MR_CO_TRY(const auto answer, only_answer(id, rows));
  if (answer == "not_found") {
    co_return fail(ErrorKind::not_found, fmt::format("job {} does not exist", id));
  }
  if (answer == "already_final") {
    co_return fail(Error{.kind = ErrorKind::conflict,
                         .message = fmt::format("job {} has ended", id),
                         .sqlstate = "MR010"});
  }
  // A running job ends when its worker hears of it.
  co_return Reply::json(json::Object{{"job_id", id.to_string()}, {"answer", answer}},
                        answer == "cancelled" ? 200 : 202);
}

Task<Reply> cancel_jobs(Call& call, JobWriter& writer) {
  MR_CO_TRY(auto rows, co_await writer.cancel_jobs(call.context(), ids_in(*call.member("job_ids")),
                                                   call.text("reason"), call.request_key));
  co_return answers(std::move(rows));
}

Reply retried(std::string effect) { return Reply::json_text(std::move(effect)); }

// A waiting job runs now; a dead one starts again as a new generation.
Task<Reply> retry_job(Call& call, JobWriter& writer) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY(auto effect, co_await writer.retry_job(call.context().by_server(), id,
                                                   call.text("reason"), call.request_key));
  MR_CO_TRY(const auto row, parse_json_object(effect));
  const std::string answer(row.at("answer").as_string());
  if (answer == "not_found") {
    co_return fail(ErrorKind::not_found, fmt::format("job {} does not exist", id));
  }
  const bool done = answer == "redriven" || answer == "ready";
  if (!done) {
    co_return fail(ErrorKind::conflict,
                   fmt::format("job {} neither waits nor failed: {}", id, answer));
  }
  co_return retried(std::move(effect));
}

Task<Reply> redrive_jobs(Call& call, JobWriter& writer) {
  json::Object filter;
  for (const std::string_view name :
       {"job_ids", "queue", "job_type", "fingerprint", "failed_before"}) {
    if (const auto* value = call.member(name)) filter[name] = *value;
  }
  store::RedriveRequest request{.filter_json = to_json(filter),
                                .limit = static_cast<int>(call.integer("limit").value_or(1000)),
                                .reason = call.text("reason")};
  if (const auto rate = call.integer("per_minute")) {
    request.per_minute = static_cast<int>(std::min<std::int64_t>(*rate, 1'000'000));
  }
  MR_CO_TRY(auto rows, co_await writer.redrive_jobs(call.context().by_server(), std::move(request),
                                                    call.request_key));
  co_return answers(std::move(rows));
}

Reply batch_created(std::string effect) { return Reply::json_text(std::move(effect), 201); }

Task<Reply> create_batch(Call& call, JobWriter& writer) {
  // As they were written: the callback is a job, too.
  std::string options = "{";
  for (const std::string_view name : {"name", "callback", "callback_on"}) {
    if (const auto text = call.json(name)) {
      options += fmt::format(R"({}"{}":{})", options.size() > 1 ? "," : "", name, *text);
    }
  }
  auto jobs = jobs_with_request_ids(call, call.member("jobs")->as_array(), *call.json("jobs"));
  MR_CO_TRY(auto effect, co_await writer.create_batch(call.context(), std::move(jobs),
                                                      options + "}", call.request_key));
  co_return batch_created(std::move(effect));
}

Task<Reply> get_batch(Call& call, store::JobReader& reader) {
  MR_CO_TRY(auto text,
            co_await reader.get_batch(call.context(), call.parameters.id<BatchId>("id")));
  co_return Reply::json_text(std::move(text));
}

Task<Reply> list_batches(Call& call, store::JobReader& reader) {
  MR_CO_TRY(const auto page, read_page(call, "batches"));
  MR_CO_TRY(const auto before, uuid_key(page));
  MR_CO_TRY(const auto rows, co_await reader.list_batches(call.context(), before, page.limit + 1));
  co_return cut_page("batches", rows, page.limit, "batch_id");
}

void add_creation(std::vector<Operation>& out, JobWriter& writer) {
  const auto write = Access::service(Capability::write);
  out.push_back(
      {.id = "jobs.create",
       .method = "POST",
       .path = "/api/v1/jobs",
       .tag = "Jobs",
       .summary = "Enqueue a job; it is durable before the answer",
       .access = write,
       .body = RequestBody{.schema = "NewJob"},
       .answers = {{.status = 201, .description = "It is enqueued.", .schema = "JobCreated"},
                   {.status = 200,
                    .description = "A job with the same key or id is there already.",
                    .schema = "JobCreated"}},
       .body_max_bytes = kOneJobBytes,
       .idempotency_key = true,
       .replay = created_one,
       .handler = handler_of(create_job, writer)});
  out.push_back({.id = "jobs.create_many",
                 .method = "POST",
                 .path = "/api/v1/jobs/bulk",
                 .tag = "Jobs",
                 .summary = "Enqueue up to 1000 jobs, all or none",
                 .access = write,
                 .body = RequestBody{.schema = "NewJobs"},
                 .answers = {{.status = 201, .description = "In order.", .schema = "JobsCreated"}},
                 .body_max_bytes = kManyJobsBytes,
                 .idempotency_key = true,
                 .replay = created_many,
                 .handler = handler_of(create_jobs, writer)});
}

void add_changes(std::vector<Operation>& out, JobWriter& writer) {
  out.push_back(
      {.id = "jobs.cancel",
       .method = "POST",
       .path = "/api/v1/jobs/{id}/cancel",
       .tag = "Jobs",
       .summary = "Cancel a job",
       .description = "A waiting job ends at once (200), a running one is asked to stop (202).",
       .access = Access::people(Capability::write).or_with(Capability::operate),
       .parameters = {id_parameter("The job.")},
       .body = RequestBody{.schema = "ReasonBody", .required = false},
       .answers = {{.status = 200, .description = "It has ended.", .schema = "JobAnswer"},
                   {.status = 202, .description = "It was asked to.", .schema = "JobAnswer"}},
       .errors = {409},
       .handler = handler_of(cancel_job, writer)});
  out.push_back({.id = "jobs.cancel_many",
                 .method = "POST",
                 .path = "/api/v1/jobs/cancel",
                 .tag = "Jobs",
                 .summary = "Cancel up to 1000 jobs",
                 .access = Access::people(Capability::write).or_with(Capability::operate),
                 .body = RequestBody{.schema = "JobIds"},
                 .answers = {{.status = 200, .description = "Each one.", .schema = "JobAnswers"}},
                 .idempotency_key = true,
                 .replay = answers,
                 .handler = handler_of(cancel_jobs, writer)});
  out.push_back({.id = "jobs.retry",
                 .method = "POST",
                 .path = "/api/v1/jobs/{id}/retry",
                 .tag = "Jobs",
                 .summary = "Run a waiting job now, or start a failed one again",
                 .access = Access::service(Capability::operate),
                 .parameters = {id_parameter("The job.")},
                 .body = RequestBody{.schema = "ReasonBody", .required = false},
                 .answers = {{.status = 200, .description = "It will run.", .schema = "JobAnswer"}},
                 .errors = {409},
                 .idempotency_key = true,
                 .replay = retried,
                 .handler = handler_of(retry_job, writer)});
  out.push_back({.id = "dead_letters.redrive",
                 .method = "POST",
                 .path = "/api/v1/dead-letters/redrive",
                 .tag = "Dead letters",
                 .summary = "Start dead letters again, oldest first",
                 .access = Access::service(Capability::operate),
                 .body = RequestBody{.schema = "Redrive"},
                 .answers = {{.status = 200, .description = "Each one.", .schema = "JobAnswers"}},
                 .idempotency_key = true,
                 .replay = answers,
                 .handler = handler_of(redrive_jobs, writer)});
}

}  // namespace

std::vector<Operation> job_write_operations(JobStores stores) {
  std::vector<Operation> out;
  add_creation(out, stores.writer);
  add_changes(out, stores.writer);
  return out;
}

std::vector<Operation> batch_operations(JobStores stores) {
  auto& reader = stores.reader;
  const auto read = Access::service(Capability::read);
  std::vector<Operation> out;
  out.push_back(
      {.id = "batches.create",
       .method = "POST",
       .path = "/api/v1/batches",
       .tag = "Batches",
       .summary = "Jobs that are counted together, with a job at their end",
       .access = Access::service(Capability::write),
       .body = RequestBody{.schema = "NewBatch"},
       .answers = {{.status = 201, .description = "The batch.", .schema = "BatchCreated"}},
       .body_max_bytes = kManyJobsBytes,
       .idempotency_key = true,
       .replay = batch_created,
       .handler = handler_of(create_batch, stores.writer)});
  out.push_back({.id = "batches.list",
                 .method = "GET",
                 .path = "/api/v1/batches",
                 .tag = "Batches",
                 .summary = "Batches, newest first",
                 .access = read,
                 .parameters = {limit_parameter(), cursor_parameter()},
                 .answers = {{.status = 200, .description = "A page.", .schema = "BatchPage"}},
                 .handler = [&reader](Call& call) { return list_batches(call, reader); }});
  out.push_back({.id = "batches.get",
                 .method = "GET",
                 .path = "/api/v1/batches/{id}",
                 .tag = "Batches",
                 .summary = "State and counts of a batch",
                 .access = read,
                 .parameters = {id_parameter("The batch.")},
                 .answers = {{.status = 200, .description = "The batch.", .schema = "Batch"}},
                 .conditional = true,
                 .handler = [&reader](Call& call) { return get_batch(call, reader); }});
  return out;
}

}  // namespace millrace::api
