#include "app/bench/sample.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>

namespace millrace::app {

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
  return {{"case", measured.name},    {"unit", measured.unit},     {"median", measured.median()},
          {"min", measured.lowest()}, {"max", measured.highest()}, {"samples", std::move(samples)}};
}

}  // namespace millrace::app
