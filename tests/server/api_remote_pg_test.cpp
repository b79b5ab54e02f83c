// Remote workers against the real server and database: the usual way, and every way it can break.
#include "api_world.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace millrace::test {
namespace {

using identity::Role;
using testing::HasSubstr;

// A worker as a client sees itself.
struct Remote {
  std::string token;  // Of the API.
  std::string worker_id;
  std::string process;

  std::string with(const std::string& rest = "") const {
    return fmt::format(R"({{"worker_id":"{}","process":"{}"{}{}}})", worker_id, process,
                       rest.empty() ? "" : ",", rest);
  }
};

struct Delivery {
  std::string job;
  std::string token;

  std::string held() const { return fmt::format(R"("job_id":"{}","token":"{}")", job, token); }
};

class RemoteWork : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<ApiWorld>(); }
  static void TearDownTestSuite() { world_.reset(); }
  static ApiWorld& world() { return *world_; }

  RemoteWork()
      : tenant_(world().new_tenant()), service_(world().jwt(Role::service_role, tenant_)) {}

  static Answered post(const std::string& verb, const Remote& remote,
                       const std::string& rest = "") {
    return world().post("/api/v1/work/" + verb, remote.token, remote.with(rest));
  }
  Remote enlist(const std::string& token) {
    const auto made = world().post("/api/v1/work/register", token, R"({"queues":["default"]})");
    EXPECT_EQ(made.status, 201) << made.body;
    return {.token = token,
            .worker_id = std::string(made.json().at("worker_id").as_string()),
            .process = std::string(made.json().at("process").as_string())};
  }
  Remote enlist() { return enlist(service_); }

  std::string enqueue() {
    const auto made =
        world().post("/api/v1/jobs", service_, R"({"job_type":"noop","payload":{"n":1}})");
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(made.json().at("job_id").as_string());
  }
  static std::string claim_body(int wait_seconds, const std::string& held = "", int credit = 5) {
    return fmt::format(
        R"("queues":["default"],"job_types":["noop"],"credit":{},"wait_seconds":{},"held":[{}])",
        credit, wait_seconds, held);
  }
  static std::vector<Delivery> deliveries_in(const json::Value& body) {
    std::vector<Delivery> out;
    for (const auto& job : body.at("jobs").as_array()) {
      out.push_back({.job = std::string(job.at("job_id").as_string()),
                     .token = std::string(job.at("token").as_string())});
    }
    return out;
  }
  static std::vector<Delivery> claim(const Remote& remote, int wait_seconds = 0,
                                     const std::string& held = "", int credit = 5) {
    const auto answered = post("claim", remote, claim_body(wait_seconds, held, credit));
    EXPECT_EQ(answered.status, 200) << answered.body;
    return deliveries_in(answered.json());
  }
  Delivery only(const Remote& remote) {
    const auto got = claim(remote);
    EXPECT_EQ(got.size(), 1U);
    return got.empty() ? Delivery() : got.front();
  }
  static std::string settle(const Remote& remote, const Delivery& delivery,
                            const std::string& outcome = R"("outcome":"ok","result":{"a":1})") {
    const auto answered = post(
        "settle", remote, fmt::format(R"("settlements":[{{{},{}}}])", delivery.held(), outcome));
    EXPECT_EQ(answered.status, 200) << answered.body;
    return std::string(answered.json().at("items").at(0).at("answer").as_string());
  }
  json::Object job(const std::string& id) {
    return world().get("/api/v1/jobs/" + id, service_).json().as_object();
  }
  std::int64_t number(const std::string& query, const std::string& value) {
    auto sql = world().sql();
    return must(sql.query(query, pg::params(value)))[0].i64("n");
  }
  // Time is over for a process: what the keeper then does.
  static void declare_dead(const Remote& remote) {
    auto sql = world().sql();
    must(
        sql.query("update millrace.worker set lease_until = millrace.now() - interval '1 second' "
                  "where worker_id = $1",
                  pg::params(remote.worker_id)));
    must(sql.query("select millrace.reclaim(100)"));
    must(sql.query("update millrace.delayed set due_at = millrace.now() - interval '1 second'"));
    must(sql.query("select millrace.promote_due(1000)"));
  }

  TenantId tenant_;
  std::string service_;

 private:
  static std::unique_ptr<ApiWorld> world_;
};

