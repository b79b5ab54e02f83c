#include "api/server_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServerMetricsTest : public testing::Test {
 protected:
  void note(std::string_view method, std::string_view route, int status) {
    http::AccessRecord record;
    record.method = method;
    record.route = route;
    record.status = status;
    record.received_bytes = 10;
    record.sent_bytes = 100;
    record.duration = std::chrono::milliseconds(2);
    metrics_.note_request(record);
  }

  MetricRegistry registry_;
  ServerMetrics metrics_{registry_};
};

TEST_F(ServerMetricsTest, CountsRequestsByMethodRouteAndClassOfStatus) {
  const std::string jobs = "/api/v1/jobs";
  for (const int status : {200, 201, 404, 503, 0}) note("GET", jobs, status);
  note("HEAD", jobs, 200);
  note("what a client wrote", "", 400);
  const auto page = registry_.render();
  const auto line = [](std::string_view method, std::string_view route, std::string_view status) {
    return "millrace_http_requests_total{method=\"" + std::string(method) + "\",route=\"" +
           std::string(route) + "\",status=\"" + std::string(status) + "\"} ";
  };
  EXPECT_THAT(page, HasSubstr(line("GET", jobs, "2xx") + "2\n"));
  EXPECT_THAT(page, HasSubstr(line("GET", jobs, "4xx") + "1\n"));
  EXPECT_THAT(page, HasSubstr(line("GET", jobs, "5xx") + "1\n"));
  EXPECT_THAT(page, HasSubstr(line("GET", jobs, "none") + "1\n"));
  EXPECT_THAT(page, HasSubstr(line("HEAD", jobs, "2xx") + "1\n"));
  EXPECT_THAT(page, HasSubstr(line("any", "none", "4xx") + "1\n"));
  EXPECT_THAT(page, Not(HasSubstr("3xx")));
  EXPECT_THAT(page, HasSubstr("request_duration_seconds_count{route=\"/api/v1/jobs\"} 6\n"));
  EXPECT_THAT(page, HasSubstr("millrace_http_received_bytes_total 70\n"));
  EXPECT_THAT(page, HasSubstr("millrace_http_sent_bytes_total 700\n"));
}

// More than are kept at hand, and others where the first ones lay.
TEST_F(ServerMetricsTest, CountsEveryRouteAsItselfHoweverManyThereAre) {
  std::vector<std::string> routes(700);
  for (std::size_t i = 0; i < routes.size(); ++i) routes[i] = "/route/" + std::to_string(i);
  for (const auto& route : routes) note("GET", route, 200);
  std::ranges::reverse(routes);
  for (const auto& route : routes) note("GET", route, 200);
  const auto page = registry_.render();
  for (const auto& route : routes) {
    EXPECT_THAT(page, HasSubstr("requests_total{method=\"GET\",route=\"" + route +
                                "\",status=\"2xx\"} 2\n"));
  }
}

}  // namespace
}  // namespace millrace::api
