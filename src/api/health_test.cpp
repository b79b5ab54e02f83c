#include "api/health.h"

#include "api/api_fixture.h"
#include "api/routes/scale.h"
#include "base/event.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::map<std::string, std::string> kComponents = {{"Done", R"({"type":"object"})"},
                                                        {"Health", R"({"type":"object"})"},
                                                        {"Problem", R"({"type":"object"})"},
                                                        {"EnvelopeError", R"({"type":"object"})"}};

class HealthTest : public testing::Test {
 protected:
  HealthTest()
      : health_(clock_, "1.2.3",
                {{.name = "database",
                  .essential = true,
                  .run = [this]() -> Task<CheckResult> {
                    ++asked_;
                    if (away_) co_return fail(ErrorKind::unavailable, "no route to 10.0.0.7");
                    co_return CheckResult{};
                  }},
                 {.name = "queue_depth",
                  .run = [this]() -> Task<CheckResult> {
                    co_return CheckResult{.ok = depth_ <= 1000, .value = depth_};
                  }},
                 {.name = "storage",
                  .run = [this]() -> Task<CheckResult> {
                    if (storage_hangs_ && !co_await storage_.wait()) {
                      co_return fail(ErrorKind::cancelled, "no longer wanted");
                    }
                    co_return CheckResult{};
                  }}}),
        api_(health_.operations(), {}, kComponents) {}

  http::Reply ask(std::string_view path) {
    clock_.advance(std::chrono::seconds(2));
    return api_.get(path);
  }

  ManualClock clock_;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> away_ = false;
  std::atomic<std::int64_t> depth_ = 3;
  std::atomic<bool> storage_hangs_ = false;
  Event storage_;  // Never answers.
  Health health_;
  ApiFixture api_;
};

TEST_F(HealthTest, SaysHealthyDegradedAndUnavailable) {  // H-18, K04
  auto reply = ask("/health");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(text_of(object_of(reply), "status"), "healthy");
  EXPECT_EQ(object_of(reply).at("checks").at("queue_depth").at("value"), json::Value(3));
  depth_ = 1001;
  reply = ask("/health");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(text_of(object_of(reply), "status"), "degraded");
  away_ = true;
  reply = ask("/health");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(text_of(object_of(reply), "status"), "unavailable");
  EXPECT_THAT(reply.body, HasSubstr(R"("error":"unavailable")"));
  EXPECT_THAT(reply.body, Not(HasSubstr("10.0.0.7")));
}

TEST_F(HealthTest, LivenessAsksNobodyAndReadinessTheDatabase) {
  away_ = true;
  EXPECT_EQ(ask("/livez").status, 200);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(ask("/readyz").status, 503);
  away_ = false;
  EXPECT_EQ(ask("/readyz").status, 200);
  health_.drain();
  EXPECT_EQ(ask("/readyz").status, 503);
  EXPECT_EQ(ask("/livez").status, 200);
}

// A blob store that is slow must not take servers out of service that need none to take jobs.
TEST_F(HealthTest, ReadinessDoesNotWaitForTheBlobStore) {
  storage_hangs_ = true;
  EXPECT_EQ(ask("/readyz").status, 200);
  EXPECT_EQ(clock_.sleepers(), 0U);
}

TEST_F(HealthTest, ACheckThatHangsIsGivenUpAndTheOthersAreToldAllTheSame) {
  storage_hangs_ = true;
  http::RawClient client(api_.address());
  client.send(http::get("/health"));
  const auto moved = http::advance_until(clock_, std::chrono::milliseconds(100),
                                         [&](auto wait) { return client.readable(wait); });
  EXPECT_GE(moved, std::chrono::seconds(2));
  const auto reply = client.read_reply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(text_of(object_of(reply), "status"), "degraded");
  const auto checks = object_of(reply).at("checks").as_object();
  EXPECT_EQ(checks.at("storage").at("error"), json::Value("unavailable"));
  EXPECT_EQ(checks.at("database").at("status"), json::Value("ok"));
  EXPECT_EQ(checks.at("queue_depth").at("status"), json::Value("ok"));
}

TEST_F(HealthTest, WhoeverAsksOftenDoesNotAskTheDatabaseOften) {
  for (int i = 0; i < 50; ++i) EXPECT_EQ(api_.get("/health").status, 200);
  EXPECT_EQ(asked_, 1);
}

TEST(RenderSamples, PutsFamiliesTogetherAndKeepsLabelsHarmless) {
  const auto text = render_samples(
      {{.metric = "queue_ready", .label = "queue", .label_value = "b", .value = 2},
       {.metric = "jobs_failed_total", .label = "queue", .label_value = "a\"\n\\", .value = 1},
       {.metric = "queue_ready", .label = "queue", .label_value = "a", .value = 0.5},
       {.metric = "buffer_table_sizes", .label = "table", .label_value = "handoff", .value = 3},
       {.metric = "worker_slots", .value = 16}});
  EXPECT_EQ(text,
            "# TYPE buffer_table_sizes gauge\n"  // O-03: named by a source.
            "buffer_table_sizes{table=\"handoff\"} 3\n"
            "# TYPE millrace_jobs_failed_total counter\n"
            "millrace_jobs_failed_total{queue=\"a\\\"\\n\\\\\"} 1\n"
            "# TYPE millrace_queue_ready gauge\n"
            "millrace_queue_ready{queue=\"a\"} 0.5\n"
            "millrace_queue_ready{queue=\"b\"} 2\n"
            "# TYPE millrace_worker_slots gauge\n"
            "millrace_worker_slots 16\n");
}

}  // namespace
}  // namespace millrace::api
