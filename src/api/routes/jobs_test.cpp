#include "api/routes/jobs.h"

#include "api/api_fixture.h"
#include "api/cursor.h"
#include "api/schemas.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using identity::Role;
using testing::ElementsAre;
using testing::HasSubstr;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const std::string kJob = "0190a000-0000-7000-8000-000000000001";
const std::string kNext = "0190a000-0000-7000-8000-000000000002";

class FakeReader final : public store::JobReader {
 public:
  Task<std::string> job_status(store::CallContext caller, JobId job) override {
    last_caller = std::move(caller);
    if (job.to_string() != kJob) {
      co_return fail(Error{.kind = ErrorKind::not_found,
                           .message = "job " + job.to_string() + " does not exist",
                           .sqlstate = "MR009"});
    }
    co_return R"({"job_id":")" + kJob + R"(","status":")" + status +
        R"(","result":{"pi":3.14159265358979323846},"error":null,"finished_at":null})";
  }
  Task<std::string> job_detail(store::CallContext, JobId) override {
    co_return R"({"payload":{}})";
  }
  Task<std::string> list_jobs(store::CallContext, store::JobQuery query) override {
    last_query = std::move(query);
    co_return R"({"jobs" : [{"job_id":")" + kJob + R"("}], "next" : ")" + kNext + R"("})";
  }
  Task<std::string> job_log_page(store::CallContext, JobId, std::int64_t after,
                                 int limit) override {
    std::string rows = "[";
    for (int i = 0; i < limit && after + i < 5; ++i) {
      rows +=
          (i == 0 ? "" : ",") + std::string(R"({"log_seq":)") + std::to_string(after + i + 1) + "}";
    }
    co_return rows + "]";
  }
  Task<std::string> get_batch(store::CallContext, BatchId) override { co_return "{}"; }
  Task<std::string> list_batches(store::CallContext, std::optional<Uuid>, int) override {
    co_return "[]";
  }
  Task<std::string> dead_groups(store::CallContext, std::optional<std::string>,
                                std::optional<JobId> before, int) override {
    co_return fmt::format(
        R"({{"groups":[{{"queue":"default","fingerprint":"f","jobs":2}}],"next":{}}})",
        before ? "null" : "\"" + kNext + "\"");
  }

  std::string status = "processing";
  store::CallContext last_caller;
  store::JobQuery last_query;
};

class FakeWriter final : public store::JobWriter {
 public:
  Task<std::string> enqueue_jobs(store::CallContext, std::string jobs, store::RequestKey) override {
    last_jobs = std::move(jobs);
    co_return R"([{"job_id" : ")" + kJob + R"(", "answer" : ")" + answer + R"("}])";
  }
  Task<std::string> create_batch(store::CallContext, std::string jobs, std::string options,
                                 store::RequestKey) override {
    last_jobs = std::move(jobs);
    last_options = std::move(options);
    co_return R"({"batch_id":")" + kNext + R"("})";
  }
  Task<std::string> cancel_jobs(store::CallContext, std::vector<JobId> jobs,
                                std::optional<std::string>, store::RequestKey) override {
    co_return R"([{"job_id":")" + jobs.front().to_string() + R"(","answer":")" + answer + R"("}])";
  }
  Task<std::string> retry_job(store::CallContext, JobId job, std::optional<std::string>,
                              store::RequestKey) override {
    co_return R"({"job_id":")" + job.to_string() + R"(","answer":")" + answer + R"("})";
  }
  Task<std::string> redrive_jobs(store::CallContext caller, store::RedriveRequest request,
                                 store::RequestKey) override {
    last_caller = std::move(caller);
    last_options = request.filter_json;
    co_return R"([{"job_id":")" + kJob + R"(","answer":")" + answer + R"(","due_at":null}])";
  }

  std::string answer = "created";
  std::string last_jobs;
  std::string last_options;
  store::CallContext last_caller;
};

class JobRoutes : public testing::Test {
 protected:
  static std::vector<Operation> operations(JobStores stores) {
    auto all = job_read_operations(stores);
    for (auto list :
         {job_write_operations(stores), batch_operations(stores), dead_letter_operations(stores)}) {
      for (auto& operation : list) all.push_back(std::move(operation));
    }
    return all;
  }
  std::string service() { return ApiFixture::bearer(api_.token(Role::service_role, kTenant)); }
  std::string staff() { return ApiFixture::bearer(api_.key(Role::operator_)); }

  FakeReader reader_;
  FakeWriter writer_;
  ApiFixture api_{operations({.reader = reader_, .writer = writer_}), {}, component_schemas()};
};

TEST_F(JobRoutes, AJobIsHandedOutAsTheDatabaseWroteIt) {
  const auto reply = api_.get("/api/v1/jobs/" + kJob, service());
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr("3.14159265358979323846"));
  EXPECT_EQ(reader_.last_caller.role, "service_role");
  EXPECT_EQ(reader_.last_caller.tenant, kTenant);
  EXPECT_EQ(api_.get("/api/v1/jobs/" + kNext, service()).status, 404);
  EXPECT_EQ(api_.get("/api/v1/jobs/17", service()).status, 400);
  EXPECT_THAT(api_.get("/api/v1/jobs/" + kJob + "?detail=true", service()).body,
              HasSubstr("payload"));
}

