#include "client/convert.h"
#include "store/admin_store.h"
#include "store/raw_enqueue.h"

#include <millrace/producer.h>

#include <utility>

namespace millrace::client {
namespace {

Result<std::vector<Enqueued>> to_enqueued(
    millrace::Result<std::vector<store::EnqueueAnswer>> answers) {
  if (!answers) return fail_public(answers.error());
  std::vector<Enqueued> enqueued;
  for (const auto& answer : *answers) {
    enqueued.push_back({.job_id = answer.id.to_string(), .created = answer.created});
  }
  return enqueued;
}

Result<Enqueued> only(Result<std::vector<Enqueued>> answers) {
  if (!answers) return std::unexpected(std::move(answers).error());
  return std::move(answers->front());
}

}  // namespace

Result<Enqueued> enqueue(pg_conn* connection, const JobSpec& job) {
  return only(enqueue(connection, std::vector{job}));
}

Result<std::vector<Enqueued>> enqueue(pg_conn* connection, const std::vector<JobSpec>& jobs) {
  auto specs = specs_to_json(jobs);
  if (!specs) return std::unexpected(std::move(specs).error());
  if (specs->empty()) return std::vector<Enqueued>{};
  return to_enqueued(store::enqueue_on(connection, *specs));
}

struct Producer::Impl {
  store::AdminStore store;
};

Producer::Producer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Producer::Producer(Producer&&) noexcept = default;
Producer& Producer::operator=(Producer&&) noexcept = default;
Producer::~Producer() = default;

Result<Producer> Producer::connect(const std::string& database_url) {
  auto options = pg::connect_options(database_url);
  options.application_name = "millrace producer";
  auto store = store::AdminStore::connect(std::move(options));
  if (!store) return fail_public(store.error());
  return Producer(std::make_unique<Impl>(std::move(*store)));
}

Result<Enqueued> Producer::enqueue(const JobSpec& job) { return only(enqueue(std::vector{job})); }

Result<std::vector<Enqueued>> Producer::enqueue(const std::vector<JobSpec>& jobs) {
  auto specs = specs_to_json(jobs);
  if (!specs) return std::unexpected(std::move(specs).error());
  if (specs->empty()) return std::vector<Enqueued>{};
  return to_enqueued(impl_->store.enqueue_jobs(*specs));
}

Result<std::string> Producer::job(const std::string& job_id) {
  const auto id = JobId::parse(job_id);
  if (!id) return fail_public(id.error());
  const auto job = impl_->store.get_job(*id);
  if (!job) return fail_public(job.error());
  return to_json(*job);
}

Result<std::string> Producer::cancel(const std::string& job_id, const std::string& reason) {
  const auto id = JobId::parse(job_id);
  if (!id) return fail_public(id.error());
  const auto answers =
      impl_->store.cancel_jobs({*id}, reason.empty() ? std::nullopt : std::optional(reason));
  if (!answers) return fail_public(answers.error());
  const std::string& answer = answers->front().answer;
  if (answer == "not_found") {
    return std::unexpected(
        Error{ErrorKind::not_found, "job " + job_id + " does not exist", "MR009"});
  }
  if (answer == "already_final") {
    return std::unexpected(Error{ErrorKind::conflict, "job " + job_id + " has ended", "MR010"});
  }
  return answer;
}

}  // namespace millrace::client
