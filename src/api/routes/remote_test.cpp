#include "api/routes/remote.h"

#include "api/api_fixture.h"
#include "api/routes/remote_claim.h"
#include "api/schemas.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>

namespace millrace::api {
namespace {

using identity::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const std::string kJob = "0190a000-0000-7000-8000-000000000001";
const std::string kToken = "44444444-4444-4444-8444-444444444444";
const std::string kProcess = "55555555-5555-4555-8555-555555555555";

ClaimedJob claimed_job() {
  ClaimedJob job;
  job.id = *JobId::parse(kJob);
  job.token = *LeaseToken::parse(kToken);
  job.tenant = kTenant;
  job.queue = "default";
  job.job_type = "noop";
  job.payload_json = R"({"n": 1.00000000000000000001})";
  return job;
}

// The engine's verbs, as far as the routes can tell. One thread of the server asks it.
class FakeWork final : public store::RemoteWorkStore {
 public:
  Task<Uuid> register_worker(store::CallContext caller, std::string worker_id,
                             store::WorkerInfo info, Uuid token_id) override {
    last_caller = std::move(caller);
    worker = std::move(worker_id);
    last_info = std::move(info);
    credentials = token_id;
    co_return *Uuid::parse(kProcess);
  }
  Task<store::BeatAnswer> beat_worker(store::CallContext, store::RemoteWorker who,
                                      store::BeatInfo info) override {
    MR_CO_TRY_VOID(check(who));
    last_beat = info;
    co_return store::BeatAnswer{
        .alive = true, .lease = std::chrono::milliseconds(30'000), .cancel = cancel};
  }
  Task<int> retire_worker(store::CallContext, store::RemoteWorker who) override {
    MR_CO_TRY_VOID(check(who));
    worker.clear();
    co_return 1;
  }
  Task<std::vector<ClaimedJob>> claim_jobs(store::CallContext, store::RemoteWorker who,
                                           store::RemoteClaim claim) override {
    MR_CO_TRY_VOID(check(who));
    claims.push_back(claim);
    if (on_claim) on_claim();
    auto& waiting = ready[claim.queue];
    std::vector<ClaimedJob> out;
    while (!waiting.empty() && static_cast<int>(out.size()) < claim.limit) {
      out.push_back(std::move(waiting.back()));
      waiting.pop_back();
    }
    co_return out;
  }
  Task<std::vector<store::HeldLease>> unheld_leases(store::CallContext, store::RemoteWorker,
                                                    std::vector<LeaseToken> held) override {
    last_held = std::move(held);
    co_return unheld;
  }
  Task<std::vector<store::ExtendAnswer>> extend_leases(store::CallContext, store::RemoteWorker,
                                                       std::vector<store::HeldLease> leases,
                                                       std::chrono::milliseconds extend) override {
    last_extend = extend;
    std::vector<store::ExtendAnswer> out;
    for (const auto& lease : leases) out.push_back({.id = lease.id, .extended = true});
    co_return out;
  }
  Task<std::string> settle_jobs(store::CallContext, store::RemoteWorker,
                                std::string settlements_json) override {
    settled.push_back(std::move(settlements_json));
    co_return R"([{"job_id": ")" + kJob + R"(", "answer": ")" + answer + R"("}])";
  }
  Task<std::string> report_progress(store::CallContext, store::RemoteWorker who,
                                    std::string items_json) override {
    MR_CO_TRY_VOID(check(who));
    reports.push_back(std::move(items_json));
    co_return R"([{"job_id": ")" + kJob + R"(", "answer": ")" + answer +
        R"(", "cancel_requested": true}])";
  }
  Task<int> append_logs(store::CallContext, store::RemoteWorker who,
                        std::string items_json) override {
    MR_CO_TRY_VOID(check(who));
    reports.push_back(std::move(items_json));
    co_return 1;
  }

  Result<void> check(const store::RemoteWorker& who) const {
    if (who.key.worker_id == worker && who.token_id == credentials) return {};
    return fail(Error{.kind = ErrorKind::lease_lost,
                      .message = "worker " + who.key.worker_id + " is not registered",
                      .sqlstate = "MR023"});
  }

  std::string worker;
  Uuid credentials;
  std::string answer = "settled";
  std::map<std::string, std::vector<ClaimedJob>> ready;
  std::vector<store::HeldLease> unheld;
  std::vector<store::CancelRequest> cancel;
  std::function<void()> on_claim;

