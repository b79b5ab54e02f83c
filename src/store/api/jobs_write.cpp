#include "store/api/jobs_write.h"

#include "pg/errors.h"
#include "store/api/joiner.h"
#include "store/sqlstate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace millrace::store {
namespace {

constexpr std::size_t kJoinedJobMaxBytes = 16 * 1024;

// One small job that waits for nobody. Keys, ids, batches and dependencies lock rows or look at
// other jobs: such a job goes by itself, so that what it waits for holds up no other request. A
// word that only the payload holds costs that job its company and nothing else.
bool may_join(std::string_view job) {
  constexpr std::array<std::string_view, 3> kApart = {"\"id\"", "\"batch_id\"", "\"after\""};
  if (job.size() > kJoinedJobMaxBytes) return false;
  const auto begin = job.find_first_not_of(" \t\r\n");
  if (begin == job.npos || job[begin] != '{') return false;
  // One look at every quote instead of one pass per word.
  for (auto at = job.find('"'); at != job.npos; at = job.find('"', at + 1)) {
    if (job.substr(0, at).ends_with("_key")) return false;
    const auto rest = job.substr(at);
    if (std::ranges::any_of(kApart, [&](auto word) { return rest.starts_with(word); }))
      return false;
  }
  return true;
}

// Whether one job of several may be the reason, so that the others would be taken without it.
bool concerns_one(const Error& error) {
  if (error.kind == ErrorKind::in_doubt || error.kind == ErrorKind::cancelled) return false;
  // An operator's switch, the tenant, a missing right: no job's own fault.
  constexpr std::array<std::string_view, 4> kAll = {"MR015", "MR021", "MR026", "42501"};
  if (std::ranges::find(kAll, error.sqlstate) != kAll.end()) return false;
  // Their time was up: it would take as long again, for clients that may have gone.
  if (error.sqlstate == "57014") return false;
  return error.kind != ErrorKind::unavailable || error.sqlstate == "53200";
}

std::string array_of(std::span<const std::string> jobs) {
  std::size_t size = 2;
  for (const auto& job : jobs) size += job.size() + 1;
  std::string list;
  list.reserve(size);
  list += '[';
  for (const auto& job : jobs) {
    if (list.size() > 1) list += ',';
    list += job;
  }
  list += ']';
  return list;
}

class PgJobWriter final : public JobWriter {
 public:
  explicit PgJobWriter(ApiSession& session) : session_(session) {}

