#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace millrace {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  MetricRegistry registry;
  auto& requests = registry.family({.name = "millrace_http_requests_total",
                                    .help = "Requests answered.",
                                    .labels = {"route", "status"}});
  requests.counter({"/livez", "200"}).add();
  requests.counter({"/livez", "200"}).add(2);
  auto& open = registry.family(
      {.name = "millrace_http_connections", .help = "Open.", .kind = MetricKind::gauge});
  open.gauge().set(7.5);
  EXPECT_EQ(registry.render(),
            "# HELP millrace_http_connections Open.\n"
            "# TYPE millrace_http_connections gauge\n"
            "millrace_http_connections 7.5\n"
            "# HELP millrace_http_requests_total Requests answered.\n"
            "# TYPE millrace_http_requests_total counter\n"
            "millrace_http_requests_total{route=\"/livez\",status=\"200\"} 3\n");
}

// O-03: durations are histograms, whose buckets count everything at or below their bound.
TEST(Metrics, AHistogramsBucketsAreCumulativeAndEndWithItsCount) {
  MetricRegistry registry;
  auto& family = registry.family({.name = "processing_stage_duration_seconds",
                                  .help = "How long.",
                                  .kind = MetricKind::histogram,
                                  .labels = {"stage", "status"},
                                  .bounds = {0.1, 1}});
  auto& series = family.histogram({"ocr", "ok"});
  for (const double value : {0.05, 0.1, 0.5, 30.0}) series.observe(value);
  const auto text = registry.render();
  EXPECT_THAT(text, HasSubstr("_bucket{stage=\"ocr\",status=\"ok\",le=\"0.1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{stage=\"ocr\",status=\"ok\",le=\"1\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{stage=\"ocr\",status=\"ok\",le=\"+Inf\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("_sum{stage=\"ocr\",status=\"ok\"} 30.65\n"));
  EXPECT_THAT(text, HasSubstr("_count{stage=\"ocr\",status=\"ok\"} 4\n"));
}

TEST(Metrics, LabelsCannotBreakTheFormat) {
  MetricRegistry registry;
  auto& family = registry.family({.name = "m", .help = "two\nlines \\ here", .labels = {"l"}});
  family.counter({"a\"b\\c\nd"}).add();
  const auto text = registry.render();
  EXPECT_THAT(text, HasSubstr("# HELP m two\\nlines \\\\ here\n"));
  EXPECT_THAT(text, HasSubstr("m{l=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(Metrics, InventedLabelsEndInOneSeriesAndTakeNoMoreMemory) {
  MetricRegistry registry;
  auto& family =
      registry.family({.name = "m", .help = "h", .labels = {"a", "b"}, .series_max = 10});
  for (int i = 0; i < 1000; ++i) family.counter({std::to_string(i), "x"}).add();
  EXPECT_EQ(family.series(), 11U);
  EXPECT_EQ(family.counter({"other", "other"}).value(), 990);
  EXPECT_EQ(family.counter({"3", "x"}).value(), 1);
}

TEST(Metrics, AClearedGaugeForgetsWhatIsNotSetAgain) {
  MetricRegistry registry;
  auto& family =
      registry.family({.name = "g", .help = "h", .kind = MetricKind::gauge, .labels = {"queue"}});
  family.gauge({"gone"}).set(1);
  family.clear();
  family.gauge({"here"}).set(2);
  EXPECT_THAT(registry.render(), Not(HasSubstr("gone")));
  EXPECT_THAT(registry.render(), HasSubstr("g{queue=\"here\"} 2\n"));
}

TEST(Metrics, NothingIsLostWhenThreadsCountTogether) {
  MetricRegistry registry;
  auto& family = registry.family({.name = "m", .help = "h", .labels = {"l"}});
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) family.counter({i % 2 == 0 ? "even" : "odd"}).add();
      });
    }
  }
  EXPECT_EQ(family.counter({"even"}).value(), 20'000);
  EXPECT_EQ(family.counter({"odd"}).value(), 20'000);
}

TEST(Metrics, TheSameNameGivesTheSameFamily) {
  MetricRegistry registry;
  registry.family({.name = "m", .help = "h"}).counter().add();
  EXPECT_EQ(registry.family({.name = "m", .help = "h"}).counter().value(), 1);
}

TEST(MetricsDeathTest, ANameThatPrometheusRefusesIsABug) {
  MetricRegistry registry;
  EXPECT_DEATH((void)registry.family({.name = "a-b", .help = "h"}), "is_valid");
  EXPECT_DEATH((void)registry.family({.name = "a", .help = "h", .labels = {"le:"}}), "is_valid");
}

}  // namespace
}  // namespace millrace
