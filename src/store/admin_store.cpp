#include "store/admin_store.h"

#include "store/sqlstate.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::store {
namespace {

constexpr std::chrono::milliseconds kTimeout{120'000};
constexpr JsonLimits kAnswerLimits{.max_bytes = 256 * 1024 * 1024, .max_depth = 128};

// A database without our schema, or with an old one, deserves more than "function does not exist".
Error explain(Error error) {
  error = translate(std::move(error));
  const bool missing = error.sqlstate == "3F000" || error.sqlstate == "42P01" ||
                       error.sqlstate == "42883" || error.sqlstate == "42703";
  if (missing && error.hint.empty()) {
    error.kind = ErrorKind::unavailable;
    error.hint = "run 'millrace migrate up'";
  }
  if (missing && error.message.find("schema \"millrace\" does not exist") != std::string::npos) {
    error.message = "the database has no Millrace schema";
    error.hint = "run 'millrace migrate up'";
  }
  return error;
}

}  // namespace

Result<AdminStore> AdminStore::connect(pg::ConnectOptions options, std::optional<Uuid> tenant) {
  MR_TRY(auto connection, pg::SyncConnection::connect(std::move(options)));
  return AdminStore(std::move(connection), tenant);
}

Result<void> AdminStore::check_schema() {
  MR_TRY(const auto found, call("select to_regnamespace('millrace') is not null as found"));
  if (found[0].boolean("found")) return {};
  return fail(Error{.kind = ErrorKind::unavailable,
                    .message = "the database has no Millrace schema",
                    .sqlstate = "3F000",
                    .hint = "run 'millrace migrate up'"});
}

Result<pg::ResultSet> AdminStore::call(std::string sql, pg::Params params, bool read_only) {
  const auto point = read_only ? MR_POINT("admin_read") : MR_POINT("admin_write");
  return call(std::move(sql), std::move(params), pg::QueryOptions(kTimeout, point, read_only));
}

Result<pg::ResultSet> AdminStore::call(std::string sql, pg::Params params,
                                       const pg::QueryOptions& options) {
  if (!tenant_) {
    auto result = connection_.query(std::move(sql), std::move(params), options);
    if (!result) return fail(explain(std::move(result).error()));
    return std::move(*result);
  }
  // One pipeline is one transaction, so the setting reaches this statement and nothing else.
  std::vector<pg::Statement> statements;
  statements.push_back({"select pg_catalog.set_config('millrace.tenant_id', $1, true)",
                        pg::params(tenant_->to_string())});
  statements.push_back({std::move(sql), std::move(params)});
  auto results = connection_.pipeline(std::move(statements), options);
  if (!results) return fail(explain(std::move(results).error()));
  for (auto& result : *results) {
    if (!result) return fail(explain(std::move(result).error()));
  }
  return std::move(*results->back());
}

Result<json::Array> AdminStore::rows(std::string_view select, pg::Params params) {
  MR_TRY(const auto result,
         call(fmt::format("select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as list from ({}) t",
                          select),
              std::move(params), true));
  MR_TRY(auto value, parse_json(result[0].text("list"), kAnswerLimits));
  return std::move(value.as_array());
}

Result<json::Object> AdminStore::object(std::string sql, pg::Params params,
                                        std::string_view missing) {
  MR_TRY(const auto result, call(std::move(sql), std::move(params), true));
  if (result.empty() || result[0].is_null(0)) {
    return fail(Error{.kind = ErrorKind::not_found, .message = std::string(missing)});
  }
  return parse_json_object(result[0].text(0), kAnswerLimits);
}

Result<std::vector<AdminAnswer>> AdminStore::answers(std::string sql, pg::Params params) {
  MR_TRY(const auto result, call(std::move(sql), std::move(params)));
  std::vector<AdminAnswer> out;
  const bool has_due = result.has_column("due_at");
  for (const auto row : result) {
    AdminAnswer answer{row.id<JobId>("job_id"), std::string(row.text("answer")), std::nullopt};
    if (has_due) answer.due_at = row.opt_text("due_at");
    out.push_back(std::move(answer));
  }
  return out;
}

Result<std::vector<EnqueueAnswer>> AdminStore::enqueue_jobs(const json::Array& jobs) {
  MR_TRY(const auto result,
         call("select e.job_id, e.answer from millrace.enqueue_jobs($1::jsonb) e order by e.ord",
              pg::Params().add_json(json::Value(jobs)), {kTimeout, MR_POINT("enqueue")}));
  std::vector<EnqueueAnswer> out;
  for (const auto row : result) {
    out.push_back({row.id<JobId>("job_id"), row.text("answer") == "created"});
  }
  return out;
}

Result<std::vector<JobId>> AdminStore::enqueue_array(const std::string& job_type,
                                                     const std::vector<std::string>& payloads,
                                                     const json::Object& options) {
  pg::Params params;
  params.add(job_type).add_array(payloads).add_json(options);
  MR_TRY(const auto result,
         call("select e.job_id from millrace.enqueue_array($1, $2::jsonb[], $3::jsonb) "
              "with ordinality e(job_id, ord) order by e.ord",
              std::move(params), {kTimeout, MR_POINT("enqueue_array")}));
  std::vector<JobId> out;
  for (const auto row : result) out.push_back(row.id<JobId>("job_id"));
  return out;
}

Result<std::int64_t> AdminStore::copy_jobs(
    const std::string& job_type, const std::string& queue, std::int64_t count,
    const std::function<std::string(std::int64_t)>& payload) {
  // COPY's text format: a backslash in JSON is doubled, tab and newline do not occur in it.
  const auto escape = [](std::string_view text) {
    std::string out;
    for (const char letter : text) {
      if (letter == '\\') out += '\\';
      out += letter;
    }
    return out;
  };
  std::int64_t next = 0;
  const auto chunk = [&]() -> std::optional<std::string> {
    if (next >= count) return std::nullopt;
    std::string text;
    for (int i = 0; i < 500 && next < count; ++i, ++next) {
      text += fmt::format("{}\t{}\t{}\n", job_type, escape(payload(next)), queue);
    }
    return text;
  };
  auto copied =
      connection_.copy_in("copy millrace.job_intake (job_type, payload, queue) from stdin", chunk,
                          {kTimeout, MR_POINT("enqueue_copy")});
  if (!copied) return fail(explain(std::move(copied).error()));
  return count;
}

Result<json::Object> AdminStore::get_job(const JobId& id) {
  return object("select millrace.get_job($1)::text", pg::params(id),
                fmt::format("job {} does not exist", id));
}

Result<json::Array> AdminStore::job_logs(const JobId& id, std::int64_t after_seq,
                                         std::int64_t limit) {
  return rows(
      "select l.log_seq, l.at, l.level, l.message from millrace.job_log l"
      " where l.job_id = $1 and l.log_seq > $2 order by l.log_seq limit $3",
      pg::params(id, after_seq, limit));
}

Result<json::Array> AdminStore::list_jobs(const JobFilter& filter) {
  json::Object wanted;
  if (filter.queue) wanted["queue"] = *filter.queue;
  if (filter.job_type) wanted["job_type"] = *filter.job_type;
  if (filter.status) wanted["status"] = *filter.status;
  if (filter.batch) wanted["batch_id"] = filter.batch->to_string();
  if (filter.correlation_id) wanted["correlation_id"] = *filter.correlation_id;
  json::Array jobs;
  std::optional<std::string> before;
  // A page looks at so many jobs and no more: where few match, the next one goes on.
  do {
    constexpr std::int64_t kPageMax = 1000;
    const auto left = filter.limit - static_cast<std::int64_t>(jobs.size());
    pg::Params params;
    params.add_json(wanted).add(std::min(left, kPageMax)).add(before);
    MR_TRY(auto page, object("select millrace.list_jobs($1::jsonb, $2::integer, $3::uuid)::text",
                             std::move(params), "the job list is empty"));
    for (auto& job : page["jobs"].as_array()) jobs.push_back(std::move(job));
    const auto& next = page["next"];
    before = next.is_string() ? std::optional(std::string(next.as_string())) : std::nullopt;
  } while (before && static_cast<std::int64_t>(jobs.size()) < filter.limit);
  return jobs;
}

Result<std::vector<AdminAnswer>> AdminStore::cancel_jobs(const std::vector<JobId>& ids,
                                                         std::optional<std::string> reason) {
  pg::Params params;
  params.add_id_array(std::span<const JobId>(ids)).add(reason);
  return answers("select c.job_id, c.answer from millrace.cancel_jobs($1::uuid[], $2) c",
                 std::move(params));
}

Result<std::vector<AdminAnswer>> AdminStore::redrive_jobs(const json::Object& filter,
                                                          std::int64_t limit,
                                                          std::optional<std::int64_t> per_minute,
                                                          std::optional<std::string> reason) {
  pg::Params params;
  params.add_json(filter).add(limit).add(per_minute).add(reason);
  return answers(
      "select r.job_id, r.answer, to_char(r.due_at at time zone 'UTC',"
      " 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as due_at"
      " from millrace.redrive_jobs($1::jsonb, $2::integer, $3::integer, $4) r",
      std::move(params));
}

Result<std::vector<AdminAnswer>> AdminStore::run_now(const std::vector<JobId>& ids,
                                                     const std::string& reason) {
  pg::Params params;
  params.add_id_array(std::span<const JobId>(ids)).add(reason);
  return answers("select r.job_id, r.answer from millrace.run_now($1::uuid[], $2) r",
                 std::move(params));
}

Result<json::Array> AdminStore::list_dead(const DeadFilter& filter) {
  return rows(
      "select h.job_id, q.queue, t.job_type, h.finished_at, h.attempt, h.delivery_count,"
      "       h.crash_count, h.reason, h.fingerprint, h.error"
      "  from millrace.job_history h"
      "  join millrace.queue q on q.queue_id = h.queue_id"
      "  join millrace.job_type t on t.type_id = h.type_id"
      " where h.status = 'failed' and h.redriven_at is null"
      "   and (millrace.tenant_scope() is null or h.tenant_id = millrace.tenant_scope())"
      "   and ($1::text is null or q.queue = $1) and ($2::text is null or t.job_type = $2)"
      "   and ($3::text is null or h.fingerprint = $3)"
      " order by h.finished_at desc limit $4",
      pg::params(filter.queue, filter.job_type, filter.fingerprint, filter.limit));
}

Result<json::Array> AdminStore::group_dead(const DeadFilter& filter) {
  return rows(
      "select q.queue, t.job_type, h.fingerprint, count(*) as jobs,"
      "       min(h.finished_at) as first_at, max(h.finished_at) as last_at,"
      "       (array_agg(h.reason order by h.finished_at desc))[1] as reason,"
      "       (array_agg(h.error order by h.finished_at desc))[1] as error"
      "  from millrace.job_history h"
      "  join millrace.queue q on q.queue_id = h.queue_id"
      "  join millrace.job_type t on t.type_id = h.type_id"
      " where h.status = 'failed' and h.redriven_at is null"
      "   and (millrace.tenant_scope() is null or h.tenant_id = millrace.tenant_scope())"
      "   and ($1::text is null or q.queue = $1) and ($2::text is null or t.job_type = $2)"
      "   and ($3::text is null or h.fingerprint = $3)"
      " group by q.queue, t.job_type, h.fingerprint order by count(*) desc limit $4",
      pg::params(filter.queue, filter.job_type, filter.fingerprint, filter.limit));
}

}  // namespace millrace::store
