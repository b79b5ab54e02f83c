// Queues and job types.
#include "api/call.h"
#include "api/page.h"
#include "api/routes/handler_of.h"
#include "api/routes/operate.h"
#include "api/routes/path.h"

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::OperationStore;

// Queues belong to all tenants; counts are those of the caller's own. Clients of the database have
// no right to them: the server asks in their place.
store::CallContext reading(const Call& call) { return call.context().by_server(); }

Task<Reply> list_queues(Call& call, OperationStore& operations) {
  MR_CO_TRY(const auto rows, co_await operations.list_queues(reading(call)));
  co_return list_reply(rows);
}

// The queue as it is now.
Task<Reply> get_queue(Call& call, OperationStore& operations) {
  MR_CO_TRY(auto queue,
            co_await operations.get_queue(reading(call), call.parameters.required("queue")));
  co_return Reply::json_text(std::move(queue.json)).in_version(std::move(queue.version));
}

Task<Reply> set_queue(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.set_queue(call.context(), call.parameters.required("queue"),
                                               call.body_text, call.if_match));
  co_return co_await get_queue(call, operations);
}

Task<Reply> pause_queue(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.pause_queue(call.context(), call.parameters.required("queue"),
                                                 call.text("reason")));
  co_return co_await get_queue(call, operations);
}

Task<Reply> resume_queue(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(
      co_await operations.resume_queue(call.context(), call.parameters.required("queue")));
  co_return co_await get_queue(call, operations);
}

Task<Reply> list_job_types(Call& call, OperationStore& operations) {
  MR_CO_TRY(const auto rows, co_await operations.list_job_types(reading(call)));
  co_return list_reply(rows);
}

Task<Reply> set_job_type(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.set_job_type(call.context(), call.parameters.required("name"),
                                                  call.body_text));
  co_return Reply::empty();
}

Operation on_queue(std::string id, std::string method, std::string path, std::string summary,
                   Access access, OperationHandler handler) {
  return {.id = std::move(id),
          .method = std::move(method),
          .path = std::move(path),
          .tag = "Queues",
          .summary = std::move(summary),
          .access = access,
          .parameters = {name_parameter("queue", "The queue.", 63)},
          .answers = {{.status = 200, .description = "The queue.", .schema = "Queue"}},
          .handler = std::move(handler)};
}

}  // namespace

std::vector<Operation> queue_operations(OperationStore& operations) {
  const auto read = Access::service(Capability::read);
  const auto operate = Access::staff(Capability::operate);
  std::vector<Operation> out;
  out.push_back({.id = "queues.list",
                 .method = "GET",
                 .path = "/api/v1/queues",
                 .tag = "Queues",
                 .summary = "Queues with their policies and counts",
                 .access = read,
                 .answers = {{.status = 200, .description = "All of them.", .schema = "Queues"}},
                 .handler = handler_of(list_queues, operations)});
  auto get = on_queue("queues.get", "GET", "/api/v1/queues/{queue}", "One queue", read,
                      handler_of(get_queue, operations));
  get.conditional = true;
  out.push_back(std::move(get));
  auto set = on_queue("queues.set", "PUT", "/api/v1/queues/{queue}",
                      "Make a queue, or change its policy at once for all workers", operate,
                      handler_of(set_queue, operations));
  set.body = RequestBody{.schema = "QueuePolicy"};
  set.guards_change = true;
  out.push_back(std::move(set));
  auto pause =
      on_queue("queues.pause", "POST", "/api/v1/queues/{queue}/pause",
               "Hand out no more of its jobs", operate, handler_of(pause_queue, operations));
  pause.body = RequestBody{.schema = "ReasonBody", .required = false};
  out.push_back(std::move(pause));
  out.push_back(on_queue("queues.resume", "POST", "/api/v1/queues/{queue}/resume",
                         "Hand them out again", operate, handler_of(resume_queue, operations)));
  out.push_back({.id = "job_types.list",
                 .method = "GET",
                 .path = "/api/v1/job-types",
                 .tag = "Queues",
                 .summary = "Registered job types",
                 .access = read,
                 .answers = {{.status = 200, .description = "All of them.", .schema = "JobTypes"}},
                 .handler = handler_of(list_job_types, operations)});
  out.push_back({.id = "job_types.set",
                 .method = "PUT",
                 .path = "/api/v1/job-types/{name}",
                 .tag = "Queues",
                 .summary = "Register a job type, or change it",
                 .access = operate,
                 .parameters = {name_parameter("name", "The job type.", 127)},
                 .body = RequestBody{.schema = "JobTypePolicy"},
                 .answers = {{.status = 204, .description = "It is set."}},
                 .handler = handler_of(set_job_type, operations)});
  return out;
}

}  // namespace millrace::api