std::unique_ptr<ApiWorld> RemoteWork::world_;

TEST_F(RemoteWork, AJobIsClaimedReportedAndSettledOverHttp) {  // V-02
  const auto id = enqueue();
  const auto remote = enlist();
  const auto delivery = only(remote);
  EXPECT_EQ(delivery.job, id);
  EXPECT_EQ(job(id).at("status"), json::Value("processing"));
  const auto progress =
      post("progress", remote,
           fmt::format(R"("items":[{{{},"progress":40,"message":"half way"}}])", delivery.held()));
  EXPECT_EQ(progress.json().at("items").at(0).at("held"), json::Value(true)) << progress.body;
  EXPECT_EQ(job(id).at("progress"), json::Value(40));
  const auto logged =
      post("log", remote,
           fmt::format(R"("items":[{{{},"message":"hello from afar"}}])", delivery.held()));
  EXPECT_EQ(logged.json().at("kept"), json::Value(1)) << logged.body;
  const auto extended =
      post("extend", remote, fmt::format(R"("running":1,"leases":[{{{}}}])", delivery.held()));
  EXPECT_EQ(extended.json().at("leases").at(0).at("held"), json::Value(true)) << extended.body;
  EXPECT_EQ(settle(remote, delivery), "settled");
  EXPECT_EQ(job(id).at("status"), json::Value("completed"));
  EXPECT_EQ(job(id).at("result").at("a"), json::Value(1));
  EXPECT_THAT(world().get("/api/v1/jobs/" + id + "/logs", service_).body,
              HasSubstr("hello from afar"));
}

TEST_F(RemoteWork, SettlingTwiceGivesTheSameAnswerAndOneEnd) {
  const auto id = enqueue();
  const auto remote = enlist();
  const auto delivery = only(remote);
  EXPECT_EQ(settle(remote, delivery), "settled");
  EXPECT_EQ(settle(remote, delivery), "settled");
  const auto again = post("settle", remote,
                          fmt::format(R"("settlements":[{{{},"outcome":"ok"}}])", delivery.held()));
  EXPECT_EQ(again.json().at("items").at(0).at("repeated"), json::Value(true));
  // Also after it has left, and when it changes its mind.
  EXPECT_EQ(post("deregister", remote).status, 200);
  EXPECT_EQ(settle(remote, delivery, R"("outcome":"permanent")"), "settled");
  EXPECT_EQ(job(id).at("status"), json::Value("completed"));
}

TEST_F(RemoteWork, AZombieChangesNothingAndIsTold) {  // V-03, B12
  const auto id = enqueue();
  const auto zombie = enlist();
  const auto lost = only(zombie);
  declare_dead(zombie);
  EXPECT_EQ(post("claim", zombie, claim_body(0)).status, 409);
  EXPECT_EQ(post("extend", zombie).status, 409);
  EXPECT_EQ(settle(zombie, lost), "lease_lost");
  EXPECT_EQ(job(id).at("status"), json::Value("pending"));
  const auto heir = enlist();
  const auto delivery = only(heir);
  EXPECT_EQ(delivery.job, id);
  EXPECT_NE(delivery.token, lost.token);
  EXPECT_EQ(settle(zombie, lost), "lease_lost");
  EXPECT_EQ(settle(heir, delivery), "settled");
  EXPECT_EQ(settle(zombie, lost), "lease_lost");
  EXPECT_EQ(job(id).at("status"), json::Value("completed"));
}

