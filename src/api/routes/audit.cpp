#include "api/routes/audit.h"

#include "api/call.h"
#include "api/cursor.h"
#include "api/page.h"
#include "api/raw_json.h"
#include "api/routes/handler_of.h"
#include "api/routes/path.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::EvidenceStore;

constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};
constexpr int kVerifiedMax = 10'000;  // Entries that one request looks at.

// "<id> <time>": the entry that the last page ended with.
Result<void> read_position(const PageRequest& page, store::AuditQuery& query) {
  if (!page.after) return ok();
  const auto blank = page.after->find(' ');
  const auto end = page.after->data() + std::min(blank, page.after->size());
  const auto [stopped, error] = std::from_chars(page.after->data(), end, query.before_id);
  if (blank == page.after->npos || error != std::errc{} || stopped != end) {
    return fail(ErrorKind::invalid_argument,
                "cursor must be the next_cursor of a page of this list");
  }
  query.before_at = page.after->substr(blank + 1);
  return ok();
}

Task<Reply> list_audit(Call& call, EvidenceStore& evidence) {
  MR_CO_TRY(const auto page, read_page(call, "audit", 100));
  store::AuditQuery query{.action = call.parameters.text("action"),
                          .table_name = call.parameters.text("table_name"),
                          .record_id = call.parameters.text("record_id"),
                          .limit = page.limit};
  if (const auto patient = call.parameters.text("patient_id")) {
    MR_CO_TRY(query.patient, Uuid::parse(*patient));
  }
  MR_CO_TRY_VOID(read_position(page, query));
  MR_CO_TRY(const auto text,
            co_await evidence.list_audit(call.context().by_server(), std::move(query)));
  MR_CO_TRY(const auto answer, parse_json_object(text, kAnswerLimits));
  std::optional<std::string> cursor;
  const auto* last_at = answer.if_contains("last_at");
  if (answer.at("more").as_bool() && last_at != nullptr && last_at->is_string()) {
    cursor = make_cursor("audit", fmt::format("{} {}", to_json(answer.at("last_id")),
                                              std::string_view(last_at->get_string())));
  }
  co_return page_reply(raw_member(text, "items").value_or("[]"), cursor);
}

Task<Reply> job_audit(Call& call, EvidenceStore& evidence, store::JobReader& jobs) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY(const auto rows, co_await evidence.job_audit(call.context().by_server(), id));
  if (rows == "[]") {
    // A job may be gone before its evidence, never the other way round: this one was never there.
    MR_CO_TRY_VOID(co_await jobs.job_status(call.context(), id));
  }
  co_return list_reply(rows);
}

// What happened to a job, for whoever may see it: without who did it and what rows held.
Task<Reply> job_history(Call& call, EvidenceStore& evidence, store::JobReader& jobs) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY_VOID(co_await jobs.job_status(call.context(), id));  // not_found for others' jobs.
  MR_CO_TRY(const auto rows, co_await evidence.job_audit(call.context().by_server(), id));
  MR_CO_TRY(const auto entries, parse_json(rows, kAnswerLimits));
  json::Array items;
  for (const auto& entry : entries.as_array()) {
    json::Object item;
    for (const std::string_view name : {"at", "action", "status", "worker_id", "reason"}) {
      if (const auto* value = entry.as_object().if_contains(name)) item[name] = *value;
    }
    items.push_back(std::move(item));
  }
  co_return list_reply(to_json(items));
}

Task<Reply> verify_audit(Call& call, EvidenceStore& evidence) {
  MR_CO_TRY(auto page, read_page(call, "verify", kVerifiedMax));
  MR_CO_TRY(const auto text, co_await evidence.verify_audit(call.context().by_server(),
                                                            std::move(page.after), page.limit));
  MR_CO_TRY(const auto answer, parse_json_object(text, kAnswerLimits));
  std::optional<std::string> cursor;
  if (const auto& next = answer.at("next"); next.is_object()) {
    cursor = make_cursor("verify", to_json(next));
  }
  co_return page_reply(to_json(answer.at("problems")), cursor);
}

Reply logged(std::string effect) { return Reply::json_text(std::move(effect), 201); }

