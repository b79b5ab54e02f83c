// Reading jobs: one, a page, logs, result.
#include "api/call.h"
#include "api/cursor.h"
#include "api/page.h"
#include "api/raw_json.h"
#include "api/routes/handler_of.h"
#include "api/routes/jobs.h"
#include "api/routes/path.h"
#include "model/job.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::JobReader;

Task<Reply> get_job(Call& call, JobReader& reader) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  if (call.parameters.boolean("detail")) {
    MR_CO_TRY(auto text, co_await reader.job_detail(call.context(), id));
    co_return Reply::json_text(std::move(text));
  }
  MR_CO_TRY(auto text, co_await reader.job_status(call.context(), id));
  co_return Reply::json_text(std::move(text));
}

Result<store::JobQuery> read_query(const Call& call) {
  const auto& parameters = call.parameters;
  store::JobQuery query{.queue = parameters.text("queue"),
                        .job_type = parameters.text("job_type"),
                        .status = parameters.text("status"),
                        .correlation_id = parameters.text("correlation_id"),
                        .fingerprint = parameters.text("fingerprint")};
  for (const auto& [name, target] :
       {std::pair{"batch_id", &query.batch}, std::pair{"owner_id", &query.owner}}) {
    if (const auto text = parameters.text(name)) {
      MR_TRY(*target, Uuid::parse(*text));
    }
  }
  MR_TRY(const auto page, read_page(call, "jobs"));
  MR_TRY(const auto before, uuid_key(page));
  if (before) query.before = JobId{*before};
  query.limit = page.limit;
  return query;
}

// {"<list>": […], "next": key} of the database as a page, as it was written.
Result<Reply> next_page(const std::string& text, std::string_view list, std::string_view kind) {
  MR_TRY(const auto next, parse_json(raw_member(text, "next").value_or("null")));
  std::optional<std::string> cursor;
  if (next.is_string()) cursor = make_cursor(kind, next.get_string());
  return page_reply(raw_member(text, list).value_or("[]"), cursor);
}

// {"jobs": […], "next": id} of the database as a page. A page may be short with more to come: the
// database bounds what it looks at.
Result<Reply> job_page(const std::string& text) { return next_page(text, "jobs", "jobs"); }

Task<Reply> list_jobs(Call& call, JobReader& reader) {
  MR_CO_TRY(auto query, read_query(call));
  MR_CO_TRY(const auto text, co_await reader.list_jobs(call.context(), std::move(query)));
  co_return job_page(text);
}

Task<Reply> list_dead(Call& call, JobReader& reader) {
  MR_CO_TRY(auto query, read_query(call));
  query.status = "failed";
  MR_CO_TRY(const auto text, co_await reader.list_jobs(call.context(), std::move(query)));
  co_return job_page(text);
}

Task<Reply> job_logs(Call& call, JobReader& reader) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY(const auto page, read_page(call, "logs", 200));
  std::int64_t after = 0;
  if (page.after) {
    const auto number = parse_json(*page.after);
    if (!number || !number->is_int64()) {
      co_return fail(ErrorKind::invalid_argument,
                     "cursor must be the next_cursor of a page of this list");
    }
    after = number->get_int64();
  }
  MR_CO_TRY(const auto rows,
            co_await reader.job_log_page(call.context(), id, after, page.limit + 1));
  co_return cut_page("logs", rows, page.limit, "log_seq");
}

// 409 while there is none yet: a client that got 200 has the result.
Task<Reply> job_result(Call& call, JobReader& reader) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY(const auto text, co_await reader.job_status(call.context(), id));
  MR_CO_TRY(const auto named, parse_json(raw_member(text, "status").value_or("null")));
  const auto word = named.is_string() ? std::string_view(named.get_string()) : std::string_view();
  MR_CO_TRY(const auto status, parse_job_status(word));
  if (!is_final(status)) {
    co_return fail(ErrorKind::conflict,
                   fmt::format("the job has not ended, it is {}", to_string(status)));
  }
  // A result is handed out as it was settled, digit by digit.
  std::string out;
  for (const std::string_view name : {"job_id", "status", "result", "error", "finished_at"}) {
    out += fmt::format(R"({}"{}":{})", out.empty() ? "{" : ",", name,
                       raw_member(text, name).value_or("null"));
  }
  co_return Reply::json_text(out + "}");
}

Task<Reply> dead_groups(Call& call, JobReader& reader) {
  MR_CO_TRY(const auto page, read_page(call, "dead_groups", 100));
  MR_CO_TRY(const auto key, uuid_key(page));
  const auto before = key ? std::optional(JobId{*key}) : std::nullopt;
  // Clients of the database have no right to it: the server asks, for their tenant.
  MR_CO_TRY(const auto text,
            co_await reader.dead_groups(call.context().by_server(), call.parameters.text("queue"),
                                        before, page.limit));
  co_return next_page(text, "groups", "dead_groups");
}