TEST_F(RemoteWork, LeavingHandsBackWithoutCharge) {
  const auto id = enqueue();
  const auto remote = enlist();
  only(remote);
  const auto left = post("deregister", remote);
  EXPECT_EQ(left.json().at("handed_back"), json::Value(1)) << left.body;
  EXPECT_EQ(post("deregister", remote).json().at("handed_back"), json::Value(0));
  EXPECT_EQ(job(id).at("status"), json::Value("pending"));
  EXPECT_EQ(job(id).at("attempt"), json::Value(0));
  EXPECT_EQ(only(enlist()).job, id);
}

TEST_F(RemoteWork, CreditBoundsWhatIsHandedOut) {
  for (int i = 0; i < 5; ++i) enqueue();
  const auto remote = enlist();
  EXPECT_EQ(claim(remote, 0, "", 2).size(), 2U);
}

TEST_F(RemoteWork, AWaitingClaimGetsAJobThatComesLater) {
  const auto remote = enlist();
  http::Reply reply;
  std::jthread waiting([&] {
    http::RawClient client(world().address());
    reply = client.ask(ApiWorld::bytes_of({.method = "POST",
                                           .path = "/api/v1/work/claim",
                                           .token = remote.token,
                                           .body = remote.with(claim_body(15))}));
  });
  const auto id = enqueue();
  waiting.join();
  ASSERT_EQ(reply.status, 200) << reply.body;
  const auto got = deliveries_in(must(parse_json(reply.body)));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].job, id);
  EXPECT_EQ(settle(remote, got[0]), "settled");
}

// The client goes while its claim waits; a job that comes then is somebody else's at once.
TEST_F(RemoteWork, AClientThatLeavesItsLongPollTakesNothingWithIt) {
  const auto gone = enlist();
  {
    http::RawClient client(world().address());
    client.send(ApiWorld::bytes_of({.method = "POST",
                                    .path = "/api/v1/work/claim",
                                    .token = gone.token,
                                    .body = gone.with(claim_body(60))}));
    // Until it is served: it has given a sign of life since it was registered.
    ASSERT_TRUE(eventually([&] {
      return number(
                 "select count(*) as n from millrace.worker where worker_id = $1 and "
                 "beat_at > started_at",
                 gone.worker_id) == 1;
    }));
    client.close_with_reset();
  }
  const auto id = enqueue();
  const auto other = enlist();
  std::vector<Delivery> got;
  EXPECT_TRUE(eventually([&] {
    got = claim(other);
    return !got.empty();
  }));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].job, id);
  EXPECT_EQ(settle(other, got[0]), "settled");
}

// The answer of a claim is lost on the way: the next claim does not name what it held.
TEST_F(RemoteWork, JobsOfALostAnswerComeAgain) {
  const auto id = enqueue();
  const auto remote = enlist();
  const auto lost = only(remote);  // As if it had not been read.
  const auto again = claim(remote);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].job, id);
  EXPECT_NE(again[0].token, lost.token);
  EXPECT_EQ(job(id).at("attempt"), json::Value(1));  // The first one is not charged.
  EXPECT_EQ(settle(remote, lost), "lease_lost");
  // What is named stays.
  EXPECT_TRUE(claim(remote, 0, "\"" + again[0].token + "\"").empty());
  EXPECT_EQ(settle(remote, again[0]), "settled");
}

TEST_F(RemoteWork, AnotherTenantReachesNothing) {  // T-02
  const auto id = enqueue();
  const auto mine = enlist();
  const auto stranger = enlist(world().jwt(Role::service_role, world().new_tenant()));
  EXPECT_TRUE(claim(stranger).empty());
  const auto delivery = only(mine);
  // Not by its own name, not by mine.
  EXPECT_EQ(settle(stranger, delivery), "lease_lost");
  Remote thief = mine;
  thief.token = stranger.token;
  EXPECT_EQ(post("settle", thief,
                 fmt::format(R"("settlements":[{{{},"outcome":"ok"}}])", delivery.held()))
                .status,
            409);
  EXPECT_EQ(post("extend", thief).status, 409);
  EXPECT_EQ(post("deregister", thief).json().at("handed_back"), json::Value(0));
  EXPECT_EQ(job(id).at("status"), json::Value("processing"));
  EXPECT_EQ(settle(mine, delivery), "settled");
}