  store::CallContext last_caller;
  store::WorkerInfo last_info;
  store::BeatInfo last_beat;
  std::vector<LeaseToken> last_held;
  std::chrono::milliseconds last_extend{0};
  std::vector<store::RemoteClaim> claims;
  std::vector<std::string> settled;
  std::vector<std::string> reports;
};

class RemoteRoutes : public testing::Test {
 protected:
  RemoteRoutes() : token_(api_.token(Role::service_role, kTenant)) {}

  http::Reply post(const std::string& verb, const std::string& body) {
    return api_.post("/api/v1/work/" + verb, body, ApiFixture::bearer(token_));
  }
  json::Object enlist() {
    const auto reply = post("register", R"({"name":"py","queues":["default"],"slots":4})");
    EXPECT_EQ(reply.status, 201) << reply.body;
    return object_of(reply);
  }
  // A body that begins with who is calling.
  std::string as_worker(const std::string& rest = "") const {
    return R"({"worker_id":")" + work_.worker + R"(","process":")" + kProcess + "\"" +
           (rest.empty() ? "" : "," + rest) + "}";
  }
  http::Reply claim(const std::string& rest = R"("queues":["default"],"held":[])",
                    int wait_seconds = 0) {
    return post("claim", as_worker(rest + R"(,"wait_seconds":)" + std::to_string(wait_seconds)));
  }

  SystemClock clock_;
  SeededRandom random_{7};
  Logger log_ = Logger::silent();
  FakeWork work_;
  ClaimLine line_{nullptr, clock_, log_, std::chrono::milliseconds(50)};
  ApiFixture api_{
      remote_operations(
          {.store = work_, .line = line_, .clock = clock_, .random = random_, .log = log_}),
      {},
      component_schemas()};
  std::string token_;
};

TEST_F(RemoteRoutes, AProcessGetsANameOfItsOwn) {
  const auto first = enlist();
  EXPECT_THAT(text_of(first, "worker_id"), testing::StartsWith("py-"));
  EXPECT_EQ(text_of(first, "process"), kProcess);
  EXPECT_EQ(work_.last_info.slots, 4);
  EXPECT_EQ(work_.last_info.lease, std::chrono::seconds(30));
  EXPECT_EQ(work_.last_caller.tenant, kTenant);
  // Whoever did not hear the answer asks again.
  EXPECT_NE(text_of(enlist(), "worker_id"), text_of(first, "worker_id"));
}

TEST_F(RemoteRoutes, OnlyThoseWhoMayWorkAreLetIn) {
  for (const auto role : {Role::reader, Role::operator_}) {
    EXPECT_EQ(api_.post("/api/v1/work/register", R"({"queues":["default"]})",
                        ApiFixture::bearer(api_.key(role)))
                  .status,
              403);
  }
  const auto person = api_.token(Role::authenticated, kTenant, identity::UserId{random_.uuid()});
  EXPECT_EQ(
      api_.post("/api/v1/work/register", R"({"queues":["default"]})", ApiFixture::bearer(person))
          .status,
      403);
}

TEST_F(RemoteRoutes, JobsAreHandedOutWithTheirFenceUpToTheCredit) {
  enlist();
  work_.ready["default"] = {claimed_job()};
  const auto reply =
      claim(R"("queues":["default","other"],"job_types":["noop"],"credit":3,"held":[])");
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto jobs = object_of(reply).at("jobs").as_array();
  ASSERT_EQ(jobs.size(), 1U);
  const auto& job = jobs[0].as_object();
  EXPECT_EQ(text_of(job, "token"), kToken);
  EXPECT_EQ(text_of(job, "idempotency_key"), kJob + ":1");
  EXPECT_THAT(reply.body, HasSubstr("1.00000000000000000001"));
  ASSERT_EQ(work_.claims.size(), 2U);
  EXPECT_EQ(work_.claims[0].limit, 3);
  EXPECT_EQ(work_.claims[1].queue, "other");
  EXPECT_EQ(work_.claims[1].limit, 2);
  EXPECT_THAT(work_.claims[0].job_types, ElementsAre("noop"));
}

