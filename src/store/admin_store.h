// AdminStore: what people ask of the database: the command line, doctor, demo and bench.
//
// One call per SQL function or per question; blocking, over one SyncConnection. Lists come as JSON
// rows, ready to be printed. With a tenant every call is confined to it (millrace.tenant_id, set
// for the one transaction, so that a pooler may sit in between). One thread at a time. Movable.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/uuid.h"
#include "pg/sync_connection.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::store {

struct EnqueueAnswer {
  JobId id;
  bool created = true;  // False: a live job with the same dedupe or idempotency key was found.
};

// One row of a batch verb: what became of the job.
struct AdminAnswer {
  JobId id;
  std::string answer;
  std::optional<std::string> due_at;
};

struct JobFilter {
  std::optional<std::string> queue;
  std::optional<std::string> job_type;
  std::optional<std::string> status;
  std::optional<Uuid> batch;
  std::optional<std::string> correlation_id;
  std::int64_t limit = 50;
};

struct DeadFilter {
  std::optional<std::string> queue;
  std::optional<std::string> job_type;
  std::optional<std::string> fingerprint;
  std::int64_t limit = 50;
};

// What all queues together hold; from counters.
// What millrace.restamp_lanes did.
struct Restamped {
  std::int64_t lanes = 0;
  std::int64_t jobs = 0;
};

struct Counts {
  std::int64_t enqueued = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t redriven = 0;
  std::int64_t ready = 0;
  std::int64_t delayed = 0;
  std::int64_t leased = 0;
  std::int64_t live() const { return ready + delayed + leased; }
};

// Where the jobs of one type are; counted, not from counters.
struct TypeCounts {
  std::string job_type;
  std::int64_t ready = 0;
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t live() const { return ready + waiting + running; }
  std::int64_t total() const { return live() + completed + failed + cancelled; }
};

struct JobState {
  JobId id;
  std::string job_type;
  std::string status;
};

// Live jobs of another queue's tables in this database; see docs/adoption.md.
struct ImportRequest {
  std::string source;  // guardian, export, baseworker, pg-boss or graphile-worker.
  std::string schema;
  json::Object map;  // Names, queues, priorities: as millrace.judge_imports takes it.
};

// One of them: what it became, or why it was left alone.
struct ImportAnswer {
  std::string source_type;
  std::string source_id;
  std::optional<JobId> job;
  std::string reason;
};

class AdminStore {
 public:
  static Result<AdminStore> connect(pg::ConnectOptions options,
                                    std::optional<Uuid> tenant = std::nullopt);

  pg::SyncConnection& connection() { return connection_; }
  // Unavailable with a clear hint when the schema is missing.
  Result<void> check_schema();

  // Jobs.
  Result<std::vector<EnqueueAnswer>> enqueue_jobs(const json::Array& jobs);
  Result<std::vector<JobId>> enqueue_array(const std::string& job_type,
                                           const std::vector<std::string>& payloads,
                                           const json::Object& options);
  // COPY into the intake: `row(i)` gives the payload of job i.
  Result<std::int64_t> copy_jobs(const std::string& job_type, const std::string& queue,
                                 std::int64_t count,
                                 const std::function<std::string(std::int64_t)>& payload);
  Result<json::Object> get_job(const JobId& id);
  Result<json::Array> job_logs(const JobId& id, std::int64_t after_seq, std::int64_t limit);
  Result<json::Array> list_jobs(const JobFilter& filter);
  Result<std::vector<AdminAnswer>> cancel_jobs(const std::vector<JobId>& ids,
                                               std::optional<std::string> reason);
  Result<std::vector<AdminAnswer>> redrive_jobs(const json::Object& filter, std::int64_t limit,
                                                std::optional<std::int64_t> per_minute,
                                                std::optional<std::string> reason);
  Result<std::vector<AdminAnswer>> run_now(const std::vector<JobId>& ids,
                                           const std::string& reason);

  // Dead letters.
  Result<json::Array> list_dead(const DeadFilter& filter);
  Result<json::Array> group_dead(const DeadFilter& filter);

  // Queues and job types.
  Result<json::Array> list_queues();
  Result<json::Array> list_job_types();
  Result<bool> queue_exists(const std::string& queue);
  Result<void> set_queue(const std::string& queue, const json::Object& policy);
  // Whose limits jobs count against: type to "provider:endpoint", or null.
  Result<void> bind_providers(const json::Object& bindings);
  // Of a worker that starts; as millrace.register_pipelines. Answers types with their queues.
  Result<std::vector<std::pair<std::string, std::string>>> register_pipelines(
      const json::Array& pipelines);
  Result<void> set_job_type(const std::string& job_type, const json::Object& policy);
  Result<void> ensure_job_types(const std::vector<std::string>& types, const std::string& queue);
  Result<void> pause_queue(const std::string& queue, const std::string& reason);
  Result<void> resume_queue(const std::string& queue);
  Result<Counts> counts(std::optional<std::string> queue = std::nullopt);
  // Every job is looked at: for small databases, such as the demo's.
  Result<std::vector<TypeCounts>> count_types();
  Result<std::vector<JobState>> job_states();

