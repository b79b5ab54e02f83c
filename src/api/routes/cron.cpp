// Jobs on a schedule.
#include "api/call.h"
#include "api/page.h"
#include "api/routes/operate.h"
#include "api/routes/path.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::OperationStore;

Task<Reply> list_cron(Call& call, OperationStore& operations) {
  MR_CO_TRY(const auto rows, co_await operations.list_cron(call.context().by_server()));
  co_return list_reply(rows);
}

Task<Reply> get_cron(Call& call, OperationStore& operations) {
  MR_CO_TRY(auto entry, co_await operations.get_cron(call.context().by_server(),
                                                     call.parameters.required("name")));
  co_return Reply::json_text(std::move(entry.json)).in_version(std::move(entry.version));
}

Task<Reply> set_cron(Call& call, OperationStore& operations) {
  json::Object options;
  for (const std::string_view name : {"time_zone", "missed", "enabled"}) {
    if (const auto* value = call.member(name)) options[name] = *value;
  }
  MR_CO_TRY(const auto id, co_await operations.set_cron(call.context(),
                                                        {.name = call.parameters.required("name"),
                                                         .schedule = *call.text("schedule"),
                                                         .job_json = *call.json("job"),
                                                         .options_json = to_json(options)},
                                                        call.if_match));
  co_return Reply::json(json::Object{{"cron_id", id.to_string()}});
}

Task<Reply> delete_cron(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.delete_cron(call.context(), call.parameters.required("name"),
                                                 call.if_match));
  co_return Reply::empty();
}

Reply started(std::string effect) { return Reply::json_text(std::move(effect), 201); }

Task<Reply> run_cron(Call& call, OperationStore& operations) {
  MR_CO_TRY(auto effect, co_await operations.cron_now(
                             call.context(), call.parameters.required("name"), call.request_key));
  MR_CO_TRY(const auto made, parse_json_object(effect));
  call.note("job_id", std::string(made.at("job_id").as_string()));
  co_return started(std::move(effect));
}

}  // namespace

std::vector<Operation> cron_operations(OperationStore& operations) {
  const auto operate = Access::service(Capability::operate);
  std::vector<Operation> out;
  out.push_back({.id = "cron.list",
                 .method = "GET",
                 .path = "/api/v1/cron",
                 .tag = "Cron",
                 .summary = "Schedules, with the next and the last run",
                 .access = Access::service(Capability::read),
                 .answers = {{.status = 200, .description = "All of them.", .schema = "Crons"}},
                 .handler = [&operations](Call& call) { return list_cron(call, operations); }});
  out.push_back({.id = "cron.get",
                 .method = "GET",
                 .path = "/api/v1/cron/{name}",
                 .tag = "Cron",
                 .summary = "One schedule",
                 .access = Access::service(Capability::read),
                 .parameters = {name_parameter("name", "The schedule.")},
                 .answers = {{.status = 200, .description = "The schedule.", .schema = "Cron"}},
                 .conditional = true,
                 .handler = [&operations](Call& call) { return get_cron(call, operations); }});
  out.push_back({.id = "cron.set",
                 .method = "PUT",
                 .path = "/api/v1/cron/{name}",
                 .tag = "Cron",
                 .summary = "Make a schedule, or change it",
                 .access = operate,
                 .parameters = {name_parameter("name", "The schedule.")},
                 .body = RequestBody{.schema = "NewCron"},
                 .answers = {{.status = 200, .description = "It is set.", .schema = "CronSet"}},
                 .guards_change = true,
                 .handler = [&operations](Call& call) { return set_cron(call, operations); }});
  out.push_back({.id = "cron.delete",
                 .method = "DELETE",
                 .path = "/api/v1/cron/{name}",
                 .tag = "Cron",
                 .summary = "Remove a schedule; jobs it made stay",
                 .access = operate,
                 .parameters = {name_parameter("name", "The schedule.")},
                 .answers = {{.status = 204, .description = "It is gone."}},
                 .guards_change = true,
                 .handler = [&operations](Call& call) { return delete_cron(call, operations); }});
  out.push_back({.id = "cron.run",
                 .method = "POST",
                 .path = "/api/v1/cron/{name}/run",
                 .tag = "Cron",
                 .summary = "Enqueue its job now, besides the schedule",
                 .access = operate,
                 .parameters = {name_parameter("name", "The schedule.")},
                 .answers = {{.status = 201, .description = "The job.", .schema = "JobStarted"}},
                 .idempotency_key = true,
                 .replay = started,
                 .handler = [&operations](Call& call) { return run_cron(call, operations); }});
  return out;
}

}  // namespace millrace::api