TEST_F(RemoteRoutes, AnAnswerHoldsNoMoreBytesThanItMay) {
  enlist();
  auto large = claimed_job();
  large.payload_json = R"({"x":")" + std::string(250'000, 'x') + R"("})";
  large.carry_json = large.payload_json;
  work_.ready["default"].assign(60, large);
  const auto reply = claim(R"("queues":["default"],"credit":100,"held":[])");
  ASSERT_EQ(reply.status, 200);
  EXPECT_LE(reply.body.size(), kClaimMaxBytes);
  const auto body = parse_json_object(reply.body, {.max_bytes = 2 * kClaimMaxBytes});
  ASSERT_TRUE(body);
  const auto got = body->at("jobs").as_array().size();
  EXPECT_GE(got, 15U);
  // Every job that was claimed was handed out: none was taken to be given back.
  EXPECT_EQ(got + work_.ready["default"].size(), 60U);
  EXPECT_THAT(work_.settled, IsEmpty());
}

TEST_F(RemoteRoutes, SmallJobsFillTheCreditInAFewPieces) {
  enlist();
  work_.ready["default"].assign(200, claimed_job());
  const auto reply = claim(R"("queues":["default","other"],"credit":100,"held":[])");
  EXPECT_EQ(object_of(reply).at("jobs").as_array().size(), 100U) << reply.status;
  EXPECT_LE(work_.claims.size(), 8U);
  EXPECT_EQ(claim(R"("queues":["default"],"credit":101,"held":[])").status, 400);
}

TEST_F(RemoteRoutes, AWaitingClaimGetsTheJobThatComes) {
  enlist();
  // Nothing at the first two looks; the job is there at the next, which a notification brings.
  int looks = 0;
  work_.on_claim = [&] {
    if (++looks == 2) line_.ring();
    if (looks == 3) work_.ready["default"] = {claimed_job()};
  };
  const auto reply = claim(R"("queues":["default"],"held":[])", 20);
  EXPECT_EQ(object_of(reply).at("jobs").as_array().size(), 1U) << reply.body;
}

TEST_F(RemoteRoutes, WhatALostAnswerHeldGoesBack) {
  enlist();
  work_.unheld = {{.id = *JobId::parse(kJob), .token = *LeaseToken::parse(kToken)}};
  const auto reply = claim(R"("queues":["default"],"held":[")" + kProcess + R"("])");
  EXPECT_EQ(reply.status, 200) << reply.body;
  ASSERT_EQ(work_.last_held.size(), 1U);
  EXPECT_EQ(work_.last_held[0].to_string(), kProcess);
  ASSERT_EQ(work_.settled.size(), 1U);
  EXPECT_THAT(work_.settled[0], HasSubstr(R"("outcome":"handback")"));
  EXPECT_THAT(work_.settled[0], HasSubstr(kToken));
}

TEST_F(RemoteRoutes, AClaimOfAnUnknownProcessIsAConflict) {
  enlist();
  const auto reply = post("claim", R"({"worker_id":"nobody","process":")" + kProcess +
                                       R"(","queues":["a"],"held":[]})");
  EXPECT_EQ(reply.status, 409) << reply.body;
  EXPECT_EQ(text_of(object_of(reply), "code"), "lease_lost");
  // Nor may others act in its name.
  token_ = api_.token(Role::service_role, kTenant);
  EXPECT_EQ(claim().status, 409);
}

TEST_F(RemoteRoutes, ASignOfLifeExtendsAndTellsWhatToStop) {
  enlist();
  work_.cancel = {
      {.id = *JobId::parse(kJob), .token = *LeaseToken::parse(kToken), .reason = "not needed"}};
  const auto lease = R"({"job_id":")" + kJob + R"(","token":")" + kToken + "\"}";
  const auto reply = post(
      "extend",
      as_worker(R"("running":2,"draining":true,"extend_seconds":60,"leases":[)" + lease + "]"));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(work_.last_beat.running, 2);
  EXPECT_TRUE(work_.last_beat.draining);
  EXPECT_EQ(work_.last_extend, std::chrono::seconds(60));
  const auto body = object_of(reply);
  EXPECT_EQ(body.at("lease_seconds").to_number<double>(), 30);
  EXPECT_EQ(body.at("leases").at(0).at("held"), json::Value(true));
  EXPECT_EQ(body.at("cancel").at(0).at("reason"), json::Value("not needed"));
}

