#include "api/health.h"

#include "api/wire_time.h"
#include "base/both.h"
#include "base/either.h"

#include <boost/json/object.hpp>

#include <utility>
#include <variant>

namespace millrace::api {
namespace {

using namespace either;

constexpr std::chrono::milliseconds kReportAge{1000};

}  // namespace

Health::Health(Clock& clock, std::string version, std::vector<HealthCheck> checks)
    : clock_(clock),
      version_(std::move(version)),
      checks_(std::move(checks)),
      reports_(clock, {.ttl = kReportAge, .entries_max = 2},
               [this](Which which) { return examine(which); }) {}

Task<Health::Report> Health::examine(Which which) {
  std::vector<Asked> asked;
  for (const auto& check : checks_) {
    if (which == Which::all || check.essential) asked.push_back({.check = &check});
  }
  co_await ask_all(asked);
  Report report;
  for (auto& [check, good, entry] : asked) {
    report.checks[check->name] = std::move(entry);
    if (good) continue;
    report.all_ok = false;
    if (check->essential) report.essential_ok = false;
  }
  co_return report;
}

awaitable<void> Health::ask_all(std::span<Asked> asked) {
  if (asked.empty()) co_return;
  co_await both(ask(asked.front()), ask_all(asked.subspan(1)));
}

awaitable<void> Health::ask(Asked& asked) {
  const auto began = clock_.now();
  auto ended = co_await (asked.check->run() || clock_.sleep_for(asked.check->time_max));
  Result<CheckResult> result = fail(ErrorKind::unavailable, "no answer in time");
  if (ended.index() == 0) result = std::get<0>(std::move(ended));
  asked.good = result.has_value() && result->ok;
  asked.entry["status"] = asked.good ? "ok" : "failed";
  asked.entry["ms"] = std::chrono::duration<double, std::milli>(clock_.now() - began).count();
  // Its class and nothing else: messages name hosts, paths and users.
  if (!result) asked.entry["error"] = to_string(result.error().kind);
  if (result && result->value) asked.entry["value"] = *result->value;
}

Task<Reply> Health::livez() const {
  co_return Reply::json_text(R"({"answer":"alive"})").with("Cache-Control", "no-store");
}

Task<Reply> Health::readyz() {
  bool ready = !draining_;
  if (ready) {
    MR_CO_TRY(const auto report, co_await reports_.get(Which::essential));
    ready = report.essential_ok;
  }
  const auto* text = ready       ? R"({"answer":"ready"})"
                     : draining_ ? R"({"answer":"draining"})"
                                 : R"({"answer":"not ready"})";
  co_return Reply::json_text(text, ready ? 200 : 503).with("Cache-Control", "no-store");
}

Task<Reply> Health::health() {
  MR_CO_TRY(auto report, co_await reports_.get(Which::all));
  const auto* status = !report.essential_ok ? "unavailable"
                       : report.all_ok      ? "healthy"
                                            : "degraded";
  json::Object body{{"status", status},
                    {"timestamp", wire_time(clock_.wall())},
                    {"version", version_},
                    {"checks", std::move(report.checks)}};
  co_return Reply::json(body, report.essential_ok ? 200 : 503).with("Cache-Control", "no-store");
}

std::vector<Operation> Health::operations() {
  std::vector<Operation> out;
  out.push_back({.id = "livez",
                 .method = "GET",
                 .path = "/livez",
                 .tag = "Operation",
                 .summary = "Whether this process runs",
                 .access = Access::open(),
                 .answers = {{.status = 200, .description = "It does.", .schema = "Done"}},
                 .handler = [this](Call&) { return livez(); }});
  out.push_back({.id = "readyz",
                 .method = "GET",
                 .path = "/readyz",
                 .tag = "Operation",
                 .summary = "Whether requests should be sent here",
                 .access = Access::open(),
                 .answers = {{.status = 200, .description = "They should.", .schema = "Done"},
                             {.status = 503,
                              .description = "The database is away, or the server drains.",
                              .schema = "Done"}},
                 .handler = [this](Call&) { return readyz(); }});
  out.push_back(
      {.id = "health",
       .method = "GET",
       .path = "/health",
       .tag = "Operation",
       .summary = "How the parts are",
       .access = Access::open(),
       .answers = {{.status = 200, .description = "Healthy or degraded.", .schema = "Health"},
                   {.status = 503, .description = "The database is away.", .schema = "Health"}},
       .handler = [this](Call&) { return health(); }});
  return out;
}

}  // namespace millrace::api
