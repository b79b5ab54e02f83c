// Samples of a measurement: median and spread, as the benches report them.
#pragma once

#include "base/json.h"

#include <string>
#include <vector>

namespace millrace::app {

struct Measured {
  std::string name;             // "array, 4 clients, 1000 a call"
  std::string unit = "jobs/s";  // or "ms"
  std::vector<double> samples;  // One per repeat.

  double median() const;
  double lowest() const;
  double highest() const;
};

// The value below which `share` of the sorted values lie; by nearest rank.
double percentile(std::vector<double> values, double share);

json::Object to_object(const Measured& measured);

}  // namespace millrace::app
