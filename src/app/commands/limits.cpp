#include "api/routes/documents.h"
#include "app/commands/commands.h"
#include "app/commands/document_desk.h"
#include "app/commands/job_spec.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

struct Name {
  std::string provider;
  std::string endpoint;
};

// "openai/gpt-4o-mini", the way limits list shows it.
Result<Name> parse_name(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == text.npos || slash == 0 || slash + 1 == text.size()) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = fmt::format("'{}' is not PROVIDER/ENDPOINT", text),
                      .hint = "see 'millrace limits list'"});
  }
  return Name{text.substr(0, slash), text.substr(slash + 1)};
}

// "12 / 500", the used part of a limit; without a limit only what is used.
std::function<Cell(const json::Value&, const json::Object&)> share(const char* limit_key) {
  return [limit_key](const json::Value& used, const json::Object& row) -> Cell {
    const auto* limit = member(row, limit_key);
    const auto used_text = used.is_int64() ? group_digits(used.as_int64()) : std::string("0");
    if (limit == nullptr || limit->is_null()) return used_text;
    const bool full = used.is_int64() && limit->is_int64() && used.as_int64() >= limit->as_int64();
    return {fmt::format("{} / {}", used_text, group_digits(int_member(row, limit_key))),
            full ? Style::yellow : Style::plain};
  };
}

Cell show_name(const json::Value&, const json::Object& row) {
  return text_member(row, "provider_name") + "/" + text_member(row, "api_endpoint");
}

Cell show_state(const json::Value& value, const json::Object& row) {
  const auto status = value.is_string() ? std::string(value.as_string()) : "active";
  if (status != "active") return {status, Style::yellow};
  const auto breaker = text_member(row, "breaker_state");
  if (breaker == "open" || breaker == "half_open") return {"breaker " + breaker, Style::red};
  if (!text_member(row, "throttled_until").empty()) return {"throttled", Style::yellow};
  return {"active", Style::green};
}

Result<int> run_list(Context& context) {
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto rows, store.list_limits());
  print_rows(
      context, rows,
      {{"LIMIT", "provider_name", false, show_name},
       {"STATE", "status", false, show_state},
       {"REQUESTS/MIN", "used_requests_minute", true, share("effective_requests_per_minute")},
       {"REQUESTS/HOUR", "used_requests_hour", true, share("effective_requests_per_hour")},
       {"TOKENS/MIN", "used_tokens_minute", true, share("effective_tokens_per_minute")},
       {"TOKENS/HOUR", "used_tokens_hour", true, share("effective_tokens_per_hour")},
       {"AT ONCE", "active_slots", true, share("effective_concurrent_requests")},
       {"WAITING", "waiting_jobs", true, show_count},
       {"OVERRIDE", "override_reason"}},
      "no limits");
  return kExitOk;
}

constexpr const char* kValues =
    "Values: requests_per_minute requests_per_hour tokens_per_minute tokens_per_hour\n"
    "  concurrent_requests status (active, disabled, maintenance); null or -1 is unlimited";

void add_set(Command& limits) {
  auto name = std::make_shared<std::string>();
  auto pairs = std::make_shared<std::vector<std::string>>();
  auto& command = limits.add("set", "Create a limit or change its configured values");
  command.argument("PROVIDER/ENDPOINT", *name, "Limit");
  command.argument("KEY=VALUE", *pairs, "Values");
  command.footer(kValues);
  command.action([name, pairs](Context& context) -> Result<int> {
    MR_TRY(const auto limit, parse_name(*name));
    MR_TRY(const auto values, parse_assignments(*pairs));
    MR_TRY(auto store, context.connect());
    MR_TRY_VOID(store.set_limit(limit.provider, limit.endpoint, values));
    context.note(fmt::format("limit {} is set", *name));
    return kExitOk;
  });
}

