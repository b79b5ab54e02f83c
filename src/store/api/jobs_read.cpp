#include "store/api/jobs_read.h"

#include "base/json.h"
#include "store/api/joiner.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
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
  PgJobReader(ApiSession& session, ApiSession& apart) : session_(session), apart_(apart) {}

  // The call that clients repeat until their job has ended: requests that come together are asked
  // for in one statement.
  Task<std::string> job_status(CallContext caller, JobId job) override {
    return statuses_.call(std::move(caller), job);
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
                                std::optional<JobId> before, int limit) override {
    co_return co_await apart_.text_as(std::move(caller), MR_POINT("api_job_read"), Access::read,
                                      {.sql = "select millrace.dead_group_page($1, $2, $3)",
                                       .params = pg::params(queue, limit, before),
                                       .name = "mr_api_dead_groups"});
  }

 private:
  using Statuses = Joiner<JobId, std::string>;

  Task<Statuses::Answers> job_statuses(CallContext caller, std::vector<JobId> jobs) {
    pg::Params params;
    params.add_id_array(std::span<const JobId>(jobs));
    MR_CO_TRY(const auto lines,
              co_await session_.text_as(std::move(caller), MR_POINT("api_job_status"), Access::read,
                                        {.sql = "select millrace.job_status_lines($1)",
                                         .params = std::move(params),
                                         .name = "mr_api_job_status_lines"}));
    co_return answers_in(lines, jobs);
  }

  // A line is the id of a job, a tab, and its status. Several requests may ask for one job; a job
  // without a line does not exist, for this caller.
  static Result<Statuses::Answers> answers_in(std::string_view lines,
                                              const std::vector<JobId>& jobs) {
    constexpr std::size_t kIdLength = 36;
    Statuses::Answers answers(jobs.size());
    while (!lines.empty()) {
      const auto end = std::min(lines.find('\n'), lines.size());
      const auto line = lines.substr(0, end);
      lines.remove_prefix(std::min(end + 1, lines.size()));
      MR_TRY(const auto id, JobId::parse(line.substr(0, kIdLength)));
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (jobs[i] == id) answers[i] = std::string(line.substr(kIdLength + 1));
      }
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!answers[i]->empty()) continue;
      answers[i] = fail(Error{.kind = ErrorKind::not_found,
                              .message = fmt::format("job {} does not exist", jobs[i]),
                              .sqlstate = "MR009"});
    }
    return answers;
  }

  Task<std::string> read(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_job_read"), Access::read,
                                        std::move(statement));
  }

  ApiSession& session_;
  ApiSession& apart_;
  Statuses statuses_{
      session_.executor(), session_.log(), {}, [this](CallContext caller, std::vector<JobId> jobs) {
        return job_statuses(std::move(caller), std::move(jobs));
      }};
};

}  // namespace

std::unique_ptr<JobReader> make_job_reader(ApiSession& session, ApiSession* apart) {
  return std::make_unique<PgJobReader>(session, apart == nullptr ? session : *apart);
}

}  // namespace millrace::store
