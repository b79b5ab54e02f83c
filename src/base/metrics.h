// MetricRegistry: counters, gauges and histograms of this process, as Prometheus reads them.
//
// Flow: whoever owns a service asks the registry once for a family and per set of labels for a
// series, keeps the pointer and adds to it; render() writes all of them as text. Labels are
// bounded: a family has a fixed list of label names and at most `series_max` series, and whatever
// comes after that is counted in one series whose labels are all "other". So no client can fill
// memory or the monitoring system by inventing names. Threading: any thread; adding to a series is
// one atomic operation. Lifetime: the registry outlives the families and series it hands out.
#pragma once

#include "base/result.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

class Counter {
 public:
  void add(double amount = 1);  // Never less than zero.
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount);
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::span<const double> bounds);  // Upper bounds, rising.
  void observe(double value);

  std::uint64_t count() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  std::span<const double> bounds() const { return bounds_; }
  std::uint64_t in_bucket(
      std::size_t index) const;  // Not cumulative; the last is above all bounds.

 private:
  std::span<const double> bounds_;  // The family's.
  std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;
  std::atomic<double> sum_{0};
};

enum class MetricKind { counter, gauge, histogram };

struct MetricSpec {
  std::string name;  // "millrace_http_requests_total"
  std::string help;
  MetricKind kind = MetricKind::counter;
  std::vector<std::string> labels = {};
  std::vector<double> bounds = {};  // Of a histogram.
  std::size_t series_max = 1000;
};

using LabelValues = std::initializer_list<std::string_view>;  // In the order of MetricSpec::labels.

class MetricFamily {
 public:
  explicit MetricFamily(MetricSpec spec);
  ~MetricFamily();
  MetricFamily(const MetricFamily&) = delete;
  MetricFamily& operator=(const MetricFamily&) = delete;

  // Of the family's kind; made when it is asked for the first time.
  Counter& counter(LabelValues labels = {});
  Gauge& gauge(LabelValues labels = {});
  Histogram& histogram(LabelValues labels = {});

  // For gauges that are read from elsewhere as a whole: what is not set again is gone.
  void clear();

  const MetricSpec& spec() const { return spec_; }
  std::size_t series() const;
  void render(std::string& out) const;

 private:
  struct Series;
  using Key = std::vector<std::string>;
  // Compares with labels as they are given, so that finding a series copies nothing.
  struct Less {
    using is_transparent = void;
    bool operator()(const Key& a, const Key& b) const { return a < b; }
    bool operator()(const Key& a, const LabelValues& b) const;
    bool operator()(const LabelValues& a, const Key& b) const;
  };
  Series& find(LabelValues labels);

  MetricSpec spec_;
  mutable std::mutex mutex_;  // Guards series_, not what is counted in them.
  std::map<Key, std::unique_ptr<Series>, Less> series_;
};

class MetricRegistry {
 public:
  // The same name again gives the same family. Names and labels are programs' business: a
  // malformed or differing one is a bug and ends the process.
  MetricFamily& family(MetricSpec spec);

  // Text format 0.0.4, families in order of their names.
  std::string render() const;

  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  mutable std::mutex mutex_;  // Guards families_.
  std::map<std::string, std::unique_ptr<MetricFamily>, std::less<>> families_;
};

// 5 ms to 10 s: answers to requests, calls of the database.
std::vector<double> latency_bounds_s();
// 0.1 s to an hour: work.
std::vector<double> work_bounds_s();

}  // namespace millrace
