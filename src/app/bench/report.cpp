#include "app/bench/report.h"

#include "app/bench/svg.h"
#include "app/exit_code.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::app {
namespace {

using Plots = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kSystems[] = {"millrace", "graphile-worker", "pg-boss",
                                    "pgmq",     "fastify",         "fastapi"};

const json::Object* object_at(const json::Object& parent, std::string_view key) {
  const auto* found = parent.if_contains(key);
  return found != nullptr && found->is_object() ? &found->as_object() : nullptr;
}

std::optional<double> number_at(const json::Object& parent, std::string_view key) {
  const auto* found = parent.if_contains(key);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

// One group per row of the results, one bar per system that has a figure in any of them.
BarChart systems_chart(const json::Object& results,
                       const std::vector<std::pair<std::string, std::string>>& rows) {
  BarChart chart;
  for (const char* system : kSystems) chart.series.push_back({.name = system, .values = {}});
  for (const auto& [key, label] : rows) {
    const auto* row = object_at(results, key);
    if (row == nullptr) continue;
    chart.groups.push_back(label);
    for (auto& series : chart.series) series.values.push_back(number_at(*row, series.name));
  }
  std::erase_if(chart.series, [](const BarSeries& series) {
    return std::ranges::none_of(series.values, [](const auto& value) { return value.has_value(); });
  });
  return chart;
}

void add_bars(Plots& plots, const std::string& name, BarChart chart) {
  if (chart.groups.empty() || chart.series.empty()) return;
  plots.emplace_back(name, draw(chart));
}

// Lines from an object of arrays: a value for every second.
void add_seconds(Plots& plots, const std::string& name, const json::Object& results,
                 const std::string& row, const std::string& title) {
  const auto* object = object_at(results, row);
  const auto* series = object == nullptr ? nullptr : object_at(*object, "series");
  if (series == nullptr) return;
  LineChart chart{.title = title, .x_label = "seconds", .y_label = "jobs/s", .series = {}};
  for (const auto& [who, values] : *series) {
    if (!values.is_array()) continue;
    LineSeries line{.name = std::string(who), .points = {}};
    double second = 1;
    for (const auto& value : values.as_array()) {
      if (value.is_number()) line.points.emplace_back(second, value.to_number<double>());
      second += 1;
    }
    if (!line.points.empty()) chart.series.push_back(std::move(line));
  }
  if (!chart.series.empty()) plots.emplace_back(name, draw(chart));
}

// A line from an object whose keys are numbers.
void add_numbers(Plots& plots, const std::string& name, const json::Object& results,
                 const std::string& row, const std::string& title, const std::string& x_label) {
  const auto* object = object_at(results, row);
  const auto* rates = object == nullptr ? nullptr : object_at(*object, "rates");
  if (rates == nullptr) return;
  LineSeries line{.name = "millrace", .points = {}};
  for (const auto& [key, value] : *rates) {
    double x = 0;
    const auto* end = key.data() + key.size();
    if (std::from_chars(key.data(), end, x).ptr != end || !value.is_number()) continue;
    line.points.emplace_back(x, value.to_number<double>());
  }
  std::ranges::sort(line.points);
  if (line.points.empty()) return;
  plots.emplace_back(name, draw(LineChart{.title = title,
                                          .x_label = x_label,
                                          .y_label = "jobs/s",
                                          .series = {line},
                                          .log_x = true}));
}

void add_latency(Plots& plots, const json::Object& results) {
  const auto* row = object_at(results, "latency");
  const auto* systems = row == nullptr ? nullptr : object_at(*row, "percentiles");
  if (systems == nullptr) return;
  BarChart chart{.title = "Pickup of a single job: commit to start of its handler",
                 .y_label = "milliseconds (logarithmic)",
                 .groups = {"p50", "p95", "p99", "p99.9"},
                 .series = {},
                 .log_y = true};
  for (const auto& [who, values] : *systems) {
    if (!values.is_object()) continue;
    BarSeries series{.name = std::string(who), .values = {}};
    for (const auto& group : chart.groups) {
      series.values.push_back(number_at(values.as_object(), group));
    }
    chart.series.push_back(std::move(series));
  }
  add_bars(plots, "latency", std::move(chart));
}

std::string shown(const json::Object& row, std::string_view key) {
  const auto value = number_at(row, key);
  if (!value) return "–";
  if (*value >= 1000) return group_digits(static_cast<long long>(*value));
  return fmt::format("{:.3g}", *value);
}

// Nothing where there is no goal; open where it was measured, but less than the goal asks for.
std::string verdict(const json::Object& row) {
  const auto* met = row.if_contains("met");
  if (met != nullptr && met->is_bool()) return met->as_bool() ? "reached" : "not reached";
  if (!number_at(row, "millrace")) return "not measured";
  return text_member(row, "goal_text") == "none" ? "" : "open";
}

std::string table_row(const std::string& name, const json::Object& row) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      escape_xml(name), escape_xml(text_member(row, "unit")), shown(row, "millrace"),
      shown(row, "graphile-worker"), shown(row, "pgmq"), escape_xml(text_member(row, "goal_text")),
      verdict(row));
}

