// Jobs over HTTP against the real engine: made, found, listed, cancelled, retried, repeated.
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ApiJobs : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

  ApiJobs() : tenant_(world().new_tenant()), service_(world().jwt(Role::service_role, tenant_)) {}

  std::string enqueue(const std::string& body = R"({"job_type":"noop","payload":{"n":1}})") {
    const auto made = world().post("/api/v1/jobs", service_, body);
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(made.json().at("job_id").as_string());
  }
  json::Object job(const std::string& id) {
    return world().get("/api/v1/jobs/" + id, service_).json().as_object();
  }
  // Ends the job as a worker would, with a failure for good.
  void kill_job(const std::string& id) {
    auto sql = world().sql();
    must(sql.query("select set_config('millrace.tenant_id', $1, false)",
                   pg::params(tenant_.to_string())));
    must(
        sql.query("select millrace.fail_job(c.job_id, 'a test', "
                  "'{\"error_type\":\"broken\",\"message\":\"for good\"}', false, null)"
                  " from millrace.claim_next_job_v3('a test', null) c where c.job_id = $1::uuid",
                  pg::params(id)));
  }

  TenantId tenant_;
  std::string service_;

 private:
  static std::unique_ptr<ApiWorld> world_;
};

std::unique_ptr<ApiWorld> ApiJobs::world_;

TEST_F(ApiJobs, AJobIsDurableWhenItIsAnswered) {
  const auto made =
      world().ask({.method = "POST",
                   .path = "/api/v1/jobs",
                   .token = service_,
                   .body = R"({"job_type":"noop","payload":{"pi":3.141592653589793238}})",
                   .headers = {{"x-correlation-id", "order-17"}}});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.header("x-correlation-id"), "order-17");
  const std::string id(made.json().at("job_id").as_string());
  EXPECT_EQ(made.header("location"), "/api/v1/jobs/" + id);
  auto sql = world().sql();
  const auto row =
      must(sql.query("select tenant_id::text, correlation_id, traceparent, "
                     "payload ->> 'pi' as pi from millrace.job_fact where job_id = $1::uuid",
                     pg::params(id)));
  ASSERT_EQ(row.rows(), 1U);
  EXPECT_EQ(row[0].text("tenant_id"), tenant_.to_string());
  EXPECT_EQ(row[0].text("correlation_id"), "order-17");
  EXPECT_THAT(std::string(row[0].text("traceparent")), StartsWith("00-"));
  EXPECT_EQ(row[0].text("pi"), "3.141592653589793238");
  EXPECT_EQ(job(id).at("status"), json::Value("pending"));
}

TEST_F(ApiJobs, ManyJobsAreMadeTogetherOrNotAtAll) {
  const auto good = world().post(
      "/api/v1/jobs/bulk", service_,
      R"([{"job_type":"noop","payload":{"n":1}},{"job_type":"noop","payload":{"n":2}}])");
  ASSERT_EQ(good.status, 201) << good.body;
  EXPECT_EQ(good.json().at("items").as_array().size(), 2U);
  const auto bad = world().post(
      "/api/v1/jobs/bulk", service_,
      R"([{"job_type":"noop","payload":{"n":1}},{"job_type":"no such type","payload":{"n":1}}])");
  EXPECT_EQ(bad.status, 400) << bad.body;
  EXPECT_THAT(bad.body, HasSubstr("Invalid job_type"));
  EXPECT_EQ(world().get("/api/v1/jobs", service_).json().at("items").as_array().size(), 2U);
}