Task<Reply> log_event(Call& call, EvidenceStore& evidence) {
  store::NewAuditEntry entry{.table_name = *call.text("table_name"),
                             .record_id = *call.text("record_id"),
                             .operation = *call.text("operation"),
                             .old_values_json = call.json("old_values"),
                             .new_values_json = call.json("new_values"),
                             .reason = call.text("reason"),
                             .category = call.text("category").value_or("system")};
  if (const auto patient = call.text("patient_id")) {
    MR_CO_TRY(entry.patient, Uuid::parse(*patient));
  }
  MR_CO_TRY(auto effect,
            co_await evidence.log_audit_event(call.context(), std::move(entry), call.request_key));
  co_return logged(std::move(effect));
}

Parameter filter(std::string name, std::string description) {
  return {.name = std::move(name),
          .description = std::move(description),
          .schema = R"({"type":"string","minLength":1,"maxLength":200})"};
}

}  // namespace

std::vector<Operation> audit_operations(EvidenceStore& evidence, store::JobReader& jobs) {
  const auto read = Access::service(Capability::read);
  std::vector<Operation> out;
  out.push_back({.id = "audit.list",
                 .method = "GET",
                 .path = "/api/v1/audit",
                 .tag = "Audit",
                 .summary = "Who did what, newest first",
                 .access = read,
                 .parameters = {limit_parameter(1000, 100),
                                cursor_parameter(),
                                filter("action", "Only this action."),
                                filter("table_name", "Only of this table."),
                                filter("record_id", "Only of this record."),
                                {.name = "patient_id",
                                 .description = "Only of this patient.",
                                 .schema = R"({"type":"string","format":"uuid"})"}},
                 .answers = {{.status = 200, .description = "A page.", .schema = "AuditPage"}},
                 .handler = handler_of(list_audit, evidence)});
  out.push_back(
      {.id = "jobs.audit",
       .method = "GET",
       .path = "/api/v1/jobs/{id}/audit",
       .tag = "Audit",
       .summary = "The whole history of a job, oldest first",
       .access = read,
       .parameters = {id_parameter("The job.")},
       .answers = {{.status = 200, .description = "It.", .schema = "AuditTrail"}},
       .handler = [&evidence, &jobs](Call& call) { return job_audit(call, evidence, jobs); }});
  out.push_back(
      {.id = "jobs.history",
       .method = "GET",
       .path = "/api/v1/jobs/{id}/history",
       .tag = "Jobs",
       .summary = "What happened to a job so far, oldest first",
       .access = Access::people(Capability::read),
       .parameters = {id_parameter("The job.")},
       .answers = {{.status = 200, .description = "It.", .schema = "JobHistory"}},
       .conditional = true,
       .handler = [&evidence, &jobs](Call& call) { return job_history(call, evidence, jobs); }});
  out.push_back({.id = "audit.verify",
                 .method = "GET",
                 .path = "/api/v1/audit/verify",
                 .tag = "Audit",
                 .summary = "Whether the chain of hashes is whole",
                 .description = "What is wrong with it, entry by entry; nothing is good. One "
                                "request looks at a part: it is whole when the pages have come to "
                                "an end and none had an item.",
                 .access = read,
                 .parameters = {{.name = "limit",
                                 .description = "How many entries to look at; 10000 unless said.",
                                 .schema = R"({"type":"integer","minimum":1,"maximum":10000})"},
                                cursor_parameter()},
                 .answers = {{.status = 200, .description = "A page.", .schema = "AuditProof"}},
                 .handler = handler_of(verify_audit, evidence)});
  out.push_back(
      {.id = "audit.log",
       .method = "POST",
       .path = "/api/v1/audit",
       .tag = "Audit",
       .summary = "Add an entry of one's own",
       .access = Access::service(Capability::write),
       .body = RequestBody{.schema = "NewAuditEntry"},
       .answers = {{.status = 201, .description = "Its number.", .schema = "AuditLogged"}},
       .idempotency_key = true,
       .replay = logged,
       .handler = handler_of(log_event, evidence)});
  return out;
}

}  // namespace millrace::api
