#include "app/bench/sample.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace millrace::app {
namespace {

double round_to(double value, double unit) { return std::round(value / unit) * unit; }

// Student's t at 97.5 %, near enough for every number of freedoms (within 1 % from 3 on).
double student_t(std::size_t freedoms) {
  static constexpr double kSmall[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306};
  if (freedoms <= std::size(kSmall)) return kSmall[freedoms - 1];
  const auto n = static_cast<double>(freedoms);
  return 1.95996 + 2.3722 / n + 2.8225 / (n * n);
}

json::Object per_job(const Cost& cost) {
  const auto jobs = static_cast<double>(cost.jobs);
  const double cpu = cost.server_cpu_seconds + cost.client_cpu_seconds;
  return {{"wal_bytes", round_to(cost.wal_bytes / jobs, 0.1)},
          {"commits", round_to(cost.commits / jobs, 0.00001)},
          {"rows_written", round_to(cost.rows_written / jobs, 0.001)},
          {"rows_dead", round_to(cost.rows_dead / jobs, 0.001)},
          {"server_cpu_us", round_to(cost.server_cpu_seconds * 1e6 / jobs, 0.01)},
          {"client_cpu_us", round_to(cost.client_cpu_seconds * 1e6 / jobs, 0.01)},
          {"server_cpu_share", cpu > 0 ? round_to(cost.server_cpu_seconds / cpu, 0.001) : 0},
          {"cores_used", cost.wall_seconds > 0 ? round_to(cpu / cost.wall_seconds, 0.01) : 0}};
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  jobs += other.jobs;
  wal_bytes += other.wal_bytes;
  commits += other.commits;
  rows_written += other.rows_written;
  rows_dead += other.rows_dead;
  server_cpu_seconds += other.server_cpu_seconds;
  client_cpu_seconds += other.client_cpu_seconds;
  wall_seconds += other.wall_seconds;
  return *this;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto rank = std::ceil(share * static_cast<double>(values.size()));
  const auto index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return values[std::min(index, values.size() - 1)];
}

double Measured::median() const {
  if (samples.empty()) return 0;
  auto sorted = samples;
  std::ranges::sort(sorted);
  const auto middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Measured::lowest() const { return samples.empty() ? 0 : std::ranges::min(samples); }
double Measured::highest() const { return samples.empty() ? 0 : std::ranges::max(samples); }

json::Object to_object(const Measured& measured) {
  json::Array samples;
  for (const double sample : measured.samples) samples.emplace_back(sample);
  json::Object object{{"case", measured.name},       {"unit", measured.unit},
                      {"median", measured.median()}, {"min", measured.lowest()},
                      {"max", measured.highest()},   {"samples", std::move(samples)}};
  if (!measured.times.empty()) {
    json::Object times{{"count", measured.times.size()}};
    for (const auto& [name, share] :
         {std::pair{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}) {
      times[name] = round_to(percentile(measured.times, share), 0.001);
    }
    object["ms"] = std::move(times);
  }
  if (measured.cost.jobs > 0) object["per_job"] = per_job(measured.cost);
  for (const auto& [key, value] : measured.extra) object[key] = value;
  return object;
}

std::optional<Slope> fit_slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = std::min(x.size(), y.size());
  if (count < 3) return std::nullopt;
  const auto n = static_cast<double>(count);
  const auto end = static_cast<std::ptrdiff_t>(count);
  const double mean_x = std::accumulate(x.begin(), x.begin() + end, 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.begin() + end, 0.0) / n;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < count; ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (xx <= 0) return std::nullopt;
  const double slope = xy / xx;
  double squares = 0;
  double neighbours = 0;
  double before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double off = y[i] - (mean_y + slope * (x[i] - mean_x));
    squares += off * off;
    neighbours += off * before;
    before = off;
  }
  // Samples that follow one another closely say the same thing: a partition that fills, or memory
  // that was taken once, is above the line for many of them. They count for as many as a series of
  // independent ones with the same doubt would have.
  const double likeness = squares > 0 ? std::clamp(neighbours / squares, 0.0, 0.99) : 0;
  const double independent = std::max(3.0, n * (1 - likeness) / (1 + likeness));
  const double half = student_t(static_cast<std::size_t>(independent) - 2) *
                      std::sqrt(squares / (independent - 2) / xx);
  return Slope{.slope = slope, .low = slope - half, .high = slope + half, .mean = mean_y};
}

json::Object to_object(const Slope& slope) {
  return {{"slope", slope.slope},
          {"low", slope.low},
          {"high", slope.high},
          {"mean", slope.mean},
          {"within_noise", slope.within_noise()}};
}

double rate_between(const std::vector<Progress>& series, double from, double to) {
  // The samples nearest to both ends; their own times count, so an uneven sampler does no harm.
  const auto nearest = [&](double at) {
    return std::ranges::min_element(series, {},
                                    [at](const Progress& one) { return std::abs(one.at - at); });
  };
  if (series.size() < 2) return 0;
  const auto first = nearest(from);
  const auto last = nearest(to);
  if (last->at <= first->at) return 0;
  return static_cast<double>(last->done - first->done) / (last->at - first->at);
}

}  // namespace millrace::app
