#include "base/metrics.h"

#include "base/assert.h"
#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace {
namespace {

constexpr std::string_view kOther = "other";

bool is_name_char(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || (!first && c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  if (text.empty() || !is_name_char(text[0], true)) return false;
  return std::ranges::all_of(text, [](char c) { return is_name_char(c, false); });
}

bool is_valid(const MetricSpec& spec) {
  if (!is_name(spec.name) || spec.series_max == 0) return false;
  if (!std::ranges::all_of(spec.labels, is_name)) return false;
  if ((spec.kind == MetricKind::histogram) == spec.bounds.empty()) return false;
  return std::ranges::is_sorted(spec.bounds);
}

void add_to(std::atomic<double>& value, double amount) {
  auto now = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(now, now + amount, std::memory_order_relaxed)) {
  }
}

// Prometheus knows infinities and NaN, which JSON does not.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return json_number(value);
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

std::string_view to_string(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "counter";
    case MetricKind::gauge:
      return "gauge";
    case MetricKind::histogram:
      return "histogram";
  }
  std::unreachable();
}

// {queue="ocr",le="0.5"}; nothing without labels.
std::string label_text(const std::vector<std::string>& names,
                       const std::vector<std::string>& values, std::string_view le = {}) {
  std::string out;
  const auto append = [&](std::string_view name, std::string_view value) {
    out += out.empty() ? '{' : ',';
    out.append(name).append("=\"");
    append_escaped(out, value, true);
    out += '"';
  };
  for (std::size_t i = 0; i < names.size(); ++i) append(names[i], values[i]);
  if (!le.empty()) append("le", le);
  if (!out.empty()) out += '}';
  return out;
}

}  // namespace

void Counter::add(double amount) {
  MR_ASSERT(amount >= 0);
  add_to(value_, amount);
}

void Gauge::add(double amount) { add_to(value_, amount); }

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds),
      buckets_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds.size() + 1)) {}

void Histogram::observe(double value) {
  const auto at = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  buckets_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  add_to(sum_, value);
}

std::uint64_t Histogram::in_bucket(std::size_t index) const {
  return buckets_[index].load(std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) sum += in_bucket(i);
  return sum;
}

struct MetricFamily::Series {
  Series(const MetricSpec& spec) : histogram(spec.bounds) {}

  Counter counter;
  Gauge gauge;
  Histogram histogram;
};

bool MetricFamily::Less::operator()(const Key& a, const LabelValues& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      std::less<std::string_view>());
}

bool MetricFamily::Less::operator()(const LabelValues& a, const Key& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      std::less<std::string_view>());
}

MetricFamily::MetricFamily(MetricSpec spec) : spec_(std::move(spec)) {}
MetricFamily::~MetricFamily() = default;

MetricFamily::Series& MetricFamily::find(LabelValues labels) {
  MR_ASSERT(labels.size() == spec_.labels.size());
  const std::lock_guard lock(mutex_);
  auto found = series_.find(labels);
  if (found != series_.end()) return *found->second;
  Key key(labels.begin(), labels.end());
  if (series_.size() >= spec_.series_max && !key.empty()) {
    std::ranges::fill(key, std::string(kOther));
    found = series_.find(key);
  }
  if (found == series_.end()) {
    found = series_.emplace(std::move(key), std::make_unique<Series>(spec_)).first;
  }
  return *found->second;
}

Counter& MetricFamily::counter(LabelValues labels) {
  MR_ASSERT(spec_.kind == MetricKind::counter);
  return find(labels).counter;
}

Gauge& MetricFamily::gauge(LabelValues labels) {
  MR_ASSERT(spec_.kind == MetricKind::gauge);
  return find(labels).gauge;
}

Histogram& MetricFamily::histogram(LabelValues labels) {
  MR_ASSERT(spec_.kind == MetricKind::histogram);
  return find(labels).histogram;
}

void MetricFamily::clear() {
  MR_ASSERT(spec_.kind == MetricKind::gauge);
  const std::lock_guard lock(mutex_);
  series_.clear();
}

std::size_t MetricFamily::series() const {
  const std::lock_guard lock(mutex_);
  return series_.size();
}

void MetricFamily::render(std::string& out) const {
  out.append("# HELP ").append(spec_.name).append(" ");
  append_escaped(out, spec_.help, false);
  out.append("\n# TYPE ").append(spec_.name).append(" ").append(to_string(spec_.kind)).append("\n");
  const std::lock_guard lock(mutex_);
  for (const auto& [values, series] : series_) {
    const auto labels = label_text(spec_.labels, values);
    if (spec_.kind == MetricKind::counter) {
      out += fmt::format("{}{} {}\n", spec_.name, labels, number(series->counter.value()));
    } else if (spec_.kind == MetricKind::gauge) {
      out += fmt::format("{}{} {}\n", spec_.name, labels, number(series->gauge.value()));
    } else {
      // Buckets first, then their own sum as the count: a reader never sees more in a bucket than
      // in all of them.
      std::uint64_t count = 0;
      const auto& histogram = series->histogram;
      for (std::size_t i = 0; i <= spec_.bounds.size(); ++i) {
        count += histogram.in_bucket(i);
        const auto le = i < spec_.bounds.size() ? number(spec_.bounds[i]) : "+Inf";
        out += fmt::format("{}_bucket{} {}\n", spec_.name, label_text(spec_.labels, values, le),
                           count);
      }
      out += fmt::format("{}_sum{} {}\n", spec_.name, labels, number(histogram.sum()));
      out += fmt::format("{}_count{} {}\n", spec_.name, labels, count);
    }
  }
}

MetricFamily& MetricRegistry::family(MetricSpec spec) {
  MR_ASSERT(is_valid(spec));
  const std::lock_guard lock(mutex_);
  auto found = families_.find(spec.name);
  if (found == families_.end()) {
    auto name = spec.name;
    found =
        families_.emplace(std::move(name), std::make_unique<MetricFamily>(std::move(spec))).first;
    return *found->second;
  }
  const auto& known = found->second->spec();
  MR_ASSERT(known.kind == spec.kind);
  MR_ASSERT(known.labels == spec.labels);
  return *found->second;
}

std::string MetricRegistry::render() const {
  std::string out;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, family] : families_) family->render(out);
  return out;
}

std::vector<double> latency_bounds_s() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

std::vector<double> work_bounds_s() {
  return {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600};
}

}  // namespace millrace