  Task<std::string> enqueue_jobs(CallContext caller, std::string jobs_json,
                                 RequestKey key) override {
    if (key.keeps()) return enqueue_kept(std::move(caller), std::move(jobs_json), std::move(key));
    if (may_join(jobs_json)) return singles_.call(std::move(caller), std::move(jobs_json));
    return write(std::move(caller), MR_POINT("api_enqueue"),
                 {.sql = "select coalesce(json_agg(json_build_object("
                         "'job_id', e.job_id, 'answer', e.answer) order by e.ord),"
                         " '[]')::text from millrace.enqueue_jobs($1) e",
                  .params = pg::params(jobs_json),
                  .name = "mr_api_enqueue"});
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

  Task<std::string> retry_job(CallContext caller, JobId job, std::optional<std::string> reason,
                              RequestKey key) override {
    auto params = key_params(key);
    params.add(job).add(reason);
    co_return co_await write(
        std::move(caller), MR_POINT("api_retry"),
        {.sql = "select (case when r.effect ->> 'answer' in ('ready', 'redriven')"
                " then millrace.keep_effect($1, $2, $3, r.effect) else r.effect end)::text"
                " from (select millrace.retry_job($4, $5) as effect offset 0) r",
         .params = std::move(params),
         .name = "mr_api_retry"});
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
  using Singles = Joiner<std::string, std::string>;

  Task<std::string> enqueue_kept(CallContext caller, std::string jobs_json, RequestKey key) {
    auto params = key_params(key);
    params.add(jobs_json);
    co_return co_await write(
        std::move(caller), MR_POINT("api_enqueue"),
        kept_effect("mr_api_enqueue_kept",
                    "select coalesce(jsonb_agg(jsonb_build_object('job_id', e.job_id,"
                    " 'answer', e.answer) order by e.ord), '[]') from millrace.enqueue_jobs($4) e",
                    std::move(params)));
  }

  // Jobs of several requests in one transaction. Where one of them is refused all are, and nothing
  // was done: each is then taken or refused by itself, in one call for all, so that whoever sends
  // bad jobs holds up nobody for long.
  Task<Singles::Answers> enqueue_singles(CallContext caller, std::vector<std::string> jobs) {
    auto answers = co_await enqueue_together(caller, jobs);
    if (answers || jobs.size() == 1 || !concerns_one(answers.error())) co_return answers;
    co_return co_await enqueue_each(std::move(caller), std::move(jobs));
  }

  Task<Singles::Answers> enqueue_together(CallContext caller, std::vector<std::string> jobs) {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_enqueue"), Access::write,
                                   {.sql = "select e.ord, e.job_id, e.answer"
                                           " from millrace.enqueue_singles($1) e",
                                    .params = pg::params(array_of(jobs)),
                                    .name = "mr_api_enqueue_singles"}));
    MR_CO_TRY_VOID(check_count(rows.rows(), jobs.size()));
    Singles::Answers answers(jobs.size());
    for (const auto row : rows) {
      answers.at(static_cast<std::size_t>(row.i32(0)) - 1) = made(row.text(1), row.text(2));
    }
    co_return answers;
  }

  Task<Singles::Answers> enqueue_each(CallContext caller, std::vector<std::string> jobs) {
    pg::Params params;
    params.add_array(jobs);
    MR_CO_TRY(const auto rows,
              co_await session_.as(
                  std::move(caller), MR_POINT("api_enqueue"), Access::write,
                  {.sql = "select e.ord, e.job_id, e.answer, e.code, e.message, e.detail, e.hint"
                          " from millrace.enqueue_each($1) e",
                   .params = std::move(params),
                   .name = "mr_api_enqueue_each"}));
    MR_CO_TRY_VOID(check_count(rows.rows(), jobs.size()));
    Singles::Answers answers(jobs.size());
    for (const auto row : rows) {
      auto& answer = answers.at(static_cast<std::size_t>(row.i32(0)) - 1);
      if (const auto code = row.opt_text(3)) {
        answer = fail(translate(Error{.kind = pg::kind_of_sqlstate(*code),
                                      .message = row.opt_text(4).value_or(""),
                                      .sqlstate = *code,
                                      .hint = row.opt_text(6).value_or(""),
                                      .detail = row.opt_text(5).value_or("")}));
      } else {
        answer = made(row.text(1), row.text(2));
      }
    }
    co_return answers;
  }

  static std::string made(std::string_view job, std::string_view answer) {
    return fmt::format(R"([{{"job_id":"{}","answer":"{}"}}])", job, answer);
  }

  static Result<void> check_count(std::size_t rows, std::size_t jobs) {
    if (rows == jobs) return ok();
    return fail(ErrorKind::in_doubt,
                fmt::format("the database answered for {} of {} jobs", rows, jobs));
  }

  Task<std::string> write(CallContext caller, fault::Point point, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), point, Access::write,
                                        std::move(statement));
  }

  ApiSession& session_;
  Singles singles_{session_.executor(),
                   session_.log(),
                   {.lost = ErrorKind::in_doubt},
                   [this](CallContext caller, std::vector<std::string> jobs) {
                     return enqueue_singles(std::move(caller), std::move(jobs));
                   }};
};

}  // namespace

std::unique_ptr<JobWriter> make_job_writer(ApiSession& session) {
  return std::make_unique<PgJobWriter>(session);
}

}  // namespace millrace::store
