#include "store/settlement_json.h"

#include "base/json.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>

namespace millrace::store {
namespace {

void add_raw(std::string& out, std::string_view name, const std::string& json) {
  if (json.empty()) return;
  out += ",\"";
  out += name;
  out += "\":";
  out += json;
}

void add_settlement(std::string& out, const Settlement& settlement) {
  const auto& outcome = settlement.outcome;
  fmt::format_to(std::back_inserter(out), R"({{"job_id":"{}","token":"{}","outcome":"{}")",
                 settlement.id, settlement.token, to_string(outcome.kind));
  add_raw(out, "result", outcome.result_json);
  add_raw(out, "error", outcome.error_json);
  if (outcome.retry_after) {
    add_raw(out, "retry_after_seconds",
            json_number(static_cast<double>(outcome.retry_after->count()) / 1000.0));
  }
  if (!outcome.provider.empty()) add_raw(out, "provider", json_quote(outcome.provider));
  if (outcome.actual_tokens) add_raw(out, "actual_tokens", std::to_string(*outcome.actual_tokens));
  add_raw(out, "parts", outcome.parts_json);
  if (outcome.crash) add_raw(out, "crash", "true");
  if (outcome.asked_nobody) add_raw(out, "asked", "false");
  add_raw(out, "effects", outcome.effects_json);
  out += '}';
}

template <class Items, class Add>
std::string array_of(const Items& items, Add add) {
  std::string out = "[";
  for (bool first = true; const auto& item : items) {
    if (!first) out += ',';
    first = false;
    add(out, item);
  }
  out += ']';
  return out;
}

}  // namespace

std::string settlements_json(std::span<const Settlement* const> settlements) {
  return array_of(settlements, [](std::string& out, const Settlement* settlement) {
    add_settlement(out, *settlement);
  });
}

std::string results_json(std::span<const Settlement* const> settlements) {
  bool any = false;
  auto out = array_of(settlements, [&any](std::string& text, const Settlement* settlement) {
    const auto& result = settlement->outcome.result_json;
    any = any || !result.empty();
    text += result.empty() ? "null" : result;
  });
  return any ? out : std::string();
}

std::string progress_json(std::span<const ProgressItem> items) {
  return array_of(items, [](std::string& out, const ProgressItem& item) {
    fmt::format_to(std::back_inserter(out), R"({{"job_id":"{}","token":"{}")", item.id, item.token);
    if (item.percent) add_raw(out, "progress", std::to_string(*item.percent));
    if (!item.message.empty()) add_raw(out, "message", json_quote(storable_text(item.message)));
    add_raw(out, "data", item.data_json);
    out += '}';
  });
}

std::string logs_json(std::span<const JobLogItem> items) {
  return array_of(items, [](std::string& out, const JobLogItem& item) {
    const auto at =
        std::chrono::duration_cast<std::chrono::milliseconds>(item.line.at.time_since_epoch());
    fmt::format_to(std::back_inserter(out),
                   R"({{"job_id":"{}","token":"{}","level":"{}","at_ms":{},"message":{}}})",
                   item.id, item.token, to_string(item.line.level), at.count(),
                   json_quote(storable_text(item.line.message)));
  });
}

std::string marks_json(const Marks& marks) {
  std::string out = "{";
  for (bool first = true; const auto& [group, mark] : marks) {
    if (!first) out += ',';
    first = false;
    out += json_quote(group);
    out += ':';
    out += std::to_string(mark);
  }
  out += '}';
  return out;
}

}  // namespace millrace::store