TEST_F(JobRoutes, ANewJobKeepsItsDigitsAndGetsTheIdsOfItsRequest) {  // A-07
  const auto reply =
      api_.post("/api/v1/jobs", R"( {"job_type":"noop","payload":{"x":1.00000000000000000001}})",
                service() + "x-correlation-id: order-17\r\n");
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(reply.header("location"), "/api/v1/jobs/" + kJob);
  EXPECT_EQ(text_of(object_of(reply), "job_id"), kJob);
  EXPECT_THAT(writer_.last_jobs, HasSubstr("1.00000000000000000001"));
  EXPECT_THAT(writer_.last_jobs, HasSubstr(R"("correlation_id":"order-17")"));
  EXPECT_THAT(writer_.last_jobs, HasSubstr(R"("traceparent":"00-)"));
  EXPECT_TRUE(parse_json_object(writer_.last_jobs).has_value()) << writer_.last_jobs;
  writer_.answer = "duplicate";
  EXPECT_EQ(api_.post("/api/v1/jobs", R"({"job_type":"noop","payload":{"n":1}})", service()).status,
            200);
}

TEST_F(JobRoutes, AJobMayNameItsOwnCorrelation) {
  api_.post(
      "/api/v1/jobs/bulk",
      R"([{"job_type":"a","payload":{},"correlation_id":"mine"},{"job_type":"b","payload":{}}])",
      service() + "x-correlation-id: order-17\r\n");
  const auto jobs = parse_json(writer_.last_jobs);
  ASSERT_TRUE(jobs) << writer_.last_jobs;
  EXPECT_EQ(jobs->at(0).at("correlation_id"), json::Value("mine"));
  EXPECT_EQ(jobs->at(1).at("correlation_id"), json::Value("order-17"));
}

TEST_F(JobRoutes, NumbersKeepTheirDigitsInEveryFormOfRequest) {
  const std::string exact = "12345678901234567890123.10";
  const auto job = R"({"job_type":"a","payload":{"n":)" + exact + "}}";
  EXPECT_EQ(api_.post("/api/v1/jobs/bulk", "[" + job + " , " + job + "]", service()).status, 201);
  const auto bulk = parse_json(writer_.last_jobs);
  ASSERT_TRUE(bulk) << writer_.last_jobs;
  EXPECT_EQ(bulk->as_array().size(), 2U);
  EXPECT_NE(writer_.last_jobs.find(exact), writer_.last_jobs.rfind(exact));
  const auto batch =
      api_.post("/api/v1/batches",
                R"({"\u006aobs":[)" + job + R"(],"name":"n","callback":)" + job + "}", service());
  EXPECT_EQ(batch.status, 201) << batch.body;
  EXPECT_THAT(writer_.last_jobs, HasSubstr(exact));
  EXPECT_THAT(writer_.last_options, HasSubstr(exact));
  EXPECT_TRUE(parse_json_object(writer_.last_options).has_value()) << writer_.last_options;
  reader_.status = "completed";
  EXPECT_THAT(api_.get("/api/v1/jobs/" + kJob + "/result", service()).body,
              HasSubstr("3.14159265358979323846"));
}

TEST_F(JobRoutes, ARepeatedRequestGetsTheLocationToo) {
  const std::string key = "Idempotency-Key: k-1\r\n";
  const std::string body = R"({"job_type":"noop","payload":{"n":1}})";
  const auto first = api_.post("/api/v1/jobs", body, service() + key);
  ASSERT_EQ(api_.requests.rows.size(), 1U);
  auto& row = api_.requests.rows.begin()->second;
  row.done = true;
  row.answer.effect_json = R"([{"answer": "created", "job_id": ")" + kJob + R"("}])";
  const auto again = api_.post("/api/v1/jobs", body, service() + key);
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(again.status, first.status);
  EXPECT_EQ(again.header("location"), "/api/v1/jobs/" + kJob);
  EXPECT_EQ(again.header("location"), first.header("location"));
}

TEST_F(JobRoutes, AUserEnqueuesNothingDirectly) {  // U-10
  const auto user = identity::UserId{kTenant.value};
  const auto headers = ApiFixture::bearer(api_.token(Role::authenticated, kTenant, user));
  EXPECT_EQ(api_.post("/api/v1/jobs", R"({"job_type":"noop"})", headers).status, 403);
  EXPECT_EQ(api_.post("/api/v1/batches", R"({"jobs":[{"job_type":"noop"}]})", headers).status, 403);
  EXPECT_TRUE(writer_.last_jobs.empty());
}

TEST_F(JobRoutes, AListHasFiltersAndACursorThatLeadsOn) {
  const auto reply = api_.get("/api/v1/jobs?status=failed&queue=ocr&limit=7", service());
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reader_.last_query.status, "failed");
  EXPECT_EQ(reader_.last_query.queue, "ocr");
  EXPECT_EQ(reader_.last_query.limit, 7);
  const auto cursor = text_of(object_of(reply), "next_cursor");
  ASSERT_FALSE(cursor.empty());
  EXPECT_EQ(api_.get("/api/v1/jobs?cursor=" + cursor, service()).status, 200);
  EXPECT_EQ(reader_.last_query.before->to_string(), kNext);
  for (const auto* bad : {"cursor=x", "status=running", "limit=201", "owner_id=me"}) {
    EXPECT_EQ(api_.get(std::string("/api/v1/jobs?") + bad, service()).status, 400) << bad;
  }
  EXPECT_EQ(api_.get("/api/v1/jobs?cursor=" + make_cursor("audit", kNext), service()).status, 400);
}

