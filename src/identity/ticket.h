// Tickets: short-lived tokens that stand in a URL, where no header can be sent.
//
// StreamTicket: an EventSource may read one stream. UrlTicket: whoever has the link may download,
// or upload, one object. A ticket is bound to its purpose, one resource, the tenant and the caller
// it was made for; each purpose has a key of its own (HKDF), so a ticket of one kind is nothing in
// the place of another, and no ticket is a JWT. It cannot be widened: whatever is not in it is not
// allowed by it. Tickets are made when they are needed and never stored or logged (defect I11).
//
// Form: "mrs1_<payload>.<mac>" or "mru1_<payload>.<mac>", base64url, safe in a query.
// Threading: any. Lifetime: the clock outlives the TicketMaker.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "identity/caller.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::identity {

inline constexpr std::size_t kTicketMaxBytes = 8 * 1024;
inline constexpr std::size_t kTicketResourceMaxBytes = 2 * 1024;
inline constexpr std::chrono::seconds kStreamTicketTtlMax{3600};
inline constexpr std::chrono::seconds kUrlTicketTtlMax = std::chrono::days(7);

// For whom a ticket was made; what a route needs to act in that caller's name.
struct TicketHolder {
  Role role = Role::anon;
  std::optional<TenantId> tenant;
  std::string subject;
  std::string token_id;  // Of the token it was made with: revoking that one ends the ticket.

  friend bool operator==(const TicketHolder&, const TicketHolder&) = default;
};

struct StreamTicket {
  std::string resource;  // "jobs/<id>"
  TicketHolder holder;
  Instant expires_at;  // Until then it opens the stream.
  // When what it was made with expires, and so the stream ends; nothing: not by that.
  std::optional<Instant> holder_expires_at = {};

  Caller caller() const;  // May read and nothing else, until holder_expires_at.
};

enum class UrlOperation { download, upload };

std::string_view to_string(UrlOperation operation);

struct UrlTicket {
  UrlOperation operation = UrlOperation::download;
  std::string resource;      // "<bucket>/<path>"
  bool may_replace = false;  // An upload may overwrite what is there.
  TicketHolder holder;
  Instant expires_at;
  std::string file_name = {};  // What a download is to be called; empty: as it lies there.

  Caller caller() const;  // May read, or write, and nothing else.
};

TicketHolder holder_of(const Caller& caller);

class TicketMaker {
 public:
  // The first secret signs, all are accepted. invalid_argument for none, or a weak one.
  static Result<TicketMaker> make(const std::vector<Secret<std::string>>& secrets,
                                  const Clock& clock);

  // expires_at must be ahead, by no more than the kind's ttl. invalid_argument otherwise, or for a
  // resource that is empty or too long.
  Result<Secret<std::string>> make_ticket(const StreamTicket& ticket) const;
  Result<Secret<std::string>> make_ticket(const UrlTicket& ticket) const;

  // Refusals: malformed, bad_signature, expired, wrong_resource. No leeway: our clock made it.
  Result<StreamTicket> open_stream_ticket(std::string_view text, std::string_view resource) const;
  Result<UrlTicket> open_url_ticket(std::string_view text, UrlOperation operation,
                                    std::string_view resource) const;

 private:
  struct Keys {
    Secret<std::string> stream;
    Secret<std::string> url;
  };
  TicketMaker(std::vector<Keys> keys, const Clock& clock);

  std::vector<Keys> keys_;
  const Clock* clock_;
};

}  // namespace millrace::identity
