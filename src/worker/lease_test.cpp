// The process lease: beats, loss, registering anew; and answers that were lost.
#include "worker/runtime_fixture.h"

#include <set>

namespace millrace::worker::test {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

class LeaseTest : public RuntimeTest {};

TEST_F(LeaseTest, BeatsAtLeastThreeTimesPerLease) {
  options.lease = 3s;
  options.beat_interval = 60s;
  start();
  advance(30s);
  EXPECT_GE(store.calls["beat_worker"], 27);
  EXPECT_LE(store.calls["beat_worker"], 34);
  EXPECT_EQ(store.workers.size(), 1U);
}

TEST_F(LeaseTest, SaysHowManyJobsRun) {
  store.add_many(3, "gated");
  start();
  advance(3s);
  EXPECT_EQ(store.last_running, 3);
  EXPECT_FALSE(store.last_draining);
}

TEST_F(LeaseTest, AProcessDeclaredDeadStopsItsHandlersAndDiscardsTheirResults) {
  const auto id = store.add("gated");
  start();
  store.declare_dead();
  advance(3s);
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
  EXPECT_EQ(store.end_of(id), nullptr);
  EXPECT_GE(runtime().status().fenced, 1U);
  ASSERT_EQ(store.workers.size(), 2U);  // And it goes on under another name.
  EXPECT_NE(store.workers[0], store.workers[1]);
  gated().open.set();
  advance(3s);
  ASSERT_NE(store.end_of(id), nullptr);
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::ok);
}

TEST_F(LeaseTest, ReportsLossWhenDatabaseStaysAwayForTheWholeLease) {
  options.lease = 30s;
  const auto id = store.add("gated");
  start();
  store.trouble["beat_worker"] = {.calls = 1'000'000};
  advance(24s);
  EXPECT_TRUE(gated().stop_reasons.empty());
  advance(5s);  // A tenth of the lease is left, for stopping.
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
  EXPECT_EQ(store.end_of(id), nullptr);
}

TEST_F(LeaseTest, ABeatThatNeverAnswersIsNoBeat) {
  options.lease = 30s;
  store.add("gated");
  start();
  Event gate;
  store.gates["beat_worker"] = gate;
  advance(30s);
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
  gate.set();
}

TEST_F(LeaseTest, TheLeaseIsMeasuredFromBeforeTheRequestWasSent) {
  options.lease = 30s;
  options.beat_interval = 5s;
  store.add("gated");
  start();
  Event gate;
  store.gates["beat_worker"] = gate;
  advance(20s);  // Sent after about 5 s, answered after 20 s ...
  gate.set();
  store.gates.clear();
  settle();
  store.trouble["beat_worker"] = {.calls = 1'000'000};
  advance(16s);  // ... so it holds until about 5 + 27 s, not until 20 + 27 s.
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
}

TEST_F(LeaseTest, TheFirstLeaseIsMeasuredFromBeforeTheRequestWasSent) {
  options.lease = 30s;
  Event gate;
  store.gates["register_worker"] = gate;
  start();
  advance(20s);
  store.trouble["beat_worker"] = {.calls = 1'000'000};
  store.add("gated");
  gate.set();
  advance(3s);
  ASSERT_EQ(gated().started, 1);
  advance(6s);  // 29 s after the request.
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
}

TEST_F(LeaseTest, TheLeaseThatTheDatabaseGrantedCounts) {
  options.lease = 30s;
  store.lease_answer = 6s;
  store.add("gated");
  start();
  advance(3s);  // The first beat.
  store.trouble["beat_worker"] = {.calls = 1'000'000};
  advance(6s);
  EXPECT_EQ(gated().stop_reasons, std::vector<std::string>{"lease_lost"});
}

TEST_F(LeaseTest, ABeatThatFailedIsRepeatedSooner) {
  options.lease = 60s;
  options.beat_interval = 20s;
  start();
  store.trouble["beat_worker"] = {.calls = 1};
  advance_until([&] { return store.calls["beat_worker"] == 1; });
  advance(6s);
  EXPECT_EQ(store.calls["beat_worker"], 2);
}

TEST_F(LeaseTest, AShortOutageDisturbsNobody) {
  options.lease = 30s;
  store.add("gated");
  start();
  store.trouble["beat_worker"] = {.calls = 5};
  store.trouble["claim_jobs"] = {.calls = 3};
  advance(40s);
  EXPECT_TRUE(gated().stop_reasons.empty());
  EXPECT_EQ(store.workers.size(), 1U);
}

