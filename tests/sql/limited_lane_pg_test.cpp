// Jobs with a provider in lanes: a claim has one slot for all its jobs, and none of the provider's
// limits is broken by it, whatever becomes of single ones.
#include "sql/lane_worker.h"
#include "sql/limit_world.h"

#include <atomic>

namespace millrace::test {
namespace {

class LimitedLane : public LimitWorld {
 protected:
  LimitedLane() { bind_type(); }

  std::vector<std::string> add(int count, int tokens = 1) {
    std::vector<std::string> ids;
    for (const auto row :
         db_.rows("select e.job_id from millrace.enqueue_jobs((select jsonb_agg(jsonb_build_object("
                  "'job_type', 'bound', 'payload', jsonb_build_object('estimated_tokens', "
                  "$2::int))) from generate_series(1, $1::int))) e order by e.ord",
                  pg::params(count, tokens))) {
      ids.emplace_back(row.text(0));
    }
    return ids;
  }
  // Slots of claims with the number of their jobs, then slots of single jobs.
  std::string slots() {
    return db_.value(
        "select concat_ws(' ', string_agg(s.jobs::text, ' ' order by s.slot_id) filter (where "
        "s.claim_id is not null), 'single', count(*) filter (where s.claim_id is null)) from "
        "millrace.provider_slot s");
  }
  std::int64_t leases() { return db_.number("select count(*) from millrace.lease"); }

