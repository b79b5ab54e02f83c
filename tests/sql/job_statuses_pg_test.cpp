// Many jobs asked for at once: what millrace.job_status says of each, for as many as the caller may
// see.
#include "sql/lane_worker.h"
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class JobStatuses : public EngineTest {
 protected:
  // "place: answer" of all, by the place in the list.
  static std::string statuses(Session& session, const std::string& ids) {
    return session.value(
        "select string_agg(s.ord || ':' || (s.brief ->> 'status'), ' ' order by s.ord) from "
        "millrace.job_statuses($1::uuid[]) s",
        pg::params(ids));
  }
  // Jobs about which the two functions differ, in a byte; "(null)" when there is none.
  std::string differences() {
    return sql.value(
        "with all_jobs as (select array_agg(f.job_id order by f.job_id) as ids from "
        "millrace.job_fact f) "
        "select string_agg(coalesce(s.brief::text, 'nothing') || ' <> ' || "
        "millrace.job_status(u.job_id)::text, '; ') "
        "from all_jobs a cross join lateral unnest(a.ids) with ordinality u(job_id, n) "
        "left join lateral millrace.job_statuses(a.ids) s on s.ord = u.n "
        "where s.brief::text is distinct from millrace.job_status(u.job_id)::text");
  }
  void maintain() {
    while (sql.yes("select (millrace.maintain_partitions() ->> 'more')::boolean")) {
    }
  }
};

// Waiting in a lane, held and completed under a claim, cancelled out of a lane, retrying, delayed,
// ready, leased, finished: one answer each, the same as for one.
TEST_F(JobStatuses, say_of_every_job_what_is_said_of_it_alone) {
  Worker worker(sql);
  for (int i = 0; i < 4; ++i) enqueue(sql, kInReady);
  worker.complete(worker.take());
  worker.settle(worker.take(), "retry", R"({"error": {"error_type": "e", "message": "again"}})");
  worker.settle(worker.take(), "permanent",
                R"({"error": {"error_type": "e", "message": "never"}})");
  worker.take();
  const auto delayed = enqueue(sql, R"({"delay_seconds": 600})");
  // What must be escaped, or is mostly absent.
  enqueue(sql, R"({"job_name": "two\nlines,\ta \"tab\" and \\", "correlation_id": "\u0001 é"})");
  enqueue(sql, fmt::format(R"({{"stage": "scan/1", "parent_id": "{}"}})", delayed));
  const auto first = enqueue_many(sql, 8);
  sql.run("select millrace.cancel_jobs(array[$1::uuid, $2::uuid])", pg::params(first[1], first[6]));
  EXPECT_EQ(differences(), "(null)");
  LaneWorker lanes(sql, R"(w "2" \)");
  const auto held = lanes.claim_lanes(5);
  ASSERT_GE(held.size(), 3U);
  EXPECT_EQ(differences(), "(null)");
  lanes.complete_claim({held[0], held[2]});
  EXPECT_EQ(differences(), "(null)");
  sql.run("set timezone = 'Asia/Kolkata'");
  EXPECT_EQ(differences(), "(null)");
  EXPECT_TRUE(
      sql.yes("select count(distinct s.brief ->> 'status') >= 6 from "
              "millrace.job_statuses((select array_agg(job_id) from millrace.job_fact)) s"))
      << "the world of this test has too few states to say anything";
}

TEST_F(JobStatuses, tell_jobs_of_several_lanes_apart) {
  set_queue(sql, "side", "{}");
  for (const auto* options : {"{}", R"({"priority": 9})", R"({"queue": "side"})",
                              R"({"queue": "side", "priority": 0})"}) {
    enqueue_many(sql, 3, options);
  }
  EXPECT_EQ(differences(), "(null)");
  LaneWorker worker(sql);
  EXPECT_EQ(worker.claim_lanes(4).size(), 4U);
  EXPECT_EQ(worker.claim_lanes(2, "side").size(), 2U);
  EXPECT_EQ(differences(), "(null)");
}

