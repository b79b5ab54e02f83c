// What is quarantined, and what providers cost: for those who run the engine, or a tenant of it.
#include "api/call.h"
#include "api/page.h"
#include "api/routes/documents.h"
#include "api/routes/path.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::size_t kWholeDigitsMax = 9;
constexpr std::size_t kFractionDigitsMax = 6;
constexpr int kDaysUsual = 7;
constexpr int kQuarantineUsual = 100;

bool are_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

Task<Reply> list_quarantine(Call& call, DocumentServices services) {
  const auto limit = call.parameters.integer("limit").value_or(kQuarantineUsual);
  MR_CO_TRY(const auto rows,
            co_await services.documents.list_quarantine(call.context(), static_cast<int>(limit)));
  co_return list_reply(rows);
}

Task<Reply> release(Call& call, DocumentServices services) {
  const auto sha256 = call.parameters.required("sha256");
  MR_CO_TRY(const auto tenants,
            co_await services.documents.release_quarantine(call.context(), sha256));
  if (tenants == 0) {
    co_return fail(ErrorKind::not_found,
                   fmt::format("no content with the digest {} is quarantined", sha256));
  }
  co_return Reply::json(json::Object{{"sha256", sha256}, {"tenants", tenants}});
}

Task<Reply> list_spend(Call& call, DocumentServices services) {
  const auto days = call.parameters.integer("days").value_or(kDaysUsual);
  MR_CO_TRY(const auto rows,
            co_await services.documents.list_spend(call.context(), static_cast<int>(days)));
  co_return list_reply(rows);
}

Task<Reply> set_budget(Call& call, DocumentServices services) {
  std::optional<std::int64_t> micros;
  if (const auto text = call.text("per_day")) {
    MR_CO_TRY(micros, parse_amount(*text));
  }
  MR_CO_TRY_VOID(co_await services.documents.set_budget(
      call.context(), call.parameters.required("provider"), micros));
  co_return Reply::empty();
}

using Verb = Task<Reply> (*)(Call& call, DocumentServices services);

OperationHandler verb_of(Verb verb, DocumentServices services) {
  return [verb, services](Call& call) { return verb(call, services); };
}

}  // namespace

Result<std::int64_t> parse_amount(std::string_view text) {
  const auto point = text.find('.');
  const auto whole = text.substr(0, point);
  const auto fraction = point == text.npos ? std::string_view() : text.substr(point + 1);
  const bool good = !whole.empty() && whole.size() <= kWholeDigitsMax && are_digits(whole) &&
                    are_digits(fraction) && fraction.size() <= kFractionDigitsMax &&
                    (point == text.npos || !fraction.empty());
  if (!good) {
    return fail(ErrorKind::invalid_argument,
                "an amount has one to nine digits, and up to six behind a point: 5.00");
  }
  std::int64_t micros = 0;
  for (const char c : whole) micros = micros * 10 + (c - '0');
  for (std::size_t i = 0; i < kFractionDigitsMax; ++i) {
    micros = micros * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  return micros;
}

std::vector<Operation> document_staff_operations(DocumentServices services) {
  std::vector<Operation> out;
  out.push_back({.id = "quarantine.list",
                 .method = "GET",
                 .path = "/api/v1/quarantine",
                 .tag = "Documents",
                 .summary = "Content that is not read any more, newest first",
                 .access = Access::service(Capability::read),
                 .parameters = {limit_parameter(1000, kQuarantineUsual)},
                 .answers = {{.status = 200, .description = "All.", .schema = "Quarantine"}},
                 .handler = verb_of(list_quarantine, services)});
  out.push_back({.id = "quarantine.release",
                 .method = "POST",
                 .path = "/api/v1/quarantine/{sha256}/release",
                 .tag = "Documents",
                 .summary = "Let quarantined content be read again",
                 .description = "What was given up for it is begun anew by documents.retry.",
                 .access = Access::service(Capability::operate),
                 .parameters = {{.in = In::path,
                                 .name = "sha256",
                                 .description = "Of the content, as the list has it.",
                                 .schema = R"({"type":"string","pattern":"^[0-9a-f]{64}$"})",
                                 .required = true}},
                 .answers = {{.status = 200, .description = "It may.", .schema = "Released"}},
                 .errors = {404},
                 .handler = verb_of(release, services)});
  out.push_back({.id = "spend.list",
                 .method = "GET",
                 .path = "/api/v1/spend",
                 .tag = "Limits",
                 .summary = "What providers cost, by day (UTC)",
                 .access = Access::service(Capability::read),
                 .parameters = {{.name = "days",
                                 .description = "How many, with today; 7 unless said.",
                                 .schema = R"({"type":"integer","minimum":1,"maximum":366})"}},
                 .answers = {{.status = 200, .description = "Newest first.", .schema = "Spend"}},
                 .handler = verb_of(list_spend, services)});
  out.push_back({.id = "budgets.set",
                 .method = "PUT",
                 .path = "/api/v1/budgets/{provider}",
                 .tag = "Limits",
                 .summary = "What the tenant may spend on a provider in a day (UTC)",
                 .access = Access::service(Capability::operate),
                 .parameters = {name_parameter("provider", "The provider.", 63)},
                 .body = RequestBody{.schema = "NewBudget"},
                 .answers = {{.status = 204, .description = "Done."}},
                 .handler = verb_of(set_budget, services)});
  return out;
}

}  // namespace millrace::api