  LaneWorker worker_{db_};
};

TEST_F(LimitedLane, e03_a_stretch_is_as_long_as_every_limit_allows) {
  limit(R"({"requests_per_minute": 5, "concurrent_requests": 3})");
  const auto ids = add(10, 7);
  EXPECT_EQ(db_.number("select count(*) from millrace.ready"), 0);
  const auto first = worker_.claim_lanes(10);
  EXPECT_EQ(ids_of(first), std::vector(ids.begin(), ids.begin() + 3)) << "slots";
  EXPECT_EQ(leases(), 0);
  EXPECT_EQ(slots(), "3 single 0");
  EXPECT_EQ(overview("active_slots"), "3");
  EXPECT_EQ(used(), "3/21 3/21");
  EXPECT_EQ(worker_.claim_lanes(10).size(), 0U);
  EXPECT_EQ(worker_.complete_claim({first[1]}), "010");
  EXPECT_EQ(slots(), "2 single 0");
  EXPECT_EQ(worker_.claim_lanes(10).size(), 1U);
  EXPECT_EQ(worker_.complete_claim({first[0], first[2]}), "101");
  EXPECT_EQ(slots(), "1 single 0");
  EXPECT_EQ(worker_.claim_lanes(10).size(), 1U) << "the rest of the minute";
  EXPECT_EQ(used(), "5/35 5/35");
  advance("61 s");
  EXPECT_EQ(worker_.claim_lanes(10).size(), 1U) << "two slots are still taken";
}

TEST_F(LimitedLane, e03_where_tokens_are_counted_jobs_go_one_by_one) {
  limit(R"({"tokens_per_minute": 100})");
  add(3, 40);
  EXPECT_EQ(worker_.claim_lanes(10).size(), 2U);
  EXPECT_EQ(leases(), 2);
  EXPECT_EQ(slots(), "single 2");
  EXPECT_EQ(used(), "2/80 2/80");
}

TEST_F(LimitedLane, e09_claims_at_the_same_moment_share_one_limit) {
  limit(R"({"requests_per_minute": 50})");
  add(200);
  std::atomic<std::int64_t> got = 0;
  together(4, [&](int i, const std::atomic<bool>&) {
    Session session(database_);
    LaneWorker worker(session, "c" + std::to_string(i));
    for (int round = 0; round < 20; ++round) {
      got += static_cast<std::int64_t>(worker.claim_lanes(3).size());
    }
  });
  got += static_cast<std::int64_t>(worker_.claim_lanes(100).size());
  EXPECT_EQ(got, 50);
  EXPECT_EQ(overview("active_slots"), "50");
}

TEST_F(LimitedLane, bits_of_another_length_are_refused_and_change_nothing) {
  add(2);
  const auto held = worker_.claim_lanes(2);
  EXPECT_EQ(worker_.complete_bits(held[0].token.substr(0, 32) + "0000", "111"), "00");
  EXPECT_EQ(slots(), "2 single 0");
}

TEST_F(LimitedLane, e08_a_job_that_is_settled_alone_takes_its_part_of_the_slot_along) {
  add(4, 400);
  const auto held = worker_.claim_lanes(4);
  EXPECT_EQ(worker_.settle(held[1], "ok", R"({"actual_tokens": 150})"), "settled");
  EXPECT_EQ(used(), "4/1350 4/1350");
  EXPECT_EQ(slots(), "3 single 0");
  EXPECT_EQ(worker_.settle(held[2], "retry"), "settled");
  EXPECT_EQ(used(), "4/1350 4/1350") << "nobody said what the call cost: the estimate stands";
  EXPECT_EQ(slots(), "2 single 0");
  EXPECT_EQ(worker_.complete_claim({held[0], held[3]}), "1001");
  EXPECT_EQ(slots(), "single 0");
}

TEST_F(LimitedLane, e04_a_job_with_a_lease_of_its_own_keeps_its_slot) {
  limit(R"({"concurrent_requests": 2})");
  add(4);
  const auto held = worker_.claim_lanes(4);
  ASSERT_EQ(held.size(), 2U);
  db_.run(
      "select * from millrace.report_progress($1, jsonb_build_array(jsonb_build_object('job_id', "
      "$2::text, 'token', $3::text, 'progress', 5)))",
      pg::params(worker_.id(), held[0].id, held[0].token));
  EXPECT_EQ(slots(), "1 single 1");
  EXPECT_EQ(worker_.claim_lanes(4).size(), 0U) << "both still run";
  EXPECT_EQ(worker_.complete(held[0]), "settled");
  EXPECT_EQ(slots(), "1 single 0");
  EXPECT_EQ(worker_.claim_lanes(4).size(), 1U);
}

TEST_F(LimitedLane, e04_a_dead_workers_slots_come_back_with_its_jobs) {
  limit(R"({"concurrent_requests": 2})");
  add(3);
  LaneWorker mortal(db_, "mortal", kShortLived);
  ASSERT_EQ(mortal.claim_lanes(5).size(), 2U);
  EXPECT_EQ(worker_.claim_lanes(5).size(), 0U);
  advance("31 s");
  db_.run("select millrace.reclaim(100)");
  EXPECT_EQ(slots(), "single 0");
  EXPECT_EQ(worker_.claim_lanes(5).size(), 1U);
}

TEST_F(LimitedLane, e04_a_slot_whose_claim_is_gone_is_swept) {
  add(2);
  ASSERT_EQ(worker_.claim_lanes(2).size(), 2U);
  db_.run("delete from millrace.claim_open");  // As if its end had been forgotten.
  EXPECT_EQ(overview("active_slots"), "0");
  db_.run("select millrace.expire_slots(100)");
  EXPECT_EQ(slots(), "single 0");
}

TEST_F(LimitedLane, e04_an_anonymous_release_does_not_end_the_slot_of_a_claim) {
  add(2);
  ASSERT_EQ(worker_.claim_lanes(2).size(), 2U);
  release(1);
  EXPECT_EQ(slots(), "2 single 0");
}

TEST_F(LimitedLane, d08_plain_success_ends_a_row_of_failures) {
  limit(R"({"breaker_threshold": 3, "breaker_cooldown": "30s"})");
  add(12);
  const auto first = worker_.claim_lanes(4);
  const char* later = R"({"error": {"message": "down"}, "retry_after_seconds": 3600})";
  worker_.settle(first[0], "retry", later);
  worker_.settle(first[1], "retry", later);
  EXPECT_EQ(row("breaker_failures"), "2");
  EXPECT_EQ(worker_.complete_claim({first[2]}), "0010");
  EXPECT_EQ(row("breaker_failures"), "0");
  worker_.settle(first[3], "retry", later);
  const auto second = worker_.claim_lanes(3);
  worker_.settle(second[0], "retry", later);
  worker_.settle(second[1], "retry", later);
  EXPECT_EQ(overview("breaker_state"), "open");
  EXPECT_EQ(worker_.complete_claim({second[2]}), "001");
  EXPECT_EQ(overview("breaker_state"), "open") << "it was sent before";
  EXPECT_EQ(worker_.claim_lanes(3).size(), 0U);
  advance("31 s");
  const auto probe = worker_.claim_lanes(3);
  ASSERT_EQ(probe.size(), 1U) << "one probe";
  EXPECT_EQ(worker_.claim_lanes(3).size(), 0U);
  EXPECT_EQ(worker_.complete_claim(probe), "1");
  EXPECT_EQ(overview("breaker_state"), "closed");
}

TEST_F(LimitedLane, l16_what_waits_in_a_lane_counts_towards_the_backlog_of_its_provider) {
  limit(R"({"queue_depth_limit": 5})");
  add(3);
  EXPECT_EQ(overview("waiting_jobs"), "3");
  EXPECT_EQ(db_.refused("select millrace.enqueue_jobs((select jsonb_agg(jsonb_build_object("
                        "'job_type', 'bound', 'payload', jsonb_build_object('n', i))) from "
                        "generate_series(1, 3) i))")
                .sqlstate,
            "MR008");
  ASSERT_EQ(worker_.claim_lanes(2).size(), 2U);
  EXPECT_EQ(overview("waiting_jobs"), "1");
  add(3);
}

}  // namespace
}  // namespace millrace::test
