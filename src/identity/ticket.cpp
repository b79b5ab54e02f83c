#include "identity/ticket.h"

#include "base/json.h"
#include "identity/base64url.h"
#include "identity/digest.h"
#include "identity/refusal.h"
#include "identity/verify_key.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace millrace::identity {
namespace {

constexpr std::string_view kSalt = "millrace ticket";
constexpr std::string_view kStreamPrefix = "mrs1_";
constexpr std::string_view kUrlPrefix = "mru1_";

std::unexpected<Error> malformed() {
  return refuse(Refusal::malformed, "this is not a ticket for this purpose");
}

Secret<std::string> derive(const Secret<std::string>& secret, std::string_view purpose) {
  return Secret(hkdf_sha256({.secret = secret.reveal(), .salt = kSalt, .info = purpose},
                            std::tuple_size_v<Digest>));
}

// One name per field: short, because tickets stand in URLs.
json::Object write_holder(const TicketHolder& holder) {
  json::Object fields;
  fields["o"] = std::string(to_string(holder.role));
  if (holder.tenant) fields["t"] = holder.tenant->to_string();
  if (!holder.subject.empty()) fields["s"] = holder.subject;
  if (!holder.token_id.empty()) fields["j"] = holder.token_id;
  return fields;
}

std::optional<std::string> text_of(const json::Object& fields, std::string_view name) {
  const auto* value = fields.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

Result<TicketHolder> read_holder(const json::Object& fields) {
  const auto role = parse_role(text_of(fields, "o").value_or(""));
  if (!role) return malformed();
  TicketHolder holder{.role = *role,
                      .subject = text_of(fields, "s").value_or(""),
                      .token_id = text_of(fields, "j").value_or("")};
  if (const auto text = text_of(fields, "t")) {
    const auto tenant = TenantId::parse(*text);
    if (!tenant) return malformed();
    holder.tenant = *tenant;
  }
  return holder;
}

Result<Instant> read_expiry(const json::Object& fields, Instant now) {
  const auto* value = fields.if_contains("e");
  const auto* milliseconds = value == nullptr ? nullptr : value->if_int64();
  if (milliseconds == nullptr) return malformed();
  const Instant expires_at{std::chrono::milliseconds(*milliseconds)};
  if (now >= expires_at) return refuse(Refusal::expired, "the ticket has expired");
  return expires_at;
}

Result<void> check_ticket(std::string_view resource, Instant expires_at, Instant now,
                          std::chrono::seconds ttl_max) {
  if (resource.empty() || resource.size() > kTicketResourceMaxBytes) {
    return invalid(
        fmt::format("a ticket is for a resource of 1 to {} bytes", kTicketResourceMaxBytes));
  }
  if (expires_at <= now || expires_at > now + ttl_max) {
    return invalid(fmt::format("a ticket of this kind lives up to {} seconds", ttl_max.count()));
  }
  return ok();
}

Result<Secret<std::string>> seal(std::string_view prefix, const Secret<std::string>& key,
                                 const json::Object& fields) {
  std::string text = std::string(prefix) + base64url_encode(to_json(fields));
  const auto mac = hmac_sha256(key.reveal(), text);
  text += "." + base64url_encode(bytes_of(mac));
  if (text.size() > kTicketMaxBytes) return invalid("the ticket would be too long for a URL");
  return Secret(std::move(text));
}

// The fields of a ticket that one of `keys` signed.
Result<json::Object> unseal(std::string_view text, std::string_view prefix,
                            std::span<const std::string_view> keys) {
  if (text.size() > kTicketMaxBytes || !text.starts_with(prefix)) return malformed();
  const auto dot = text.find('.');
  if (dot == text.npos) return malformed();
  const auto sealed = text.substr(0, dot);
  const auto payload = base64url_decode(sealed.substr(prefix.size()));
  const auto mac = base64url_decode(text.substr(dot + 1));
  if (!payload || !mac) return malformed();
  const bool ours = std::ranges::any_of(keys, [&](std::string_view key) {
    return equal_in_constant_time(bytes_of(hmac_sha256(key, sealed)), *mac);
  });
  if (!ours) return refuse(Refusal::bad_signature, "the ticket was altered or is not from here");
  auto fields = parse_json_object(*payload, {.max_bytes = kTicketMaxBytes, .max_depth = 2});
  if (!fields) return malformed();
  return *std::move(fields);
}

Caller caller_of(const TicketHolder& holder, std::optional<Instant> expires_at, AuthMethod method,
                 Capability only) {
  Caller caller{.role = holder.role,
                .tenant = holder.tenant,
                .subject = holder.subject,
                .token_id = holder.token_id,
                .scopes = {std::string(to_string(only))},
                .capabilities = CapabilitySet{only},
                .expires_at = expires_at,
                .method = method};
  if (const auto user = UserId::parse(holder.subject)) caller.user = *user;
  caller.claims = claims_of(caller);
  return caller;
}

}  // namespace

std::string_view to_string(UrlOperation operation) {
  return operation == UrlOperation::download ? "download" : "upload";
}

TicketHolder holder_of(const Caller& caller) {
  return {.role = caller.role,
          .tenant = caller.tenant,
          .subject = caller.subject,
          .token_id = caller.token_id};
}

Caller StreamTicket::caller() const {
  return caller_of(holder, holder_expires_at, AuthMethod::stream_ticket, Capability::read);
}

Caller UrlTicket::caller() const {
  const bool reads = operation == UrlOperation::download;
  return caller_of(holder, expires_at, AuthMethod::url_ticket,
                   reads ? Capability::read : Capability::write);
}

Result<TicketMaker> TicketMaker::make(const std::vector<Secret<std::string>>& secrets,
                                      const Clock& clock) {
  if (secrets.empty()) return invalid("tickets need a signing secret");
  std::vector<Keys> keys;
  for (const auto& secret : secrets) {
    MR_TRY_VOID(check_secret(secret));
    keys.push_back({.stream = derive(secret, "stream v1"), .url = derive(secret, "url v1")});
  }
  return TicketMaker(std::move(keys), clock);
}

TicketMaker::TicketMaker(std::vector<Keys> keys, const Clock& clock)
    : keys_(std::move(keys)), clock_(&clock) {}

Result<Secret<std::string>> TicketMaker::make_ticket(const StreamTicket& ticket) const {
  MR_TRY_VOID(check_ticket(ticket.resource, ticket.expires_at, instant_of(clock_->wall()),
                           kStreamTicketTtlMax));
  auto fields = write_holder(ticket.holder);
  fields["r"] = ticket.resource;
  fields["e"] = ticket.expires_at.time_since_epoch().count();
  if (ticket.holder_expires_at) fields["h"] = ticket.holder_expires_at->time_since_epoch().count();
  return seal(kStreamPrefix, keys_.front().stream, fields);
}

Result<Secret<std::string>> TicketMaker::make_ticket(const UrlTicket& ticket) const {
  MR_TRY_VOID(check_ticket(ticket.resource, ticket.expires_at, instant_of(clock_->wall()),
                           kUrlTicketTtlMax));
  auto fields = write_holder(ticket.holder);
  fields["r"] = ticket.resource;
  fields["e"] = ticket.expires_at.time_since_epoch().count();
  fields["a"] = std::string(to_string(ticket.operation));
  if (ticket.may_replace) fields["w"] = true;
  if (!ticket.file_name.empty()) fields["n"] = ticket.file_name;
  return seal(kUrlPrefix, keys_.front().url, fields);
}

Result<StreamTicket> TicketMaker::open_stream_ticket(std::string_view text,
                                                     std::string_view resource) const {
  std::vector<std::string_view> keys;
  for (const auto& key : keys_) keys.emplace_back(key.stream.reveal());
  MR_TRY(const auto fields, unseal(text, kStreamPrefix, keys));
  StreamTicket ticket;
  MR_TRY(ticket.expires_at, read_expiry(fields, instant_of(clock_->wall())));
  MR_TRY(ticket.holder, read_holder(fields));
  if (const auto* until = fields.if_contains("h")) {
    const auto* milliseconds = until->if_int64();
    if (milliseconds == nullptr) return malformed();
    ticket.holder_expires_at = Instant(std::chrono::milliseconds(*milliseconds));
  }
  ticket.resource = text_of(fields, "r").value_or("");
  if (ticket.resource != resource) {
    return refuse(Refusal::wrong_resource, "the ticket is for another stream");
  }
  return ticket;
}

Result<UrlTicket> TicketMaker::open_url_ticket(std::string_view text, UrlOperation operation,
                                               std::string_view resource) const {
  std::vector<std::string_view> keys;
  for (const auto& key : keys_) keys.emplace_back(key.url.reveal());
  MR_TRY(const auto fields, unseal(text, kUrlPrefix, keys));
  UrlTicket ticket{.operation = operation};
  MR_TRY(ticket.expires_at, read_expiry(fields, instant_of(clock_->wall())));
  MR_TRY(ticket.holder, read_holder(fields));
  ticket.resource = text_of(fields, "r").value_or("");
  if (ticket.resource != resource || text_of(fields, "a") != to_string(operation)) {
    return refuse(Refusal::wrong_resource, "the ticket is for another object or operation");
  }
  const auto* replace = fields.if_contains("w");
  ticket.may_replace = replace != nullptr && replace->is_bool() && replace->get_bool();
  ticket.file_name = text_of(fields, "n").value_or("");
  return ticket;
}

}  // namespace millrace::identity
