#include "api/guard.h"

#include "api/parameters.h"
#include "identity/credentials.h"
#include "identity/refusal.h"

#include <string>
#include <utility>

namespace millrace::api {
namespace {

using identity::Caller;
using identity::Refusal;

// The ticket in the URL; nothing when there is none. Two of them are nobody's.
Result<std::optional<std::string>> ticket_of(const http::ServerRequest& request) {
  std::optional<std::string> ticket;
  if (!request.query.contains(kTicketParameter)) return ticket;
  MR_TRY(auto query, request.query_parameters());
  for (auto& [name, value] : query) {
    if (name != kTicketParameter) continue;
    if (ticket) return identity::refuse(Refusal::malformed, "the URL holds more than one token");
    ticket = std::move(value);
  }
  return ticket;
}

Result<Caller> act_for(Caller caller, std::string_view wanted) {
  const auto tenant = TenantId::parse(wanted);
  if (!tenant) {
    return fail(ErrorKind::invalid_argument, "the header x-millrace-tenant must be a uuid");
  }
  return caller.for_tenant(*tenant);
}

identity::CredentialHeaders headers_of(const http::ServerRequest& request) {
  return {.authorization = request.header("authorization"),
          .apikey = request.header("apikey"),
          .user_agent = request.header("user-agent")};
}

}  // namespace

std::optional<TenantPolicy> TenantPolicies::known_policy(const TenantId&) { return std::nullopt; }

Task<Admitted> Guard::admit(Access access, const http::ServerRequest& request,
                            identity::Welcome welcome) const {
  if (!access.guarded()) co_return Admitted{};
  MR_CO_TRY(auto caller, co_await identify(access, request, welcome));
  if (const auto wanted = request.header(kTenantHeader)) {
    MR_CO_TRY(caller, act_for(std::move(caller), *wanted));
  }
  MR_CO_TRY_VOID(access.check(caller));
  TenantPolicy policy;
  if (caller.tenant) {
    MR_CO_TRY(policy, co_await policies_.policy_of(*caller.tenant));
    if (policy.disabled) co_return identity::refuse(Refusal::forbidden, "the tenant is disabled");
  }
  co_return Admitted{.caller = std::move(caller), .policy = policy};
}

std::optional<Admitted> Guard::admit_known(const Access& access,
                                           const http::ServerRequest& request) const {
  if (!access.guarded()) return Admitted{};
  if (access.kind() == Access::Kind::stream) return std::nullopt;  // May come with a ticket.
  const auto credentials = identity::read_credentials(headers_of(request));
  const auto known = credentials ? authenticator_.recognise(*credentials) : nullptr;
  if (!known) return std::nullopt;
  Admitted admitted{.caller = *known, .policy = {}};
  if (const auto wanted = request.header(kTenantHeader)) {
    auto acting = act_for(std::move(admitted.caller), *wanted);
    if (!acting) return std::nullopt;
    admitted.caller = *std::move(acting);
  }
  if (!access.check(admitted.caller)) return std::nullopt;
  if (!admitted.caller.tenant) return admitted;
  const auto policy = policies_.known_policy(*admitted.caller.tenant);
  if (!policy || policy->disabled) return std::nullopt;
  admitted.policy = *policy;
  return admitted;
}

Task<Caller> Guard::identify(Access access, const http::ServerRequest& request,
                             identity::Welcome welcome) const {
  if (access.kind() == Access::Kind::stream) {
    MR_CO_TRY(auto ticket, ticket_of(request));
    if (ticket) co_return co_await open_ticket(*std::move(ticket), std::string(request.path));
  }
  MR_CO_TRY(auto credentials, identity::read_credentials(headers_of(request)));
  co_return co_await authenticator_.identify(std::move(credentials), welcome);
}

Task<Caller> Guard::open_ticket(std::string ticket, std::string resource) const {
  MR_CO_TRY(const auto opened, tickets_.open_stream_ticket(ticket, resource));
  // Taking the token back ends the tickets made with it.
  if (!opened.holder.token_id.empty()) {
    MR_CO_TRY(const bool revoked, co_await directory_.is_token_revoked(opened.holder.token_id));
    if (revoked) co_return identity::refuse(Refusal::revoked, "the token was revoked");
  }
  co_return opened.caller();
}

}  // namespace millrace::api
