// Samples of a measurement: median and spread, percentiles of times, what a job cost, and slopes,
// as the benches report them. No I/O.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::app {

// What all jobs of the samples together cost; reported per job.
struct Cost {
  std::int64_t jobs = 0;
  double wal_bytes = 0;
  double commits = 0;
  double rows_written = 0;  // Row versions: inserts, updates, deletes.
  double rows_dead = 0;     // Versions that vacuum has to remove.
  double server_cpu_seconds = 0;
  double client_cpu_seconds = 0;  // Workers and producers.
  double wall_seconds = 0;

  Cost& operator+=(const Cost& other);
};

struct Measured {
  std::string name;                // "array, 4 clients, 1000 a call"
  std::string unit = "jobs/s";     // or "ms"
  std::vector<double> samples;     // One per repeat.
  std::vector<double> times = {};  // Milliseconds of single calls, of all repeats together.
  Cost cost = {};
  json::Object extra = {};  // What only this bench has: series, ratios, conditions.

  double median() const;
  double lowest() const;
  double highest() const;
};

// The value below which `share` of the sorted values lie; by nearest rank.
double percentile(std::vector<double> values, double share);

json::Object to_object(const Measured& measured);

// A straight line through (x, y) by least squares, with the interval in which its slope lies with
// 95 % probability. Deviations may resemble their neighbours: the interval widens with the
// likeness. Nothing for fewer than three points.
struct Slope {
  double slope = 0;
  double low = 0;
  double high = 0;
  double mean = 0;  // Of y.
  bool within_noise() const { return low <= 0 && high >= 0; }
};
std::optional<Slope> fit_slope(const std::vector<double>& x, const std::vector<double>& y);
json::Object to_object(const Slope& slope);

// Counts over time, as a sampler saw them: how many were done per second within [from, to).
struct Progress {
  double at = 0;  // Seconds since the beginning.
  std::int64_t done = 0;
};
double rate_between(const std::vector<Progress>& series, double from, double to);

}  // namespace millrace::app