TEST_F(ApiJobs, WhatTheDatabaseRefusesNamesTheRule) {
  const auto empty = world().post("/api/v1/jobs", service_, R"({"job_type":"noop","payload":{}})");
  EXPECT_EQ(empty.status, 400);
  EXPECT_THAT(empty.body, HasSubstr("job_payload cannot be empty"));
  const auto large = world().post(
      "/api/v1/jobs", service_,
      fmt::format(R"({{"job_type":"noop","payload":{{"text":"{}"}}}})", std::string(300'000, 'x')));
  EXPECT_EQ(large.status, 413) << large.body;
  const auto queue = world().post("/api/v1/jobs", service_,
                                  R"({"job_type":"noop","payload":{"n":1},"queue":"nowhere"})");
  EXPECT_EQ(queue.status, 404) << queue.body;
  const auto priority = world().post("/api/v1/jobs", service_,
                                     R"({"job_type":"noop","payload":{"n":1},"priority":1001})");
  EXPECT_EQ(priority.status, 400);
  EXPECT_THAT(priority.body, HasSubstr("#/priority"));
}

TEST_F(ApiJobs, PagesGoThroughAllJobsOnce) {
  std::set<std::string> made;
  for (int i = 0; i < 25; ++i) made.insert(enqueue());
  std::set<std::string> seen;
  std::string cursor;
  for (int page = 0; page < 20; ++page) {
    const auto answered = world().get(
        "/api/v1/jobs?limit=10" + (cursor.empty() ? "" : "&cursor=" + cursor), service_);
    ASSERT_EQ(answered.status, 200) << answered.body;
    const auto body = answered.json();
    for (const auto& item : body.at("items").as_array()) {
      EXPECT_TRUE(seen.insert(std::string(item.at("job_id").as_string())).second);
    }
    if (body.at("next_cursor").is_null()) break;
    cursor = body.at("next_cursor").as_string();
  }
  EXPECT_EQ(seen, made);
}

TEST_F(ApiJobs, AnUnchangedJobIsNotSentAgain) {
  const auto id = enqueue();
  const auto first = world().get("/api/v1/jobs/" + id, service_);
  const auto tag = first.header("etag");
  ASSERT_FALSE(tag.empty());
  const auto again = world().ask(
      {.path = "/api/v1/jobs/" + id, .token = service_, .headers = {{"If-None-Match", tag}}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(world().post("/api/v1/jobs/" + id + "/cancel", service_, "{}").status, 200);
  const auto changed = world().ask(
      {.path = "/api/v1/jobs/" + id, .token = service_, .headers = {{"If-None-Match", tag}}});
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.json().at("status"), json::Value("cancelled"));
}

TEST_F(ApiJobs, ACancelledJobIsFinal) {  // X-20
  const auto id = enqueue();
  const auto path = "/api/v1/jobs/" + id + "/cancel";
  EXPECT_EQ(world().post(path, service_, R"({"reason":"not needed"})").status, 200);
  const auto again = world().post(path, service_, "{}");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.json().at("code"), json::Value("job_is_final"));
  EXPECT_EQ(world().get("/api/v1/jobs/" + id + "/result", service_).status, 200);
}

TEST_F(ApiJobs, AUserSeesAndCancelsOwnJobsOnly) {  // T-02
  const auto user = world().new_user();
  const auto own =
      enqueue(fmt::format(R"({{"job_type":"noop","payload":{{"n":1}},"owner_id":"{}"}})", user));
  const auto foreign = enqueue();
  const auto token = world().jwt(Role::authenticated, tenant_, user);
  EXPECT_EQ(world().get("/api/v1/jobs/" + own, token).status, 200);
  EXPECT_EQ(world().get("/api/v1/jobs/" + foreign, token).status, 404);
  const auto list = world().get("/api/v1/jobs", token).json().at("items").as_array();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("job_id"), json::Value(own));
  EXPECT_EQ(world().get("/api/v1/jobs/" + own + "/history", token).status, 200);
  EXPECT_EQ(world().get("/api/v1/jobs/" + foreign + "/history", token).status, 404);
  EXPECT_EQ(world().get("/api/v1/jobs/" + foreign + "/logs", token).status, 404);
  EXPECT_EQ(world().post("/api/v1/jobs/" + foreign + "/cancel", token, "{}").status, 404);
  EXPECT_EQ(job(foreign).at("status"), json::Value("pending"));
  EXPECT_EQ(world().post("/api/v1/jobs/" + own + "/cancel", token, "{}").status, 200);
}

TEST_F(ApiJobs, ARepeatedRequestMakesOneJob) {  // F02, F03
  const std::vector<http::Header> key{{"Idempotency-Key", "\"order-17\""}};
  const std::string body = R"({"job_type":"noop","payload":{"n":1}})";
  const auto first = world().post("/api/v1/jobs", service_, body, key);
  ASSERT_EQ(first.status, 201) << first.body;
  const auto again = world().post("/api/v1/jobs", service_, body, key);
  EXPECT_EQ(again.status, 201) << again.body;
  EXPECT_EQ(again.json().at("job_id"), first.json().at("job_id"));
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  const auto other =
      world().post("/api/v1/jobs", service_, R"({"job_type":"noop","payload":{"n":2}})", key);
  EXPECT_EQ(other.status, 422) << other.body;
  EXPECT_EQ(world().get("/api/v1/jobs", service_).json().at("items").as_array().size(), 1U);
  // The key of another tenant is another key (F05).
  const auto elsewhere = world().post(
      "/api/v1/jobs", world().jwt(Role::service_role, world().new_tenant()), body, key);
  EXPECT_EQ(elsewhere.status, 201);
  EXPECT_NE(elsewhere.json().at("job_id"), first.json().at("job_id"));
}

TEST_F(ApiJobs, DeadLettersAreGroupedAndStartAgain) {
  const auto operator_key = world().key(Role::operator_, tenant_);
  const auto id = enqueue(R"({"job_type":"fast_queue_ocr","payload":{"shell_file_id":"x"}})");
  kill_job(id);
  ASSERT_EQ(job(id).at("status"), json::Value("failed"));
  const auto groups = world().get("/api/v1/dead-letters/groups", operator_key);
  ASSERT_EQ(groups.status, 200) << groups.body;
  ASSERT_EQ(groups.json().at("items").as_array().size(), 1U) << groups.body;
  EXPECT_EQ(groups.json().at("items").at(0).at("jobs"), json::Value(1));
  const auto dead = world().get("/api/v1/dead-letters", operator_key);
  EXPECT_EQ(dead.json().at("items").at(0).at("job_id"), json::Value(id)) << dead.body;

  const auto redriven = world().post("/api/v1/dead-letters/redrive", operator_key,
                                     fmt::format(R"({{"job_ids":["{}"]}})", id));
  ASSERT_EQ(redriven.status, 200) << redriven.body;
  EXPECT_EQ(redriven.json().at("items").at(0).at("answer"), json::Value("redriven"));
  EXPECT_EQ(job(id).at("generation"), json::Value(2));
  kill_job(id);
  const auto retried = world().post("/api/v1/jobs/" + id + "/retry", operator_key, "{}");
  EXPECT_EQ(retried.status, 200) << retried.body;
  const auto history = world().get("/api/v1/jobs/" + id + "/audit", operator_key);
  EXPECT_THAT(history.body, HasSubstr("redriven"));
}

TEST_F(ApiJobs, ABatchCountsItsJobs) {
  const auto made = world().post(
      "/api/v1/batches", service_,
      R"({"name":"b","jobs":[{"job_type":"noop","payload":{"n":1}},{"job_type":"noop","payload":{"n":2}}]})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string id(made.json().at("batch_id").as_string());
  const auto batch = world().get("/api/v1/batches/" + id, service_);
  ASSERT_EQ(batch.status, 200) << batch.body;
  EXPECT_EQ(batch.json().at("total"), json::Value(2));
  const auto jobs = world().get("/api/v1/jobs?batch_id=" + id, service_);
  EXPECT_EQ(jobs.json().at("items").as_array().size(), 2U) << jobs.body;
  EXPECT_EQ(world().get("/api/v1/batches", service_).json().at("items").as_array().size(), 1U);
}

TEST_F(ApiJobs, TheLargestPageOfBatchesHasANextOne) {
  auto sql = world().sql();
  must(
      sql.query("insert into millrace.batch (batch_id, tenant_id, created_at, created_by) "
                "select gen_random_uuid(), $1, millrace.now(), 'test' from generate_series(1, 201)",
                pg::params(tenant_)));
  const auto first = world().get("/api/v1/batches?limit=200", service_).json();
  EXPECT_EQ(first.at("items").as_array().size(), 200U);
  ASSERT_TRUE(first.at("next_cursor").is_string());
  const std::string cursor(first.at("next_cursor").as_string());
  const auto last = world().get("/api/v1/batches?limit=200&cursor=" + cursor, service_).json();
  EXPECT_EQ(last.at("items").as_array().size(), 1U);
  EXPECT_TRUE(last.at("next_cursor").is_null());
}

TEST_F(ApiJobs, AQueueIsPausedAndResumedByOperators) {
  const auto token = world().key(Role::operator_);
  const auto paused =
      world().post("/api/v1/queues/export/pause", token, R"({"reason":"maintenance"})");
  ASSERT_EQ(paused.status, 200) << paused.body;
  EXPECT_EQ(paused.json().at("paused_reason"), json::Value("maintenance"));
  const auto resumed = world().post("/api/v1/queues/export/resume", token, "");
  EXPECT_EQ(resumed.status, 200) << resumed.body;
  EXPECT_TRUE(resumed.json().at("paused_at").is_null());
  const auto changed = world().ask({.method = "PUT",
                                    .path = "/api/v1/queues/export",
                                    .token = token,
                                    .body = R"({"concurrency_max":3,"lease":"15 minutes"})"});
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed.json().at("concurrency_max"), json::Value(3));
  const auto bad = world().ask({.method = "PUT",
                                .path = "/api/v1/queues/export",
                                .token = token,
                                .body = R"({"lease":"soon"})"});
  EXPECT_EQ(bad.status, 400) << bad.body;
}

TEST_F(ApiJobs, AScheduleMakesJobsNow) {
  const auto token = world().key(Role::operator_, tenant_);
  const auto set = world().ask(
      {.method = "PUT",
       .path = "/api/v1/cron/nightly",
       .token = token,
       .body = R"({"schedule":"0 2 * * *","job":{"job_type":"noop","payload":{"n":1}}})"});
  ASSERT_EQ(set.status, 200) << set.body;
  const auto run =
      world().ask({.method = "POST", .path = "/api/v1/cron/nightly/run", .token = token});
  EXPECT_EQ(run.status, 201) << run.body;
  EXPECT_EQ(
      world().ask({.method = "DELETE", .path = "/api/v1/cron/nightly", .token = token}).status,
      204);
  EXPECT_EQ(
      world().ask({.method = "DELETE", .path = "/api/v1/cron/nightly", .token = token}).status,
      404);
}

TEST_F(ApiJobs, AScalerLearnsOneNumberPerQueue) {  // D-08
  enqueue();
  const auto scale = world().get("/v1/scale/default", service_);
  ASSERT_EQ(scale.status, 200) << scale.body;
  EXPECT_EQ(scale.json().at("queues").at("default").at("demand"), json::Value(1)) << scale.body;
  EXPECT_EQ(world().get("/v1/scale/nowhere", service_).status, 404);
  EXPECT_EQ(world().get("/v1/scale/default").status, 401);
}

TEST_F(ApiJobs, StaffLearnsHowTheInstallationIs) {  // H-18, K04
  enqueue();
  const auto health = world().get("/api/v1/health", world().key(Role::reader));
  ASSERT_EQ(health.status, 200) << health.body;
  EXPECT_GE(health.json().at("queue_depth").to_number<int>(), 1);
  EXPECT_EQ(health.json().at("maintenance"), json::Value(false));
  // It tells of all tenants: a service of one of them does not learn it.
  EXPECT_EQ(world().get("/api/v1/health", service_).status, 403);
  EXPECT_EQ(world().get("/api/v1/health").status, 401);
}

TEST_F(ApiJobs, MetricsNameQueuesAndNeverTenants) {  // O-03, O-04
  enqueue();
  const auto page = world().get("/metrics");
  ASSERT_EQ(page.status, 200);
  EXPECT_THAT(page.header("content-type"), StartsWith("text/plain; version=0.0.4"));
  EXPECT_THAT(page.body, HasSubstr("millrace_database_up 1\n"));
  EXPECT_THAT(
      page.body,
      HasSubstr(
          "millrace_http_requests_total{method=\"POST\",route=\"/api/v1/jobs\",status=\"2xx\"}"));
  EXPECT_THAT(page.body, HasSubstr("# TYPE processing_stage_duration_seconds histogram"));
  EXPECT_THAT(page.body, HasSubstr("# TYPE processing_costs_total counter"));
  EXPECT_THAT(page.body, Not(HasSubstr(tenant_.to_string())));
}

}  // namespace
}  // namespace millrace::test
