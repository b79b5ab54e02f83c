#include "api/upload/signed_links.h"

#include "identity/refusal.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {

using identity::Refusal;

Result<SignedLinks::Ticket> SignedLinks::make(const identity::Caller& caller,
                                              const Wanted& wanted) const {
  const auto expires_at = identity::instant_of(services_.clock.wall()) + wanted.ttl;
  MR_TRY(auto text,
         services_.tickets.make_ticket(identity::UrlTicket{.operation = wanted.operation,
                                                           .resource = wanted.resource,
                                                           .may_replace = wanted.may_replace,
                                                           .holder = identity::holder_of(caller),
                                                           .expires_at = expires_at,
                                                           .file_name = wanted.file_name}));
  return Ticket{.text = std::move(text), .expires_at = expires_at};
}

Task<identity::UrlTicket> SignedLinks::open(std::string ticket, identity::UrlOperation operation,
                                            std::string resource) const {
  MR_CO_TRY(auto opened, services_.tickets.open_url_ticket(ticket, operation, resource));
  if (!opened.holder.token_id.empty()) {
    MR_CO_TRY(const bool revoked,
              co_await services_.directory.is_token_revoked(opened.holder.token_id));
    if (revoked) co_return identity::refuse(Refusal::revoked, "the token was revoked");
  }
  if (opened.holder.tenant) {
    MR_CO_TRY(const auto policy, co_await services_.policies.policy_of(*opened.holder.tenant));
    if (policy.disabled) co_return identity::refuse(Refusal::forbidden, "the tenant is disabled");
  }
  co_return opened;
}

std::string SignedLinks::absolute(const http::ServerRequest& request, std::string_view path) const {
  if (!public_url_.empty()) {
    const auto end = public_url_.ends_with('/') ? public_url_.size() - 1 : public_url_.size();
    return public_url_.substr(0, end) + std::string(path);
  }
  if (request.host.empty()) return std::string(path);
  return fmt::format("{}://{}{}", request.secure ? "https" : "http", request.host, path);
}

}  // namespace millrace::api