  // Limits.
  Result<json::Array> list_limits();
  Result<void> set_limit(const std::string& provider, const std::string& endpoint,
                         const json::Object& values);
  Result<void> override_limit(const std::string& provider, const std::string& endpoint,
                              const json::Object& values, const std::string& reason,
                              std::optional<std::chrono::milliseconds> ttl);
  Result<void> clear_override(const std::string& provider, const std::string& endpoint);
  Result<void> reset_breaker(const std::string& provider, const std::string& endpoint);

  // Cron.
  // Lanes that came with a restore from another server; while there are any, nothing may start.
  Result<std::int64_t> foreign_lanes();
  Result<void> refuse_foreign_lanes();
  Result<Restamped> restamp_lanes();

  Result<json::Array> list_cron();
  Result<Uuid> set_cron(const std::string& name, const std::string& schedule,
                        const json::Object& job, const json::Object& options);
  Result<void> delete_cron(const std::string& name);
  Result<JobId> cron_now(const std::string& name);

  // Batches.
  Result<json::Array> list_batches(std::int64_t limit);
  Result<json::Object> get_batch(const BatchId& id);
  Result<BatchId> create_batch(const json::Array& jobs, const json::Object& options);

  // Adoption. A batch is one transaction: after an error nothing of it was done, or all of it, and
  // the next call goes on from there. No answers: nothing is left to be moved.
  Result<json::Array> import_report(const ImportRequest& request);
  Result<std::vector<ImportAnswer>> import_batch(const ImportRequest& request, std::int64_t limit,
                                                 const std::vector<std::string>& skip,
                                                 const std::vector<std::string>& skip_types);
  Result<json::Array> imports_overview(const ImportRequest& request);
  Result<std::vector<ImportAnswer>> import_undo(const ImportRequest& request, std::int64_t limit);

  // Running and evidence.
  Result<json::Array> list_workers();
  Result<json::Array> list_audit(std::int64_t limit);
  Result<json::Array> job_audit(const JobId& id);
  Result<json::Array> verify_audit();
  Result<json::Array> list_configuration();
  Result<void> set_configuration(const std::string& key, const std::string& value);

  // Tenants and tokens.
  // Unavailable, with what to do, where the roles are missing that callers of the server act as.
  Result<void> check_client_roles();
  Result<Uuid> create_tenant(const std::string& name, std::optional<Uuid> tenant,
                             const json::Object& quota);
  Result<json::Array> list_tenants();
  Result<void> disable_tenant(const Uuid& tenant, std::optional<std::string> reason);
  Result<void> enable_tenant(const Uuid& tenant);
  Result<void> set_tenant_quota(const Uuid& tenant, const json::Object& quota);
  // Writes down a credential that was made; the credential itself never comes here.
  Result<Uuid> create_api_token(const json::Object& token);
  Result<json::Array> list_api_tokens(bool all);
  Result<Uuid> revoke_api_token(const std::string& token, std::optional<std::string> reason);

  // Doctor's questions: facts only, judged elsewhere.
  Result<json::Object> server_facts();
  Result<json::Array> missing_grants();
  Result<json::Array> horizon();
  Result<json::Array> hot_tables();
  Result<json::Object> stuck_work();
  Result<json::Array> types_without_worker();
  Result<json::Array> counter_mismatches();

 private:
  AdminStore(pg::SyncConnection connection, std::optional<Uuid> tenant)
      : connection_(std::move(connection)), tenant_(tenant) {}

  Result<pg::ResultSet> call(std::string sql, pg::Params params = {}, bool read_only = false);
  Result<pg::ResultSet> call(std::string sql, pg::Params params, const pg::QueryOptions& options);
  Result<json::Array> rows(std::string_view select, pg::Params params = {});
  Result<std::vector<ImportAnswer>> import_answers(const std::string& sql,
                                                   const pg::Params& params);
  Result<json::Object> object(std::string sql, pg::Params params, std::string_view missing);
  Result<std::vector<AdminAnswer>> answers(std::string sql, pg::Params params);

  pg::SyncConnection connection_;
  std::optional<Uuid> tenant_;
};

}  // namespace millrace::store
