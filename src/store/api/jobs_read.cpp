#include "store/api/jobs_read.h"

#include "base/json.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

std::string filter_json(const JobQuery& query) {
  json::Object filter;
  if (query.queue) filter["queue"] = *query.queue;
  if (query.job_type) filter["job_type"] = *query.job_type;
  if (query.status) filter["status"] = *query.status;
  if (query.batch) filter["batch_id"] = query.batch->to_string();
  if (query.correlation_id) filter["correlation_id"] = *query.correlation_id;
  if (query.owner) filter["owner_id"] = query.owner->to_string();
  if (query.fingerprint) filter["fingerprint"] = *query.fingerprint;
  return to_json(filter);
}

class PgJobReader final : public JobReader {
 public:
  explicit PgJobReader(ApiSession& session) : session_(session) {}

  Task<std::string> job_status(CallContext caller, JobId job) override {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_job_status"), Access::read,
                                        {.sql = "select millrace.job_status($1)",
                                         .params = pg::params(job),
                                         .name = "mr_api_job_status"});
  }

  Task<std::string> job_detail(CallContext caller, JobId job) override {
    co_return co_await read(std::move(caller), {.sql = "select millrace.job_detail($1)",
                                                .params = pg::params(job),
                                                .name = "mr_api_job_detail"});
  }

  Task<std::string> list_jobs(CallContext caller, JobQuery query) override {
    co_return co_await read(std::move(caller),
                            {.sql = "select millrace.list_jobs($1, $2, $3)",
                             .params = pg::params(filter_json(query), query.limit, query.before),
                             .name = "mr_api_list_jobs"});
  }

  Task<std::string> job_log_page(CallContext caller, JobId job, std::int64_t after,
                                 int limit) override {
    co_return co_await read(
        std::move(caller),
        rows_as_json("mr_api_job_logs", "select * from millrace.job_log_page($1, $2, $3)",
                     pg::params(job, after, limit)));
  }

  Task<std::string> get_batch(CallContext caller, BatchId batch) override {
    co_return co_await read(std::move(caller), {.sql = "select millrace.get_batch($1)",
                                                .params = pg::params(batch),
                                                .name = "mr_api_get_batch"});
  }

  Task<std::string> list_batches(CallContext caller, std::optional<Uuid> before,
                                 int limit) override {
    co_return co_await read(
        std::move(caller),
        rows_as_json("mr_api_list_batches", "select * from millrace.list_batches($1, $2)",
                     pg::params(before, limit)));
  }

  Task<std::string> dead_groups(CallContext caller, std::optional<std::string> queue,
                                int limit) override {
    co_return co_await read(
        std::move(caller),
        rows_as_json("mr_api_dead_groups", "select * from millrace.dead_groups($1, $2)",
                     pg::params(queue, limit)));
  }

 private:
  Task<std::string> read(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_job_read"), Access::read,
                                        std::move(statement));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<JobReader> make_job_reader(ApiSession& session) {
  return std::make_unique<PgJobReader>(session);
}

}  // namespace millrace::store
