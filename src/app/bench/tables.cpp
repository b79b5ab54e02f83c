#include "app/bench/tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::app {
namespace {

std::string number(double value) {
  if (std::abs(value) >= 1000) return group_digits(static_cast<long long>(value));
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

void print_figures(const Context& context, const std::string& what,
                   const std::vector<Measured>& results) {
  const bool timed =
      std::ranges::any_of(results, [](const auto& one) { return !one.times.empty(); });
  std::vector<Table::Column> columns{left(what), right("MEDIAN"), left("UNIT"), left("SPREAD")};
  if (timed) {
    for (const char* title : {"P50", "P95", "P99", "P99.9"}) columns.push_back(right(title));
  }
  Table table(columns);
  for (const auto& result : results) {
    const auto* reason = result.extra.if_contains("reason");
    if (reason != nullptr && reason->is_string()) {
      context.note(
          fmt::format("{}: not measured: {}", result.name, text_member(result.extra, "reason")));
    }
    if (result.samples.empty()) continue;
    std::vector<Cell> row{
        Cell(result.name), Cell(number(result.median())), Cell(result.unit),
        Cell(fmt::format("{} .. {}", number(result.lowest()), number(result.highest())))};
    if (timed) {
      for (const double share : {0.5, 0.95, 0.99, 0.999}) {
        row.emplace_back(result.times.empty()
                             ? std::string("-")
                             : fmt::format("{:.2f}", percentile(result.times, share)));
      }
    }
    table.add(std::move(row));
  }
  if (!table.empty()) context.print(table.render(context.terminal));
}

void print_costs(const Context& context, const std::vector<Measured>& results) {
  Table table({left("PER JOB"), right("WAL BYTES"), right("COMMITS"), right("ROWS"), right("DEAD"),
               right("SERVER CPU US"), right("CLIENT CPU US")});
  for (const auto& result : results) {
    const auto& cost = result.cost;
    if (cost.jobs == 0) continue;
    const auto each = [&](double value, int digits) {
      return Cell(fmt::format("{:.{}f}", value / static_cast<double>(cost.jobs), digits));
    };
    table.add({Cell(result.name), each(cost.wal_bytes, 0), each(cost.commits, 4),
               each(cost.rows_written, 2), each(cost.rows_dead, 2),
               each(cost.server_cpu_seconds * 1e6, 1), each(cost.client_cpu_seconds * 1e6, 1)});
  }
  if (!table.empty()) context.print("\n" + table.render(context.terminal));
}

void print_slopes(const Context& context, const std::vector<Measured>& results) {
  for (const auto& result : results) {
    const auto* slope = result.extra.if_contains("slope_per_minute");
    if (slope == nullptr || !slope->is_object()) continue;
    const auto at = [&](const char* key) { return slope->as_object().at(key).to_number<double>(); };
    context.print(fmt::format(
        "{}: {:+.4g} {} a minute, 95 % interval {:+.4g} .. {:+.4g}: {}\n", result.name, at("slope"),
        result.unit, at("low"), at("high"),
        bool_member(slope->as_object(), "within_noise") ? "within noise" : "it changes"));
  }
}

}  // namespace

std::string line_of(const json::Object& conditions) {
  return fmt::format(
      "{} cores, PostgreSQL {}, fsync {}, synchronous_commit {}, shared_buffers {}, payload {} "
      "bytes, {} repeats, {}{}",
      int_member(conditions, "cores"), text_member(conditions, "postgres"),
      text_member(conditions, "fsync"), text_member(conditions, "synchronous_commit"),
      text_member(conditions, "shared_buffers"), int_member(conditions, "payload_bytes"),
      int_member(conditions, "repeats"), text_member(conditions, "history"),
      bool_member(conditions, "optimised") ? "" : ", NOT an optimised build");
}

void print_results(const Context& context, const std::string& what,
                   const std::vector<Measured>& results) {
  print_figures(context, what, results);
  print_costs(context, results);
  print_slopes(context, results);
}

}  // namespace millrace::app