TEST_F(RemoteWork, OtherCredentialsOfTheTenantAreAnotherWorker) {
  const auto mine = enlist();
  Remote other = mine;
  other.token = world().key(Role::service_role, tenant_);
  EXPECT_EQ(post("claim", other, claim_body(0)).status, 409);
  EXPECT_EQ(post("extend", mine).status, 200);
}

TEST_F(RemoteWork, ACancelledJobIsToldToItsWorker) {
  const auto id = enqueue();
  const auto remote = enlist();
  const auto delivery = only(remote);
  EXPECT_EQ(
      world().post("/api/v1/jobs/" + id + "/cancel", service_, R"({"reason":"not needed"})").status,
      202);
  const auto told = post("extend", remote);
  ASSERT_EQ(told.json().at("cancel").as_array().size(), 1U) << told.body;
  EXPECT_EQ(told.json().at("cancel").at(0).at("reason"), json::Value("not needed"));
  EXPECT_EQ(settle(remote, delivery, R"("outcome":"cancelled")"), "settled");
  EXPECT_EQ(job(id).at("status"), json::Value("cancelled"));
}

TEST_F(RemoteWork, EffectsCommitWithTheOutcome) {
  enqueue();
  const auto remote = enlist();
  const auto delivery = only(remote);
  EXPECT_EQ(settle(remote, delivery,
                   R"("outcome":"ok","effects":{"jobs":[{"job_type":"noop","payload":{"n":2}}]})"),
            "settled");
  EXPECT_EQ(settle(remote, delivery,
                   R"("outcome":"ok","effects":{"jobs":[{"job_type":"noop","payload":{"n":2}}]})"),
            "settled");
  EXPECT_EQ(number("select count(*) as n from millrace.job_fact where tenant_id = $1::uuid",
                   tenant_.to_string()),
            2);
}

TEST_F(RemoteWork, AQueueThatIsNotThereIsNotFound) {
  const auto remote = enlist();
  const auto answered = post("claim", remote, R"("queues":["nowhere"],"wait_seconds":0,"held":[])");
  EXPECT_EQ(answered.status, 404) << answered.body;
}

TEST(RemoteDrain, AServerThatStopsAnswersItsLongPollsAtOnce) {
  ApiWorld world;
  const auto token = world.jwt(Role::service_role, world.new_tenant());
  const auto made = world.post("/api/v1/work/register", token, R"({"queues":["default"]})");
  ASSERT_EQ(made.status, 201) << made.body;
  const Remote remote{.token = token,
                      .worker_id = std::string(made.json().at("worker_id").as_string()),
                      .process = std::string(made.json().at("process").as_string())};
  http::RawClient client(world.address());
  client.send(ApiWorld::bytes_of(
      {.method = "POST",
       .path = "/api/v1/work/claim",
       .token = token,
       .body = remote.with(R"("queues":["default"],"wait_seconds":60,"held":[])")}));
  auto sql = world.sql();
  ASSERT_TRUE(eventually([&] {
    return must(
               sql.query("select count(*) as n from millrace.worker where beat_at > started_at"))[0]
               .i64("n") == 1;
  }));
  const auto asked = std::chrono::steady_clock::now();
  world.program().signal(SIGTERM);
  const auto reply = client.read_reply();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(15));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"jobs":[],"cancel":[]})");
  EXPECT_EQ(world.program().wait(), 0) << world.program().err();
}

}  // namespace
}  // namespace millrace::test
