// Guard: lets a caller through to an operation, or says why not. Deny by default.
//
// Flow: the pipeline asks admit() before it looks at anything else of a request. Operations that
// are open admit everybody, as nobody in particular; all others want credentials that identity
// accepts, a tenant that is not switched off, and the right that the operation's Access names. The
// tenant comes from the credentials; those who are confined to none and may act for others name one
// in the header x-millrace-tenant. Threading: any. Lifetime: what it refers to outlives it.
#pragma once

#include "api/access.h"
#include "base/task.h"
#include "http/server_request.h"
#include "identity/authenticator.h"
#include "identity/ticket.h"

#include <cstdint>
#include <optional>

namespace millrace::api {

inline constexpr std::string_view kTenantHeader = "x-millrace-tenant";

// What an operator has decided about a tenant.
struct TenantPolicy {
  bool disabled = false;
  std::optional<std::uint64_t> requests_per_minute;  // Else the server's own.
};

class TenantPolicies {
 public:
  virtual ~TenantPolicies() = default;
  // Asked for every request: answers come from memory nearly always.
  virtual Task<TenantPolicy> policy_of(TenantId tenant) = 0;
  // The same where it is remembered; nothing: ask. Asks nobody.
  virtual std::optional<TenantPolicy> known_policy(const TenantId& tenant);
};

struct Admitted {
  identity::Caller caller;
  TenantPolicy policy;
};

class Guard {
 public:
  Guard(const identity::Authenticator& authenticator, const identity::TicketMaker& tickets,
        identity::KeyDirectory& directory, TenantPolicies& policies)
      : authenticator_(authenticator),
        tickets_(tickets),
        directory_(directory),
        policies_(policies) {}

  // A refusal (identity::refusal_of) says why not; another error, that it cannot be found out.
  Task<Admitted> admit(Access access, const http::ServerRequest& request,
                       identity::Welcome welcome = identity::Welcome::anybody) const;
  // The same for a caller of whom all is remembered, without asking anybody. Nothing where
  // something is not known, or not good: admit() finds out what.
  std::optional<Admitted> admit_known(const Access& access,
                                      const http::ServerRequest& request) const;

 private:
  Task<identity::Caller> identify(Access access, const http::ServerRequest& request,
                                  identity::Welcome welcome) const;
  Task<identity::Caller> open_ticket(std::string ticket, std::string resource) const;

  const identity::Authenticator& authenticator_;
  const identity::TicketMaker& tickets_;
  identity::KeyDirectory& directory_;
  TenantPolicies& policies_;
};

}  // namespace millrace::api
