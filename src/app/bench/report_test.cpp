#include "app/bench/report.h"

#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using testing::HasSubstr;
using testing::Not;

json::Object results() {
  auto parsed = parse_json_object(R"({
    "drain": {"millrace": 300000, "graphile-worker": 80000, "pgmq": null, "unit": "jobs/s",
              "goal_text": "3 times", "met": true},
    "processes": {"rates": {"1": 100, "2": 200, "64": 150}, "met": false},
    "sustained": {"series": {"millrace": [1, 2, 3], "graphile-worker": [1, 1, 1]}},
    "latency": {"percentiles": {"millrace": {"p50": 0.3, "p95": 0.5, "p99": 1, "p99.9": 4}}},
    "enqueue_coalesced": {"millrace": null, "met": null},
    "http_status": {"millrace": 40000, "fastify": 9000, "fastapi": 4000},
    "lists": {"millrace": 5, "goal_text": "20 ms at 10 M", "met": null},
    "conditions": {"cores": 2, "note": "<b>"}})");
  return std::move(parsed).value();
}

std::vector<std::string> names(const json::Object& of) {
  std::vector<std::string> list;
  for (const auto& [name, svg] : bench_plots(of)) list.push_back(name);
  return list;
}

TEST(ReportTest, PlotsWhatHasFiguresAndNothingElse) {
  EXPECT_THAT(names(results()),
              testing::ElementsAre("throughput", "http", "latency", "processes", "sustained"));
  EXPECT_TRUE(bench_plots({}).empty());
}

TEST(ReportTest, PageSaysWhatWasReachedAndUnderWhichConditions) {
  const auto page = bench_page(results());
  EXPECT_THAT(page, HasSubstr("<td>reached</td>"));
  EXPECT_THAT(page, HasSubstr("<td>not reached</td>"));
  EXPECT_THAT(page, HasSubstr("<td>not measured</td>"));
  EXPECT_THAT(page, HasSubstr("<td>open</td>"));
  EXPECT_THAT(page, HasSubstr("300 000"));
  EXPECT_THAT(page, HasSubstr("note: &lt;b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace millrace::app