TEST_F(JobRoutes, LogsComeInPagesUntilTheLast) {
  std::string cursor;
  std::vector<std::int64_t> seen;
  for (int page = 0; page < 10; ++page) {
    const auto reply = api_.get(
        "/api/v1/jobs/" + kJob + "/logs?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor),
        service());
    ASSERT_EQ(reply.status, 200) << reply.body;
    const auto body = object_of(reply);
    for (const auto& line : body.at("items").as_array()) {
      seen.push_back(line.at("log_seq").as_int64());
    }
    cursor = text_of(body, "next_cursor");
    if (cursor.empty()) break;
  }
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(JobRoutes, AResultIsThereWhenTheJobHasEnded) {  // H-15
  EXPECT_EQ(api_.get("/api/v1/jobs/" + kJob + "/result", service()).status, 409);
  EXPECT_EQ(api_.get("/api/v1/jobs/" + kNext + "/result", service()).status, 404);
  reader_.status = "completed";
  const auto reply = api_.get("/api/v1/jobs/" + kJob + "/result", service());
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(text_of(object_of(reply), "status"), "completed");
}

TEST_F(JobRoutes, CancellingSaysWhatBecameOfTheJob) {  // X-20
  const auto path = "/api/v1/jobs/" + kJob + "/cancel";
  for (const auto& [answer, status] :
       {std::pair{"cancelled", 200}, std::pair{"cancel_requested", 202},
        std::pair{"already_final", 409}, std::pair{"not_found", 404}}) {
    writer_.answer = answer;
    EXPECT_EQ(api_.post(path, R"({"reason":"not needed"})", service()).status, status) << answer;
  }
  writer_.answer = "cancelled";
  EXPECT_EQ(api_.post(path, "", service()).status, 200);
  EXPECT_EQ(api_.post(path, R"({"why":"x"})", service()).status, 400);
}

TEST_F(JobRoutes, RetryRunsWhatWaitsAndRedrivesWhatFailed) {
  const auto path = "/api/v1/jobs/" + kJob + "/retry";
  for (const auto& [answer, status, said] :
       {std::tuple{"redriven", 200, "redriven"}, std::tuple{"ready", 200, "ready"},
        std::tuple{"busy", 409, ""}, std::tuple{"leased", 409, ""},
        std::tuple{"not_found", 404, ""}}) {
    writer_.answer = answer;
    const auto reply = api_.post(path, "", staff());
    EXPECT_EQ(reply.status, status) << answer << reply.body;
    if (status == 200) EXPECT_EQ(text_of(object_of(reply), "answer"), said);
  }
  EXPECT_EQ(api_.post(path, "", service()).status, 403);
}

TEST_F(JobRoutes, ARedriveOfEverythingHasToSaySo) {
  writer_.answer = "redriven";
  EXPECT_EQ(api_.post("/api/v1/dead-letters/redrive", "{}", staff()).status, 400);
  // Too large to count must not mean "all at once".
  EXPECT_EQ(api_.post("/api/v1/dead-letters/redrive",
                      R"({"all":true,"per_minute":18446744073709551615})", staff())
                .status,
            400);
  EXPECT_EQ(api_.post("/api/v1/dead-letters/redrive", R"({"limit":5})", staff()).status, 400);
  EXPECT_EQ(api_.post("/api/v1/dead-letters/redrive", R"({"all":true})", staff()).status, 200);
  EXPECT_EQ(writer_.last_options, "{}");
  EXPECT_EQ(api_.post("/api/v1/dead-letters/redrive", R"({"queue":"ocr"})", staff()).status, 200);
  EXPECT_EQ(writer_.last_options, R"({"queue":"ocr"})");
}

TEST_F(JobRoutes, GroupsOfDeadLettersComeInPages) {
  const auto first = api_.get("/api/v1/dead-letters/groups", staff());
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_THAT(first.body, HasSubstr(R"("fingerprint":"f")"));
  const auto cursor = text_of(object_of(first), "next_cursor");
  ASSERT_FALSE(cursor.empty());
  const auto last = api_.get("/api/v1/dead-letters/groups?cursor=" + cursor, staff());
  ASSERT_EQ(last.status, 200) << last.body;
  EXPECT_TRUE(object_of(last).at("next_cursor").is_null());
  const auto other = make_cursor("jobs", kNext);
  EXPECT_EQ(api_.get("/api/v1/dead-letters/groups?cursor=" + other, staff()).status, 400);
}

}  // namespace
}  // namespace millrace::api