// B05: a job that its producer commits when its lane has been read past it still waits.
TEST_F(JobStatuses, say_that_a_job_of_a_late_producer_waits) {
  enqueue(sql);
  Session other(database);
  other.run("begin");
  const auto late = enqueue_many(other, 2);
  const auto early = enqueue(sql);
  LaneWorker worker(sql);
  ASSERT_EQ(worker.claim_lanes(100).size(), 2U);
  other.run("commit");
  const auto list = fmt::format("{{{},{},{}}}", early, late[0], late[1]);
  EXPECT_EQ(statuses(sql, list), "1:processing 2:pending 3:pending");
  EXPECT_EQ(differences(), "(null)");
  ASSERT_EQ(ids_of(worker.claim_lanes(1)), std::vector{late[0]});
  EXPECT_EQ(statuses(sql, list), "1:processing 2:processing 3:pending");
  EXPECT_EQ(differences(), "(null)");
}

// Facts are cut by id, claims and their ends by time: each job is found in the partitions it has.
TEST_F(JobStatuses, find_jobs_of_every_partition) {
  maintain();
  enqueue_many(sql, 4);
  LaneWorker before(sql);
  const auto held = before.claim_lanes(2);
  ASSERT_EQ(held.size(), 2U);
  before.complete_claim({held[0]});
  pass(sql, "8 days");
  maintain();
  enqueue_many(sql, 3);
  // Ids that were made elsewhere tell no time.
  enqueue(sql, R"({"id": "00000000-0000-4000-8000-0000000000cc"})");
  enqueue(sql, R"({"id": "ffffffff-ffff-4fff-8fff-fffffffffffe"})");
  LaneWorker later(sql, "w2");
  const auto more = later.claim_lanes(3);
  ASSERT_EQ(more.size(), 3U);
  later.complete_claim({more[0], more[2]});
  EXPECT_EQ(differences(), "(null)");
  EXPECT_EQ(statuses(sql, fmt::format("{{{},{},{}}}", more[2].id, held[0].id, more[1].id)),
            "1:completed 2:completed 3:processing");
  later.claim_lanes(100);
  EXPECT_EQ(differences(), "(null)");
}

// What then lies in the future is looked for as well.
TEST_F(JobStatuses, outlive_a_clock_that_is_set_back) {
  enqueue_many(sql, 3);
  LaneWorker worker(sql);
  const auto held = worker.claim_lanes(2);
  ASSERT_EQ(held.size(), 2U);
  worker.complete_claim({held[1]});
  pass(sql, "-2 hours");
  EXPECT_EQ(statuses(sql, fmt::format("{{{},{}}}", held[0].id, held[1].id)),
            "1:processing 2:completed");
  enqueue(sql);
  EXPECT_EQ(differences(), "(null)");
}

TEST_F(JobStatuses, leave_out_what_does_not_exist_and_keep_the_places_of_the_others) {
  const auto ids = enqueue_many(sql, 2);
  EXPECT_EQ(statuses(sql, fmt::format("{{{},{},{},{}}}", ids[1], kAda, ids[0], ids[1])),
            "1:pending 3:pending 4:pending");
  EXPECT_EQ(statuses(sql, fmt::format("{{NULL,{},NULL}}", ids[0])), "2:pending");
  EXPECT_EQ(statuses(sql, fmt::format("{{{}}}", kAda)), "(null)");
  EXPECT_EQ(statuses(sql, "{}"), "(null)");
  EXPECT_EQ(sql.value("select millrace.job_status_lines(null)"), "(null)");
}

// T-02: a user sees the own ones, a service those of its tenant.
TEST_F(JobStatuses, t02_are_told_to_those_who_may_see_them) {
  ServerSession service{database, kTenant, "service_role"};
  ServerSession other{database, kOther, "service_role"};
  const auto mine = service.value("select millrace.create_export_job($1, $1)", pg::params(kAda));
  const auto bobs = service.value("select millrace.create_export_job($1, $1)", pg::params(kBob));
  const auto plain = enqueue(service);
  const auto theirs = enqueue(other);
  const auto list = fmt::format("{{{},{},{},{}}}", mine, bobs, plain, theirs);
  User ada{database, kAda};
  User elsewhere{database, kAda, kOther};
  EXPECT_EQ(statuses(ada, list), "1:pending");
  EXPECT_EQ(statuses(elsewhere, list), "(null)");
  EXPECT_EQ(statuses(service, list), "1:pending 2:pending 3:pending");
  EXPECT_EQ(statuses(other, list), "4:pending");
  Session nobody{database, "anon"};
  EXPECT_EQ(nobody.refused("select millrace.job_statuses('{}')").sqlstate, "42501");
  EXPECT_EQ(nobody.refused("select millrace.job_status_lines('{}')").sqlstate, "42501");
}

}  // namespace
}  // namespace millrace::test