TEST_F(RemoteRoutes, ASettlementIsPassedOnAsItWasWritten) {
  enlist();
  const auto reply =
      post("settle", as_worker(R"("settlements":[{"job_id":")" + kJob + R"(","token":")" + kToken +
                               R"(","outcome":"ok","result":{"pi":3.14159265358979323846}}])"));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(work_.settled.at(0), HasSubstr("3.14159265358979323846"));
  EXPECT_EQ(object_of(reply).at("items").at(0).at("repeated"), json::Value(false));
}

TEST_F(RemoteRoutes, ARepeatedSettlementGetsTheSameAnswer) {  // B12
  enlist();
  const auto body = as_worker(R"("settlements":[{"job_id":")" + kJob + R"(","token":")" + kToken +
                              R"(","outcome":"ok"}])");
  const auto first = post("settle", body);
  work_.answer = "already_settled";
  const auto second = post("settle", body);
  EXPECT_EQ(object_of(first).at("items").at(0).at("answer"), json::Value("settled"));
  EXPECT_EQ(object_of(second).at("items").at(0).at("answer"), json::Value("settled"));
  EXPECT_EQ(object_of(second).at("items").at(0).at("repeated"), json::Value(true));
  work_.answer = "lease_lost";
  EXPECT_EQ(object_of(post("settle", body)).at("items").at(0).at("answer"),
            json::Value("lease_lost"));
}

TEST_F(RemoteRoutes, ASettlementMayNotSayWhatWasStored) {
  enlist();
  const auto reply =
      post("settle",
           as_worker(R"("settlements":[{"job_id":")" + kJob + R"(","token":")" + kToken +
                     R"(","outcome":"ok","effects":{"output":{"outputs":{},"artifacts":[]}}}])"));
  EXPECT_EQ(reply.status, 400) << reply.body;
  EXPECT_THAT(work_.settled, IsEmpty());
}

TEST_F(RemoteRoutes, ProgressAndLinesAreKept) {
  enlist();
  const auto held = R"({"job_id":")" + kJob + R"(","token":")" + kToken + "\"";
  const auto progress = post("progress", as_worker(R"("items":[)" + held + R"(,"progress":40}])"));
  ASSERT_EQ(progress.status, 200) << progress.body;
  EXPECT_EQ(object_of(progress).at("items").at(0).at("held"), json::Value(true));
  EXPECT_EQ(object_of(progress).at("items").at(0).at("cancel_requested"), json::Value(true));
  const auto lines = post("log", as_worker(R"("items":[)" + held + R"(,"message":"hello"}])"));
  ASSERT_EQ(lines.status, 200) << lines.body;
  EXPECT_EQ(object_of(lines).at("kept"), json::Value(1));
  EXPECT_EQ(post("log", as_worker(R"("items":[)" + held + "}]")).status, 400);
}

TEST_F(RemoteRoutes, LinesThatAreJsonAreKeptWithoutWhatDocumentsSay) {  // T-09
  enlist();
  const auto line = R"({"job_id":")" + kJob + R"(","token":")" + kToken +
                    R"(","message":"{\"page\":1,\"text\":\"Jane Doe\"}"})";
  ASSERT_EQ(post("log", as_worker(R"("items":[)" + line + "]")).status, 200);
  const auto kept = parse_json(work_.reports.back()).value();
  EXPECT_EQ(kept.at(0).at("message"), json::Value(R"({"page":1,"text":"[REDACTED - 8 chars]"})"));
}

TEST_F(RemoteRoutes, LeavingTwiceIsLeavingOnce) {
  enlist();
  const auto body = as_worker();
  EXPECT_EQ(object_of(post("deregister", body)).at("handed_back"), json::Value(1));
  EXPECT_EQ(object_of(post("deregister", body)).at("handed_back"), json::Value(0));
}

TEST(CredentialsId, IsTheTokensOwnWhereItHasOne) {
  identity::Caller caller;
  caller.token_id = kToken;
  EXPECT_EQ(credentials_id(caller).to_string(), kToken);
  caller.token_id = "";
  caller.subject = "a";
  const auto first = credentials_id(caller);
  EXPECT_EQ(credentials_id(caller), first);
  caller.subject = "b";
  EXPECT_NE(credentials_id(caller), first);
}

}  // namespace
}  // namespace millrace::api
