// SignedLinks: URLs that open one object for whoever has them, for a while.
//
// Flow: a route asks for a link when somebody is about to follow it; the link is a ticket of
// identity in a query parameter, kept nowhere and logged nowhere. Opening it gives the caller it
// was made for, who may do that one thing and nothing else: row security still decides, the token
// it was made with may have been revoked, and the tenant switched off. Threading: any. Lifetime:
// what it refers to outlives it.
#pragma once

#include "api/guard.h"
#include "base/clock.h"
#include "base/secret.h"
#include "http/server_request.h"
#include "identity/authenticator.h"
#include "identity/ticket.h"

#include <chrono>
#include <string>

namespace millrace::api {

class SignedLinks {
 public:
  struct Services {
    const identity::TicketMaker& tickets;
    identity::KeyDirectory& directory;
    TenantPolicies& policies;
    const Clock& clock;
  };

  // `public_url` is how clients reach the server ("https://api.example"); empty: as they did.
  SignedLinks(Services services, std::string public_url)
      : services_(services), public_url_(std::move(public_url)) {}

  struct Wanted {
    identity::UrlOperation operation = identity::UrlOperation::download;
    std::string resource;  // "files/<id>"
    bool may_replace = false;
    std::chrono::seconds ttl{300};  // 1 s to 7 days; else invalid_argument.
    std::string file_name = {};     // What a download is to be called.
  };
  struct Ticket {
    Secret<std::string> text;
    identity::Instant expires_at;
  };
  Result<Ticket> make(const identity::Caller& caller, const Wanted& wanted) const;
  // A refusal says why not.
  Task<identity::UrlTicket> open(std::string ticket, identity::UrlOperation operation,
                                 std::string resource) const;

  // "https://host/path": for links in answers. Only the path for a client that names no host.
  std::string absolute(const http::ServerRequest& request, std::string_view path) const;

 private:
  Services services_;
  std::string public_url_;
};

}  // namespace millrace::api