std::string conditions_text(const json::Object& results) {
  const auto* conditions = object_at(results, "conditions");
  if (conditions == nullptr) return {};
  std::string out = "<p class=\"conditions\">";
  for (const auto& [key, value] : *conditions) {
    const auto text = value.is_string() ? std::string(value.as_string()) : to_json(value);
    out += fmt::format("{}: {}<br>\n", escape_xml(key), escape_xml(text));
  }
  return out + "</p>\n";
}

}  // namespace

Plots bench_plots(const json::Object& results) {
  Plots plots;
  auto throughput = systems_chart(results, {{"drain", "drain"}, {"sustained", "enqueue + run"}});
  throughput.title = "Jobs a second, end to end, durable";
  throughput.y_label = "jobs/s";
  add_bars(plots, "throughput", std::move(throughput));
  auto bulk = systems_chart(results, {{"enqueue_copy", "COPY"}, {"enqueue_array", "array call"}});
  bulk.title = "Bulk enqueue";
  bulk.y_label = "jobs/s";
  add_bars(plots, "bulk", std::move(bulk));
  auto single =
      systems_chart(results, {{"enqueue_single_1", "1 client"}, {"enqueue_single_8", "8 clients"}});
  single.title = "Single durable enqueue";
  single.y_label = "jobs/s";
  add_bars(plots, "single", std::move(single));
  auto http =
      systems_chart(results, {{"http_status", "status of a job"}, {"http_enqueue", "enqueue"}});
  http.title = "Over HTTP, with the load generator on the same cores";
  http.y_label = "requests/s";
  add_bars(plots, "http", std::move(http));
  add_latency(plots, results);
  add_numbers(plots, "processes", results, "processes", "Drain by worker processes",
              "worker processes");
  add_numbers(plots, "depth", results, "depth", "Drain of the head of a backlog",
              "jobs left behind");
  add_seconds(plots, "sustained", results, "sustained", "Producers and workers together");
  add_seconds(plots, "held", results, "held_snapshot", "With a snapshot held by another session");
  return plots;
}

std::string bench_page(const json::Object& results) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>Millrace bench</title>\n<style>body{font:15px sans-serif;max-width:820px;"
      "margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse}td,th{"
      "padding:.3em .7em;border-bottom:1px solid "
      "#ddd;text-align:left}td:not(:nth-child(6)):not(:nth-child(2)){white-space:nowrap}svg{max-"
      "width:100%;"
      "height:auto;margin:1em 0}.conditions{color:#555;font-size:13px}</style></head><body>\n"
      "<h1>Millrace bench</h1>\n";
  out +=
      "<table><tr><th>measure</th><th>unit</th><th>Millrace</th><th>graphile-worker</th>"
      "<th>pgmq</th><th>goal</th><th></th></tr>\n";
  for (const auto& [name, row] : results) {
    if (row.is_object() && name != "conditions")
      out += table_row(std::string(name), row.as_object());
  }
  out += "</table>\n";
  for (const auto& [name, svg] : bench_plots(results)) out += svg;
  return out + "<h2>Conditions</h2>\n" + conditions_text(results) + "</body></html>\n";
}

Result<int> write_bench_report(Context& context, const std::filesystem::path& results,
                               const std::filesystem::path& out) {
  MR_TRY(const auto text, read_file(results));
  auto parsed = parse_json_object(text, {.max_bytes = 64 * 1024 * 1024});
  if (!parsed) return fail_with_context(results.string(), parsed.error());
  MR_TRY_VOID(write_file_atomically(out, bench_page(*parsed)));
  for (const auto& [name, svg] : bench_plots(*parsed)) {
    MR_TRY_VOID(write_file_atomically(out.parent_path() / (name + ".svg"), svg));
  }
  context.note(fmt::format("wrote {}", out.string()));
  return kExitOk;
}

}  // namespace millrace::app
