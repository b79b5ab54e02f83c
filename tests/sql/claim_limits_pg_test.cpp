// Jobs bound to a provider: claims take its capacity, settlements give it back and tell it how the
// calls went. What capacity is and when a breaker opens is the business of limits_pg_test and
// breaker_pg_test.
#include "sql/engine.h"
#include "sql/limit_world.h"

#include <atomic>

namespace millrace::test {
namespace {

class ClaimLimits : public LimitWorld {
 protected:
  ClaimLimits() { bind_type(); }

  std::string add(int tokens = 1) {
    return db_.value(
        "select millrace.enqueue_job('bound', jsonb_build_object('estimated_tokens', $1::int))",
        pg::params(tokens));
  }
  void add_many(int count) {
    for (int i = 0; i < count; ++i) add();
  }
  std::int64_t slots() { return db_.number("select count(*) from millrace.provider_slot"); }

  Worker worker_{db_};
};

TEST_F(ClaimLimits, e03_a_claim_takes_what_every_limit_grants_and_no_more) {
  limit(R"({"requests_per_minute": 5, "concurrent_requests": 3})");
  add_many(10);
  const auto first = worker_.claim(10);
  EXPECT_EQ(first.size(), 3U) << "slots";
  for (const auto& delivery : first) EXPECT_EQ(worker_.settle(delivery, "ok"), "settled");
  EXPECT_EQ(worker_.claim(10).size(), 2U) << "the rest of the minute";
  EXPECT_EQ(used(), "5/5 5/5");
  advance("61 s");
  EXPECT_EQ(worker_.claim(10).size(), 1U) << "two slots are still taken";
}

TEST_F(ClaimLimits, e03_a_claim_goes_as_far_as_the_tokens_reach) {
  limit(R"({"tokens_per_minute": 100})");
  for (const int tokens : {40, 50, 20}) add(tokens);
  EXPECT_EQ(worker_.claim(10).size(), 2U);
  EXPECT_EQ(used(), "2/90 2/90");
}

TEST_F(ClaimLimits, e07_a_job_that_became_too_dear_fails_instead_of_blocking_the_line) {
  limit(R"({"tokens_per_minute": 100})");
  const auto dear = add(80);
  const auto cheap = add(10);
  limit(R"({"tokens_per_minute": 50})");
  EXPECT_EQ(ids_of(worker_.claim(10)), std::vector<std::string>{cheap});
  EXPECT_EQ(job(db_, dear, "status"), "failed");
}

TEST_F(ClaimLimits, c12_work_without_room_does_not_keep_other_work_waiting) {
  limit(R"({"requests_per_minute": 1})");
  add_many(20);
  const auto other = enqueue(db_, R"({"priority": 0})");
  ASSERT_EQ(worker_.claim(1).size(), 1U);
  EXPECT_EQ(ids_of(worker_.claim(5)), std::vector<std::string>{other});
}

TEST_F(ClaimLimits, e09_claims_at_the_same_moment_share_one_limit) {
  limit(R"({"requests_per_minute": 10})");
  add_many(40);
  std::atomic<std::int64_t> got = 0;
  together(4, [&](int i, const std::atomic<bool>&) {
    Session session(database_);
    Worker worker(session, "c" + std::to_string(i));
    for (int round = 0; round < 20; ++round) {
      got += static_cast<std::int64_t>(worker.claim(3).size());
    }
  });
  // Claims pass over a provider that another looks at; what they left must be all that is left.
  got += static_cast<std::int64_t>(worker_.claim(40).size());
  EXPECT_EQ(got, 10);
  EXPECT_EQ(slots(), 10);
}

TEST_F(ClaimLimits, e09_nobody_takes_room_that_a_claim_under_way_may_take) {
  limit(R"({"requests_per_minute": 10})");
  for (int i = 0; i < 20; ++i) {
    db_.run("select millrace.enqueue_job('bound', '{\"n\": 1}', $1::jsonb)", pg::params(kInReady));
  }
  Session session(database_);
  Worker other(session, "other");
  must(session.connection().begin());
  ASSERT_EQ(other.claim(8).size(), 8U);
  EXPECT_EQ(worker_.claim(8).size(), 0U);
  must(session.connection().commit());
  EXPECT_EQ(worker_.claim(8).size(), 2U);
}

TEST_F(ClaimLimits, e08_a_settlement_replaces_the_estimate_and_ends_the_slot) {
  limit(R"({"tokens_per_minute": 1000})");
  add(400);
  EXPECT_EQ(worker_.settle(worker_.take(), "ok", R"({"actual_tokens": 150})"), "settled");
  EXPECT_EQ(used(), "1/150 1/150");
  add(400);
  EXPECT_EQ(worker_.settle(worker_.take(), "retry"), "settled");
  EXPECT_EQ(used(), "2/550 2/550") << "nobody said what the call cost: the estimate stands";
  EXPECT_EQ(slots(), 0);
  EXPECT_EQ(row("active_requests"), "0");
}

TEST_F(ClaimLimits, e04_a_dead_workers_slots_come_back_with_its_jobs) {
  limit(R"({"concurrent_requests": 2})");
  add_many(3);
  Worker mortal(db_, "mortal", kShortLived);
  ASSERT_EQ(mortal.claim(5).size(), 2U);
  EXPECT_EQ(worker_.claim(5).size(), 0U);
  advance("31 s");
  db_.run("select millrace.reclaim(100)");
  EXPECT_EQ(slots(), 0);
  EXPECT_EQ(worker_.claim(5).size(), 1U);
}

TEST_F(ClaimLimits, d08_failures_in_a_row_stop_the_claims_of_this_provider_only) {
  limit(R"({"breaker_threshold": 3, "breaker_cooldown": "30s"})");
  add_many(5);
  const auto other = enqueue(db_);
  for (int i = 0; i < 3; ++i) {
    worker_.settle(worker_.take({.types = "{bound}"}), "retry",
                   R"({"error": {"message": "down"}, "retry_after_seconds": 3600})");
  }
  EXPECT_EQ(overview("breaker_state"), "open");
  EXPECT_EQ(ids_of(worker_.claim(10)), std::vector<std::string>{other});
  advance("31 s");
  EXPECT_EQ(worker_.claim(10).size(), 1U) << "one probe";
}

TEST_F(ClaimLimits, d02_a_wait_that_the_provider_asked_for_holds_for_all_its_jobs) {
  add_many(2);
  EXPECT_EQ(worker_.settle(worker_.take(), "throttled", R"({"retry_after_seconds": 20})"),
            "settled");
  EXPECT_EQ(worker_.claim(10).size(), 0U);
  advance("21 s");
  EXPECT_EQ(worker_.claim(10).size(), 1U) << "the other one; the first waits in its own place";
}

}  // namespace
}  // namespace millrace::test