void add_override(Command& limits) {
  auto name = std::make_shared<std::string>();
  auto pairs = std::make_shared<std::vector<std::string>>();
  auto reason = std::make_shared<std::string>("set by an operator");
  auto ttl = std::make_shared<std::optional<std::string>>();
  auto& command = limits.add("override", "Replace values for a while; no deploy resets them");
  command.argument("PROVIDER/ENDPOINT", *name, "Limit");
  command.argument("KEY=VALUE", *pairs, "Values");
  command.option("--reason", "TEXT", *reason, "For people and the audit");
  command.option("--for", "TIME", *ttl, "Until this time has passed, such as 2h");
  command.footer(kValues);
  command.action([name, pairs, reason, ttl](Context& context) -> Result<int> {
    MR_TRY(const auto limit, parse_name(*name));
    MR_TRY(const auto values, parse_assignments(*pairs));
    std::optional<std::chrono::milliseconds> time;
    if (*ttl) {
      auto parsed = parse_duration(**ttl);
      if (!parsed) return fail_with_context("--for", parsed.error());
      time = *parsed;
    }
    MR_TRY(auto store, context.connect());
    MR_TRY_VOID(store.override_limit(limit.provider, limit.endpoint, values, *reason, time));
    context.note(fmt::format("limit {} is overridden{}", *name,
                             time ? " for " + format_duration(*time) : std::string()));
    return kExitOk;
  });
}

void add_clear(Command& limits) {
  auto name = std::make_shared<std::string>();
  auto breaker = std::make_shared<bool>(false);
  auto& command = limits.add("clear", "Take an override away, or close a circuit breaker");
  command.argument("PROVIDER/ENDPOINT", *name, "Limit");
  command.flag("--breaker", *breaker, "Close its circuit breaker instead");
  command.action([name, breaker](Context& context) -> Result<int> {
    MR_TRY(const auto limit, parse_name(*name));
    MR_TRY(auto store, context.connect());
    if (*breaker) {
      MR_TRY_VOID(store.reset_breaker(limit.provider, limit.endpoint));
    } else {
      MR_TRY_VOID(store.clear_override(limit.provider, limit.endpoint));
    }
    context.note(fmt::format("{} of {} cleared", *breaker ? "breaker" : "override", *name));
    return kExitOk;
  });
}

Cell show_amount(const json::Value& value, const json::Object&) {
  if (!value.is_int64()) return show_value(value);
  const auto micros = value.as_int64();
  // Cents, and what is smaller only where there is such.
  auto text = fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000);
  while (text.ends_with('0') && text[text.size() - 3] != '.') text.pop_back();
  return {text, micros == 0 ? Style::dim : Style::plain};
}

void add_budget(Command& limits) {
  auto provider = std::make_shared<std::string>();
  auto amount = std::make_shared<std::string>();
  auto& command = limits.add("budget", "What the tenant may spend on a provider in a day (UTC)");
  command.argument("PROVIDER", *provider, "Provider, such as openai");
  command.option("--per-day", "AMOUNT", *amount,
                 "In the currency of prices, such as 5.00; none: the general budget again");
  command.action([provider, amount](Context& context) -> Result<int> {
    if (amount->empty()) return fail(ErrorKind::invalid_argument, "--per-day is required");
    std::optional<std::int64_t> micros;
    if (*amount != "none") {
      auto parsed = api::parse_amount(*amount);
      if (!parsed) return fail_with_context("--per-day", parsed.error());
      micros = *parsed;
    }
    MR_TRY(auto desk, DocumentDesk::open(context));
    MR_TRY_VOID(desk->set_budget(*provider, micros));
    context.note(fmt::format("the budget of {} is {}", *provider,
                             micros ? *amount + " a day" : std::string("the general one")));
    return kExitOk;
  });
}

void add_spend(Command& limits) {
  auto days = std::make_shared<std::int64_t>(7);
  auto& command = limits.add("spend", "What providers cost, by day (UTC)");
  command.option("--days", "N", *days, "So many, with today (default 7)");
  command.action([days](Context& context) -> Result<int> {
    if (*days < 1 || *days > 366) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--days: {} is not between 1 and 366", *days));
    }
    MR_TRY(auto desk, DocumentDesk::open(context));
    MR_TRY(const auto rows, desk->spend(static_cast<int>(*days)));
    print_rows(context, rows,
               {{"DAY", "day"},
                {"PROVIDER", "provider"},
                {"CALLS", "calls", true, show_count},
                {"SPENT", "spent_micros", true, show_amount},
                {"RESERVED", "reserved_micros", true, show_amount},
                {"BUDGET", "budget_micros", true, show_amount},
                {"TENANT", "tenant_id"}},
               "nothing was spent");
    return kExitOk;
  });
}

}  // namespace

void add_limits_commands(Command& root) {
  auto& limits = root.add("limits", "Limits of outside providers").group("Operation");
  limits.add("list", "Limits, what is used of them, and their circuit breakers").action(run_list);
  add_set(limits);
  add_override(limits);
  add_clear(limits);
  add_budget(limits);
  add_spend(limits);
}

}  // namespace millrace::app