Parameter filter(std::string name, std::string description,
                 std::string schema = R"({"type":"string","minLength":1,"maxLength":500})") {
  return {
      .name = std::move(name), .description = std::move(description), .schema = std::move(schema)};
}

const std::string kUuidSchema = R"({"type":"string","format":"uuid"})";

std::vector<Parameter> list_parameters() {
  return {limit_parameter(),
          cursor_parameter(),
          filter("queue", "Of this queue."),
          filter("job_type", "Of this type."),
          filter("status", "In this status.",
                 R"({"enum":["pending","retrying","deferred","processing","completed","failed",)"
                 R"("cancelled"]})"),
          filter("batch_id", "Of this batch.", kUuidSchema),
          filter("correlation_id", "With this correlation id."),
          filter("owner_id", "Of this user.", kUuidSchema)};
}

}  // namespace

std::vector<Operation> job_read_operations(JobStores stores) {
  auto& reader = stores.reader;
  const auto read = Access::people(Capability::read);
  std::vector<Operation> out;
  out.push_back({.id = "jobs.get",
                 .method = "GET",
                 .path = "/api/v1/jobs/{id}",
                 .tag = "Jobs",
                 .summary = "One job",
                 .access = read,
                 .parameters = {id_parameter("The job."),
                                {.name = "detail",
                                 .description = "With payload and attempts.",
                                 .schema = R"({"type":"boolean"})"}},
                 .answers = {{.status = 200, .description = "The job.", .schema = "Job"}},
                 .conditional = true,
                 .handler = handler_of(get_job, reader)});
  out.push_back({.id = "jobs.list",
                 .method = "GET",
                 .path = "/api/v1/jobs",
                 .tag = "Jobs",
                 .summary = "Jobs, newest first",
                 .description = "The cost does not grow with the number of jobs: a page may hold "
                                "fewer than asked for, or none, and have a next one.",
                 .access = read,
                 .parameters = list_parameters(),
                 .answers = {{.status = 200, .description = "A page.", .schema = "JobPage"}},
                 .handler = handler_of(list_jobs, reader)});
  out.push_back(
      {.id = "jobs.logs",
       .method = "GET",
       .path = "/api/v1/jobs/{id}/logs",
       .tag = "Jobs",
       .summary = "What its handlers wrote, oldest first",
       .access = read,
       .parameters = {id_parameter("The job."), limit_parameter(1000, 200), cursor_parameter()},
       .answers = {{.status = 200, .description = "A page.", .schema = "LogPage"}},
       .handler = handler_of(job_logs, reader)});
  out.push_back({.id = "jobs.result",
                 .method = "GET",
                 .path = "/api/v1/jobs/{id}/result",
                 .tag = "Jobs",
                 .summary = "What became of a job that has ended",
                 .access = read,
                 .parameters = {id_parameter("The job.")},
                 .answers = {{.status = 200, .description = "Its end.", .schema = "JobResult"}},
                 .errors = {409},
                 .conditional = true,
                 .handler = handler_of(job_result, reader)});
  return out;
}

std::vector<Operation> dead_letter_operations(JobStores stores) {
  auto& reader = stores.reader;
  const auto read = Access::service(Capability::read);
  std::vector<Operation> out;
  out.push_back(
      {.id = "dead_letters.list",
       .method = "GET",
       .path = "/api/v1/dead-letters",
       .tag = "Dead letters",
       .summary = "Jobs that failed for good, newest first",
       .access = read,
       .parameters = {limit_parameter(), cursor_parameter(), filter("queue", "Of this queue."),
                      filter("job_type", "Of this type."),
                      filter("fingerprint", "That failed in this way.")},
       .answers = {{.status = 200, .description = "A page.", .schema = "JobPage"}},
       .handler = handler_of(list_dead, reader)});
  out.push_back({.id = "dead_letters.groups",
                 .method = "GET",
                 .path = "/api/v1/dead-letters/groups",
                 .tag = "Dead letters",
                 .summary = "Dead letters by the way they failed",
                 .description = "A page has the largest groups among 10 000 dead letters, newest "
                                "first; the next one looks at those before them, and may have "
                                "groups of the same fingerprint again.",
                 .access = read,
                 .parameters = {limit_parameter(1000, 100), cursor_parameter(),
                                filter("queue", "Of this queue.")},
                 .answers = {{.status = 200, .description = "Groups.", .schema = "DeadGroups"}},
                 .handler = handler_of(dead_groups, reader)});
  return out;
}

}  // namespace millrace::api
