#include "api/rest/rest_api.h"

#include "api/rest/rest_error.h"
#include "api/rest/rest_headers.h"
#include "api/routes/handler_of.h"
#include "api/routes/path.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

constexpr std::chrono::milliseconds kSurfaceMemory{60'000};
constexpr std::uint64_t kRowsMaxBytes = 4ULL * 1024 * 1024;
constexpr std::string_view kRows = R"({"type":"array","items":{"type":"object"}})";
constexpr std::string_view kRow = R"({"type":"object"})";
constexpr std::string_view kNewRows =
    R"({"type":["object","array"],"items":{"type":"object"},"maxItems":1000})";

Parameter query_parameter(std::string name, std::string description) {
  return {.in = In::query, .name = std::move(name), .description = std::move(description)};
}

std::vector<Parameter> table_parameters() {
  return {
      name_parameter("table", "A table: shell_files, export_jobs, export_history …", 63),
      query_parameter("select", "Columns, with aliases: id,done:completed_at. All without it."),
      query_parameter("order", "created_at.desc.nullslast,id"),
      query_parameter("limit", "How many rows at most."),
      query_parameter("offset", "How many rows to pass over."),
  };
}

std::vector<Answer> row_answers(std::string description) {
  return {{.status = 200, .description = description, .schema = std::string(kRows)},
          {.status = 200,
           .description = "The one row that there is.",
           .schema = std::string(kRow),
           .content_type = "application/vnd.pgrst.object+json"}};
}

Operation table_operation(std::string id, std::string method, std::string summary) {
  Operation operation{.id = std::move(id),
                      .method = std::move(method),
                      .path = "/rest/v1/{table}",
                      .tag = "Supabase: tables",
                      .summary = std::move(summary),
                      .access = Access::database(),
                      .parameters = table_parameters(),
                      .answers = {},
                      .errors = {404, 406, 409},
                      .body_max_bytes = kRowsMaxBytes,
                      .free_query = true,
                      .form = Form::rest,
                      .handler = {}};
  return operation;
}

Operation read_operation(RestApi& rest) {
  auto operation = table_operation("rest.read", "GET", "Rows of a table, as PostgREST reads them");
  operation.description =
      "Filters are parameters named like columns: status=eq.pending, created_at=gte.2026-01-01, "
      "id=in.(…), completed_at=is.null; operators eq neq lt lte gt gte in is like ilike, each "
      "behind not. too. `Prefer: count=exact` tells how many there are in Content-Range.";
  operation.answers = row_answers("Rows the caller may see.");
  operation.answers.push_back({.status = 206,
                               .description = "Some of the rows that there are.",
                               .schema = std::string(kRows)});
  operation.errors.push_back(416);
  operation.handler = handler_of(rest_read, rest);
  return operation;
}

Operation insert_operation(RestApi& rest) {
  auto operation = table_operation("rest.insert", "POST", "Insert or upsert rows");
  operation.description =
      "A row of shell_files makes a file of an object of the caller and enqueues its first job. "
      "Jobs are made by services only.";
  operation.parameters.push_back(query_parameter("on_conflict", "idempotency_key"));
  operation.parameters.push_back(query_parameter("columns", "Which members of the rows count."));
  operation.body = RequestBody{.schema = std::string(kNewRows)};
  operation.answers = {{.status = 201,
                        .description = "Done; the rows, where asked for.",
                        .schema = std::string(kRows)},
                       {.status = 201,
                        .description = "The row.",
                        .schema = std::string(kRow),
                        .content_type = "application/vnd.pgrst.object+json"}};
  operation.handler = handler_of(rest_insert, rest);
  return operation;
}

Operation change_operation(std::string id, std::string method, std::string summary,
                           OperationHandler handler) {
  auto operation = table_operation(std::move(id), std::move(method), std::move(summary));
  operation.answers = row_answers("The rows, where asked for.");
  operation.answers.push_back({.status = 204, .description = "Done."});
  operation.handler = std::move(handler);
  return operation;
}

std::unexpected<Error> not_single(std::string details) {
  return rest_refuse("PGRST116", {.message = "Cannot coerce the result to a single JSON object",
                                  .details = std::move(details)});
}

Operation call_operation(std::string id, std::string method, OperationHandler handler) {
  const bool reading = method == "GET";
  Operation operation{
      .id = std::move(id),
      .method = std::move(method),
      .path = "/rest/v1/rpc/{function}",
      .tag = "Supabase: functions",
      .summary = reading ? "Call a function that only reads" : "Call a function",
      .description = reading ? "Arguments are parameters of the query."
                             : "The members of the body are the arguments, by their names.",
      .access = Access::database(),
      .parameters = {name_parameter("function", "As the sources name it: enqueue_job_v3 …", 63)},
      .answers = {{.status = 200, .description = "What it returns.", .schema = "{}"},
                  {.status = 200,
                   .description = "The one row that it returns.",
                   .schema = std::string(kRow),
                   .content_type = "application/vnd.pgrst.object+json"},
                  {.status = 204, .description = "It returns nothing."}},
      .errors = {404, 406, 409},
      .free_query = true,
      .form = Form::rest,
      .handler = std::move(handler)};
  if (reading) {
    operation.errors.push_back(405);
  } else {
    operation.body = RequestBody{.schema = std::string(kRow), .required = false};
  }
  return operation;
}

}  // namespace

RestApi::RestApi(store::RestStore& store, const Clock& clock, RestLimits limits)
    : store_(store),
      limits_(limits),
      surface_(clock, {.ttl = kSurfaceMemory, .entries_max = 1},
               [&store](int) { return store.rest_surface(); }) {}

std::vector<Operation> RestApi::operations() {
  std::vector<Operation> out;
  out.push_back(read_operation(*this));
  out.push_back(insert_operation(*this));
  auto update = change_operation("rest.update", "PATCH", "Change the rows that the filters name",
                                 handler_of(rest_update, *this));
  update.body = RequestBody{.schema = std::string(kRow)};
  out.push_back(std::move(update));
  out.push_back(change_operation("rest.delete", "DELETE", "Delete the rows that the filters name",
                                 handler_of(rest_delete, *this)));
  out.push_back(call_operation("rest.call", "POST", handler_of(rest_call, *this)));
  out.push_back(call_operation("rest.call_reading", "GET", handler_of(rest_call_reading, *this)));
  return out;
}

Error rest_denial(const Call& call, std::string_view table, Error error) {
  if (error.sqlstate == "PT406") return not_single(std::move(error.detail)).error();
  if (error.sqlstate == "PT400") {
    return rest_refuse("PGRST124",
                       {.message = std::move(error.message), .hint = std::move(error.hint)})
        .error();
  }
  if (error.sqlstate != "42501") return error;
  constexpr std::string_view kOfFunction = "permission denied for function ";
  if (!table.empty() && error.message.starts_with(kOfFunction)) {
    error.message = fmt::format("permission denied for table {}", table);
  }
  if (call.caller.role == identity::Role::anon) error.sqlstate = "PGRST302";
  return error;
}

Result<std::string> only_row(std::string rows_json, std::int64_t returned) {
  if (returned != 1) return not_single(fmt::format("The result contains {} rows", returned));
  // An array of one.
  const auto begin = rows_json.find('[');
  const auto end = rows_json.rfind(']');
  if (begin == rows_json.npos || end == rows_json.npos || end <= begin) {
    return fail(ErrorKind::internal, "the database gave rows that are no array");
  }
  return rows_json.substr(begin + 1, end - begin - 1);
}

}  // namespace millrace::api