TEST_F(LeaseTest, AResultFromBeforeTheLossIsStillOffered) {
  options.lease = 30s;
  const auto id = store.add("gated");
  start();
  store.trouble["settle"] = {.calls = 1'000'000};
  store.trouble["beat_worker"] = {.calls = 1'000'000};
  gated().open.set();
  advance(40s);  // Finished, not stored, lease lost by our clock.
  store.trouble.clear();
  advance(10s);
  ASSERT_NE(store.end_of(id), nullptr);  // Nobody had taken the job: the fence let it pass.
  EXPECT_EQ(store.end_of(id)->outcome.kind, Kind::ok);
}

TEST_F(LeaseTest, AClaimThatSaysUnknownWorkerLeadsToANewRegistration) {
  start();
  store.processes.clear();
  options.beat_interval = 10s;
  store.add("noop");
  advance(3s);
  EXPECT_EQ(store.workers.size(), 2U);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 1U);
}

TEST_F(LeaseTest, JobsOfAClaimWhoseAnswerWasLostGoBackBeforeTheNextClaim) {
  store.add_many(4, "gated");
  options.slots = 2;
  store.trouble["claim_jobs"] = {.calls = 1, .error = {}, .lost_answer = true};
  start();
  EXPECT_EQ(store.leases.size(), 2U);
  EXPECT_EQ(gated().started, 0);
  advance_until([&] { return store.calls["unheld_leases"] == 1; });
  const auto claims = store.claims.size();
  EXPECT_LE(claims, 2U);
  advance(2s);
  EXPECT_EQ(gated().started, 2);
  gated().open.set();
  advance(5s);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 4U);
  EXPECT_TRUE(store.leases.empty());
}

TEST_F(LeaseTest, AClaimThatIsDoneAfterItWasLookedForIsLookedForAgainSoon) {
  start();
  store.trouble["claim_jobs"] = {.calls = 1, .error = {}, .lost_answer = true};
  advance_until([&] { return store.calls["unheld_leases"] == 1; });
  const auto id = store.add("gated");
  auto job = store.ready["default"].front();  // The database gets to the claim only now.
  store.ready["default"].clear();
  job.token.value.bytes[0] = 0x99;
  store.leases[id] = {
      .job = job, .process = *store.processes.begin(), .worker_id = store.workers.back()};
  advance(3s);  // The lease is 30 s.
  EXPECT_EQ(gated().started, 1);
}

TEST_F(LeaseTest, ReturningUnheldKeepsWhatIsHeld) {
  options.slots = 4;
  store.add_many(2, "gated");
  start();
  ASSERT_EQ(gated().started, 2);
  store.trouble["claim_jobs"] = {.calls = 1, .error = {}, .lost_answer = true};
  store.trouble["unheld_leases"] = {.calls = 2};
  store.add_many(2, "gated");
  advance(20s);
  EXPECT_EQ(store.calls["unheld_leases"], 4);  // Two failed, and once more soon.
  EXPECT_EQ(gated().started, 4);
  gated().open.set();
  settle();
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 4U);
  EXPECT_EQ(runtime().status().fenced, 0U);
}

TEST_F(LeaseTest, JobsClaimedBeforeTheLossAreNotRunAfterIt) {
  Event late;
  store.gates["claim_jobs answer"] = late;
  const auto id = store.add("gated");
  start();
  ASSERT_TRUE(store.leases.contains(id));  // The answer is on its way.
  store.declare_dead();
  advance_until([&] { return store.workers.size() == 2; });
  store.gates.erase("claim_jobs answer");
  late.set();
  advance(5s);
  ASSERT_TRUE(store.leases.contains(id));
  EXPECT_EQ(store.leases.at(id).worker_id, store.workers[1]);
  EXPECT_EQ(gated().started, 1);
}

TEST_F(LeaseTest, ErrorsNeverEndTheLoop) {
  store.trouble["claim_jobs"] = {.calls = 50,
                                 .error = {.kind = ErrorKind::internal, .message = "?"}};
  start();
  store.add("noop");
  advance(600s, 500ms);
  EXPECT_EQ(store.ended_as(Kind::ok).size(), 1U);
}

}  // namespace
}  // namespace millrace::worker::test
