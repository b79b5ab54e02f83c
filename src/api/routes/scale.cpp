#include "api/routes/scale.h"

#include "api/call.h"
#include "api/routes/path.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::chrono::milliseconds kPageAge{1000};

std::string escape_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

// The one that a source has named stands as it is (O-03).
std::string name_of(std::string_view metric) {
  if (metric == "buffer_table_sizes") return std::string(metric);
  return fmt::format("millrace_{}", metric);
}

json::Object load_json(const store::QueueLoad& load) {
  json::Object out{{"demand", load.demand}, {"oldest_age_s", load.oldest_age_s}};
  out["drain_s"] = load.drain_s ? json::Value(*load.drain_s) : json::Value(nullptr);
  return out;
}

Task<Reply> scale(Call& call, store::HealthStore& health, std::optional<std::string> queue) {
  MR_CO_TRY(const auto loads, co_await health.queue_load(call.context().by_server(), queue));
  if (queue && loads.empty()) {
    co_return fail(ErrorKind::not_found, fmt::format("queue '{}' does not exist", *queue));
  }
  json::Object queues;
  for (const auto& load : loads) queues[load.queue] = load_json(load);
  co_return Reply::json(json::Object{{"queues", std::move(queues)}});
}

Task<Reply> health_details(store::HealthStore& health) {
  MR_CO_TRY(const auto counts, co_await health.health_counts());
  co_return Reply::json(json::Object{{"queue_depth", counts.queue_depth},
                                     {"workers", counts.workers},
                                     {"workers_silent", counts.workers_silent},
                                     {"keeper", counts.keeper},
                                     {"maintenance", counts.maintenance},
                                     {"enqueue_enabled", counts.enqueue_enabled},
                                     {"schema_version", counts.schema_version}});
}

}  // namespace

std::string render_samples(std::vector<store::MetricSample> samples) {
  std::ranges::sort(samples, [](const auto& a, const auto& b) {
    return std::tie(a.metric, a.label_value) < std::tie(b.metric, b.label_value);
  });
  std::string out;
  std::string_view family;
  for (const auto& sample : samples) {
    if (sample.metric != family) {
      family = sample.metric;
      const auto* type = family.ends_with("_total") ? "counter" : "gauge";
      out += fmt::format("# TYPE {} {}\n", name_of(family), type);
    }
    const auto labels = sample.label.empty() ? std::string()
                                             : fmt::format("{{{}=\"{}\"}}", sample.label,
                                                           escape_label(sample.label_value));
    out += fmt::format("{}{} {}\n", name_of(sample.metric), labels, json_number(sample.value));
  }
  return out;
}

MetricsPage::MetricsPage(MetricRegistry& registry, store::HealthStore& health, const Clock& clock,
                         std::function<void()> before)
    : registry_(registry),
      health_(health),
      before_(std::move(before)),
      up_(registry.family({.name = "millrace_database_up",
                           .help = "Whether the database answered for this page.",
                           .kind = MetricKind::gauge})),
      database_(clock, {.ttl = kPageAge, .entries_max = 1},
                [this](int) { return read_database(); }) {}

Task<std::string> MetricsPage::read_database() {
  MR_CO_TRY(auto samples, co_await health_.metrics_snapshot());
  co_return render_samples(std::move(samples));
}

// Without the database the page has what this process knows, and says that the rest is missing.
Task<Reply> MetricsPage::page() {
  const auto database = co_await database_.get(0);
  up_.gauge().set(database ? 1 : 0);
  if (before_) before_();
  Reply reply{.content_type = std::string(MetricRegistry::kContentType),
              .body = registry_.render() + (database ? *database : std::string())};
  co_return std::move(reply).with("Cache-Control", "no-store");
}

std::vector<Operation> MetricsPage::operations() {
  std::vector<Operation> out;
  out.push_back({.id = "metrics",
                 .method = "GET",
                 .path = "/metrics",
                 .tag = "Operation",
                 .summary = "Metrics, as Prometheus reads them",
                 .access = Access::open(),
                 .answers = {{.status = 200,
                              .description = "Text format 0.0.4.",
                              .content_type = "text/plain"}},
                 .handler = [this](Call&) { return page(); }});
  return out;
}

std::vector<Operation> scale_operations(store::HealthStore& health) {
  std::vector<Operation> out;
  out.push_back({.id = "scale.queue",
                 .method = "GET",
                 .path = "/v1/scale/{queue}",
                 .tag = "Operation",
                 .summary = "How much work a queue has, for scalers",
                 .access = Access::service(Capability::read),
                 .parameters = {name_parameter("queue", "The queue.", 63)},
                 .answers = {{.status = 200, .description = "One queue.", .schema = "Scale"}},
                 .rate_limited = false,
                 .handler = [&health](Call& call) {
                   return scale(call, health, call.parameters.required("queue"));
                 }});
  out.push_back({.id = "scale",
                 .method = "GET",
                 .path = "/api/v1/scale",
                 .tag = "Operation",
                 .summary = "How much work all queues have",
                 .access = Access::service(Capability::read),
                 .answers = {{.status = 200, .description = "All queues.", .schema = "Scale"}},
                 .rate_limited = false,
                 .handler = [&health](Call& call) { return scale(call, health, std::nullopt); }});
  // What /health does not tell everybody (K04).
  out.push_back({.id = "health_details",
                 .method = "GET",
                 .path = "/api/v1/health",
                 .tag = "Operation",
                 .summary = "How the installation is: keeper, workers, switches, schema",
                 .access = Access::staff(Capability::read),
                 .answers = {{.status = 200, .description = "Now.", .schema = "HealthDetails"}},
                 .rate_limited = false,
                 .handler = [&health](Call&) { return health_details(health); }});
  return out;
}

}  // namespace millrace::api
