#include "api/routes/meta.h"

#include "api/call.h"
#include "api/docs_page.h"
#include "api/wire_time.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::chrono::seconds kStreamTicketTtl{300};

Task<Reply> document(ApiDocumentsPtr documents) { co_return Reply::json_text(documents->openapi); }

Task<Reply> page(ApiDocumentsPtr documents) {
  Reply reply{.content_type = "text/html; charset=utf-8", .body = documents->page};
  // Nothing on it is loaded or runs.
  co_return std::move(reply).with("Content-Security-Policy",
                                  "default-src 'none'; style-src 'unsafe-inline'");
}

Operation openapi(ApiDocumentsPtr documents) {
  return {.id = "openapi",
          .method = "GET",
          .path = "/openapi.json",
          .tag = "About",
          .summary = "This document",
          .access = Access::open(),
          .answers = {{.status = 200,
                       .description = "OpenAPI 3.1.",
                       .schema = R"({"type":"object","required":["openapi","paths"]})"}},
          .conditional = true,
          .handler = [documents = std::move(documents)](Call&) { return document(documents); }};
}

Operation docs(ApiDocumentsPtr documents) {
  return {.id = "docs",
          .method = "GET",
          .path = "/docs",
          .tag = "About",
          .summary = "The API as a page",
          .access = Access::open(),
          .answers = {{.status = 200, .description = "HTML.", .content_type = "text/html"}},
          .conditional = true,
          .handler = [documents = std::move(documents)](Call&) { return page(documents); }};
}

Task<Reply> say_who(Call& call) {
  const auto& caller = call.caller;
  json::Array capabilities;
  for (const auto capability :
       {Capability::read, Capability::write, Capability::operate, Capability::administer,
        Capability::work, Capability::impersonate_tenant}) {
    if (caller.may(capability)) capabilities.emplace_back(to_string(capability));
  }
  json::Object out{{"role", to_string(caller.role)},
                   {"tenant_id", nullptr},
                   {"user_id", nullptr},
                   {"capabilities", std::move(capabilities)},
                   {"method", to_string(caller.method)},
                   {"expires_at", nullptr}};
  if (caller.tenant) out["tenant_id"] = caller.tenant->to_string();
  if (caller.user) out["user_id"] = caller.user->to_string();
  if (caller.expires_at) out["expires_at"] = wire_time(*caller.expires_at);
  co_return Reply::json(out);
}

Operation me() {
  return {.id = "me",
          .method = "GET",
          .path = "/api/v1/me",
          .tag = "Identity",
          .summary = "Who the credentials stand for",
          .access = Access::people(Capability::read),
          .answers = {{.status = 200, .description = "The caller.", .schema = "Me"}},
          .handler = say_who};
}

Task<Reply> make_stream_token(Call& call, const identity::TicketMaker& tickets,
                              const Clock& clock) {
  const auto path = *call.text("path");
  const std::chrono::seconds ttl(call.integer("ttl_seconds").value_or(kStreamTicketTtl.count()));
  auto expires_at = identity::instant_of(clock.wall()) + ttl;
  // A ticket does not outlive what it was made with.
  if (call.caller.expires_at) expires_at = std::min(expires_at, *call.caller.expires_at);
  MR_CO_TRY(const auto ticket, tickets.make_ticket(identity::StreamTicket{
                                   .resource = path,
                                   .holder = identity::holder_of(call.caller),
                                   .expires_at = expires_at,
                                   .holder_expires_at = call.caller.expires_at}));
  co_return Reply::json(json::Object{{"token", ticket.reveal()},
                                     {"url", fmt::format("{}?token={}", path, ticket.reveal())},
                                     {"expires_at", wire_time(expires_at)}},
                        201)
      .with("Cache-Control", "no-store");
}

Operation stream_token(const identity::TicketMaker& tickets, const Clock& clock) {
  return {.id = "stream_tokens.create",
          .method = "POST",
          .path = "/api/v1/stream-tokens",
          .tag = "Identity",
          .summary = "A token for one stream, to stand in its URL",
          .description =
              "EventSource can send no headers. The token opens the given path and nothing else, "
              "for minutes, with the caller's own view.",
          .access = Access::people(Capability::read),
          .body = RequestBody{.schema = "NewStreamToken"},
          .answers = {{.status = 201, .description = "The token.", .schema = "StreamToken"}},
          .handler = [&tickets, &clock](Call& call) {
            return make_stream_token(call, tickets, clock);
          }};
}

}  // namespace

std::vector<Operation> meta_operations(const identity::TicketMaker& tickets, const Clock& clock,
                                       ApiDocumentsPtr documents) {
  std::vector<Operation> out;
  out.push_back(openapi(documents));
  out.push_back(docs(std::move(documents)));
  out.push_back(me());
  out.push_back(stream_token(tickets, clock));
  return out;
}

void fill_documents(ApiDocuments& documents, const OperationTable& table, const ApiInfo& info) {
  documents.openapi = to_json(make_openapi(table, info));
  documents.page = make_docs_page(table, info);
}

}  // namespace millrace::api
