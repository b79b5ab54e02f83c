#include "store/api/jobs_write.h"

#include <utility>

namespace millrace::store {
namespace {

class PgJobWriter final : public JobWriter {
 public:
  explicit PgJobWriter(ApiSession& session) : session_(session) {}

  Task<std::string> enqueue_jobs(CallContext caller, std::string jobs_json,
                                 RequestKey key) override {
    // Without a key nothing is kept: the short form, for which the whole call is the enqueue.
    if (!key.keeps()) {
      co_return co_await write(std::move(caller), MR_POINT("api_enqueue"),
                               {.sql = "select coalesce(json_agg(json_build_object("
                                       "'job_id', e.job_id, 'answer', e.answer) order by e.ord),"
                                       " '[]')::text from millrace.enqueue_jobs($1) e",
                                .params = pg::params(jobs_json),
                                .name = "mr_api_enqueue"});
    }
    auto params = key_params(key);
    params.add(jobs_json);
    co_return co_await write(
        std::move(caller), MR_POINT("api_enqueue"),
        kept_effect("mr_api_enqueue_kept",
                    "select coalesce(jsonb_agg(jsonb_build_object('job_id', e.job_id,"
                    " 'answer', e.answer) order by e.ord), '[]') from millrace.enqueue_jobs($4) e",
                    std::move(params)));
  }

  Task<std::string> create_batch(CallContext caller, std::string jobs_json,
                                 std::string options_json, RequestKey key) override {
    auto params = key_params(key);
    params.add(jobs_json).add(options_json);
    co_return co_await write(
        std::move(caller), MR_POINT("api_batch"),
        kept_effect("mr_api_create_batch",
                    "select jsonb_build_object('batch_id', millrace.create_batch($4, $5))",
                    std::move(params)));
  }

  Task<std::string> cancel_jobs(CallContext caller, std::vector<JobId> jobs,
                                std::optional<std::string> reason, RequestKey key) override {
    auto params = key_params(key);
    params.add_id_array(std::span<const JobId>(jobs)).add(reason);
    co_return co_await write(std::move(caller), MR_POINT("api_cancel"),
                             kept_effect("mr_api_cancel",
                                         "select coalesce(jsonb_agg(to_jsonb(c)), '[]')"
                                         " from millrace.cancel_mine($4, $5) c",
                                         std::move(params)));
  }

  Task<std::string> run_now(CallContext caller, std::vector<JobId> jobs,
                            std::optional<std::string> reason, RequestKey key) override {
    auto params = key_params(key);
    params.add_id_array(std::span<const JobId>(jobs)).add(reason);
    co_return co_await write(
        std::move(caller), MR_POINT("api_run_now"),
        kept_effect("mr_api_run_now",
                    "select coalesce(jsonb_agg(to_jsonb(r)), '[]') from millrace.run_now($4, $5) r",
                    std::move(params)));
  }

  Task<std::string> redrive_jobs(CallContext caller, RedriveRequest request,
                                 RequestKey key) override {
    auto params = key_params(key);
    params.add(request.filter_json).add(request.limit).add(request.per_minute);
    params.add(request.reason);
    co_return co_await write(std::move(caller), MR_POINT("api_redrive"),
                             kept_effect("mr_api_redrive",
                                         "select coalesce(jsonb_agg(to_jsonb(r)), '[]')"
                                         " from millrace.redrive_jobs($4, $5, $6, $7) r",
                                         std::move(params)));
  }

 private:
  Task<std::string> write(CallContext caller, fault::Point point, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), point, Access::write,
                                        std::move(statement));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<JobWriter> make_job_writer(ApiSession& session) {
  return std::make_unique<PgJobWriter>(session);
}

}  // namespace millrace::store
