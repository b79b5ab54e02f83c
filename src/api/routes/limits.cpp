// Limits of providers.
#include "api/call.h"
#include "api/page.h"
#include "api/routes/operate.h"
#include "api/routes/path.h"

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::OperationStore;

store::ProviderName provider_of(const Call& call) {
  return {.provider = call.parameters.required("provider"),
          .endpoint = call.parameters.required("endpoint")};
}

Task<Reply> list_limits(Call& call, OperationStore& operations) {
  MR_CO_TRY(const auto rows, co_await operations.list_limits(call.context().by_server()));
  co_return list_reply(rows);
}

Task<Reply> get_limit(Call& call, OperationStore& operations) {
  MR_CO_TRY(auto limit,
            co_await operations.get_limit(call.context().by_server(), provider_of(call)));
  co_return Reply::json_text(std::move(limit.json)).in_version(std::move(limit.version));
}

Task<Reply> set_limit(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.set_limit(call.context(), provider_of(call), call.body_text,
                                               call.if_match));
  co_return Reply::empty();
}

Task<Reply> override_limit(Call& call, OperationStore& operations) {
  store::LimitOverride values{.values_json = *call.json("values"),
                              .reason = call.text("reason").value_or("set by an operator")};
  if (const auto ttl = call.integer("ttl_seconds")) values.ttl = std::chrono::seconds(*ttl);
  MR_CO_TRY_VOID(
      co_await operations.override_limit(call.context(), provider_of(call), std::move(values)));
  co_return Reply::empty();
}

Task<Reply> clear_override(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.clear_override(call.context(), provider_of(call)));
  co_return Reply::empty();
}

Task<Reply> reset_breaker(Call& call, OperationStore& operations) {
  MR_CO_TRY_VOID(co_await operations.reset_breaker(call.context(), provider_of(call)));
  co_return Reply::empty();
}

using Verb = Task<Reply> (*)(Call& call, OperationStore& operations);

struct Entry {
  const char* id;
  const char* method;
  const char* path;
  const char* summary;
  const char* schema;  // Null: no body.
  Verb verb;
};

constexpr Entry kChanges[] = {
    {"limits.set", "PUT", "/api/v1/limits/{provider}/{endpoint}",
     "Make a limit, or change its configured values", "LimitValues", set_limit},
    {"limits.override", "PUT", "/api/v1/limits/{provider}/{endpoint}/override",
     "Replace values for a while; no deploy resets them", "LimitOverride", override_limit},
    {"limits.clear_override", "DELETE", "/api/v1/limits/{provider}/{endpoint}/override",
     "Take the override away", nullptr, clear_override},
    {"limits.reset_breaker", "POST", "/api/v1/limits/{provider}/{endpoint}/reset-breaker",
     "Close the circuit breaker", nullptr, reset_breaker},
};

}  // namespace

std::vector<Operation> limit_operations(OperationStore& operations) {
  std::vector<Operation> out;
  out.push_back({.id = "limits.list",
                 .method = "GET",
                 .path = "/api/v1/limits",
                 .tag = "Limits",
                 .summary = "Providers: limits, what is used of them, breakers, waiting jobs",
                 .access = Access::staff(Capability::read),
                 .answers = {{.status = 200, .description = "All of them.", .schema = "Limits"}},
                 .handler = [&operations](Call& call) { return list_limits(call, operations); }});
  out.push_back({.id = "limits.get",
                 .method = "GET",
                 .path = "/api/v1/limits/{provider}/{endpoint}",
                 .tag = "Limits",
                 .summary = "One provider: its limits, what is used of them, its breaker",
                 .access = Access::staff(Capability::read),
                 .parameters = {name_parameter("provider", "The provider."),
                                name_parameter("endpoint", "Its endpoint.")},
                 .answers = {{.status = 200, .description = "The limit.", .schema = "Limit"}},
                 .conditional = true,
                 .handler = [&operations](Call& call) { return get_limit(call, operations); }});
  for (const auto& entry : kChanges) {
    Operation operation{
        .id = entry.id,
        .method = entry.method,
        .path = entry.path,
        .tag = "Limits",
        .summary = entry.summary,
        .access = Access::staff(Capability::operate),
        .parameters = {name_parameter("provider", "The provider."),
                       name_parameter("endpoint", "Its endpoint.")},
        .answers = {{.status = 204, .description = "Done."}},
        .handler = [&operations, verb = entry.verb](Call& call) { return verb(call, operations); }};
    if (entry.schema != nullptr) operation.body = RequestBody{.schema = entry.schema};
    operation.guards_change = entry.verb == set_limit;
    out.push_back(std::move(operation));
  }
  return out;
}

}  // namespace millrace::api
