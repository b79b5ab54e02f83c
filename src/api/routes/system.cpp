// Workers, and the configuration that lies in the database.
#include "api/call.h"
#include "api/page.h"
#include "api/routes/operate.h"
#include "api/routes/path.h"

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::OperationStore;

Task<Reply> list_workers(Call& call, OperationStore& operations) {
  MR_CO_TRY(const auto rows, co_await operations.list_workers(call.context().by_server()));
  co_return list_reply(rows);
}

Task<Reply> list_configuration(Call& call, OperationStore& operations) {
  MR_CO_TRY(const auto rows, co_await operations.list_configuration(call.context().by_server()));
  co_return list_reply(rows);
}

Task<Reply> set_configuration(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.set_configuration(
      call.context(), call.parameters.required("name"), *call.text("value")));
  co_return Reply::empty();
}

}  // namespace

std::vector<Operation> system_operations(OperationStore& operations) {
  std::vector<Operation> out;
  out.push_back({.id = "workers.list",
                 .method = "GET",
                 .path = "/api/v1/workers",
                 .tag = "Operation",
                 .summary = "Worker processes and their liveness",
                 .access = Access::staff(Capability::read),
                 .answers = {{.status = 200, .description = "All of them.", .schema = "Workers"}},
                 .handler = [&operations](Call& call) { return list_workers(call, operations); }});
  out.push_back(
      {.id = "configuration.list",
       .method = "GET",
       .path = "/api/v1/configuration",
       .tag = "Operation",
       .summary = "Settings that lie in the database",
       .access = Access::staff(Capability::read),
       .answers = {{.status = 200, .description = "All of them.", .schema = "Configuration"}},
       .handler = [&operations](Call& call) { return list_configuration(call, operations); }});
  out.push_back(
      {.id = "configuration.set",
       .method = "PUT",
       .path = "/api/v1/configuration/{name}",
       .tag = "Operation",
       .summary = "Change a setting for everybody",
       .access = Access::staff(Capability::operate),
       .parameters = {name_parameter("name", "The key.")},
       .body = RequestBody{.schema = "ConfigurationValue"},
       .answers = {{.status = 204, .description = "It is set."}},
       .handler = [&operations](Call& call) { return set_configuration(call, operations); }});
  return out;
}

}  // namespace millrace::api
