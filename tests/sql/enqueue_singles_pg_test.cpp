// Jobs that came one by one, enqueued together: the short way does what the long way does.
#include "sql/lane_worker.h"
#include "sql/server_world.h"

#include <chrono>

namespace millrace::test {
namespace {

class EnqueueSingles : public EngineTest {
 protected:
  static std::string singles(Session& session, const std::string& jobs) {
    return session.value(
        "select string_agg(e.ord || ':' || e.answer, ' ' order by e.ord) from "
        "millrace.enqueue_singles($1::jsonb) e",
        pg::params(jobs));
  }
  // All that the two ways may differ in, but for ids and times.
  std::string facts(std::string_view tenant) {
    return sql.value(
        "select string_agg(jsonb_build_object('queue', f.queue_id, 'type', f.type_id, 'priority', "
        "f.priority, 'flags', f.flags, 'payload', f.payload, 'by', f.created_by, 'category', "
        "f.job_category, 'tokens', f.estimated_tokens, 'cid', f.correlation_id, 'trace', "
        "f.traceparent, 'lane', l.priority, 'xid', f.lane_xid is not null, 'due', f.scheduled_at = "
        "f.created_at)::text, '; ' order by f.seq) from millrace.job_fact f left join "
        "millrace.lane l on l.lane_id = f.lane_id and l.tenant_id = f.tenant_id where f.tenant_id "
        "= $1",
        pg::params(tenant));
  }
  std::string evidence(std::string_view tenant) {
    return sql.value(
        "select (select string_agg(concat_ws(',', d.queue_id, d.enqueued, d.ready, d.delayed), ' ' "
        "order by d.queue_id) from millrace.counter_delta d where d.tenant_id = $1) || '; ' || "
        "(select string_agg(concat_ws(',', e.kind, e.queue_id, cardinality(e.job_ids)), ' ' order "
        "by e.queue_id) from millrace.event e where e.tenant_id = $1) || '; ' || (select "
        "string_agg(concat_ws(',', a.action, a.actor, cardinality(a.job_ids), a.record_id is null, "
        "a.reason, a.new_values - 'job_id' - 'scheduled_at'), ' ') from millrace.audit a where "
        "a.tenant_id = $1 and a.action = 'enqueued')",
        pg::params(tenant));
  }
  std::int64_t jobs() { return sql.number("select count(*) from millrace.job_fact"); }
};

constexpr const char* kMixed =
    R"([{"job_type": "noop", "payload": {"n": 1}, "correlation_id": "c1", "traceparent": "t1"},
        {"job_type": "noop", "payload": {"n": 2}, "queue": "side", "priority": 900},
        {"job_type": "noop", "payload": {"n": 3.10}, "queue": null, "priority": null},
        {"job_type": "noop", "payload": {"n": 4}, "priority": 0}])";

TEST_F(EnqueueSingles, plain_jobs_of_several_kinds_are_made_as_the_long_way_makes_them) {
  sql.run("select millrace.set_queue('side', '{}')");
  ServerSession long_way{database, kTenant, "service_role"};
  ServerSession short_way{database, kOther, "service_role"};
  enqueue_jobs(long_way, kMixed);
  EXPECT_EQ(singles(short_way, kMixed), "1:created 2:created 3:created 4:created");
  EXPECT_EQ(facts(kOther), facts(kTenant));
  EXPECT_EQ(evidence(kOther), evidence(kTenant));
  const auto* one = R"({"job_type": "noop", "payload": {"n": 1}})";
  enqueue_jobs(long_way, one);
  EXPECT_EQ(singles(short_way, one), "1:created");
  EXPECT_EQ(facts(kOther), facts(kTenant));
  EXPECT_EQ(evidence(kOther), evidence(kTenant));
  EXPECT_EQ(jobs(), 10);
}

// One kind, spelt in four ways: a null says nothing, and 5.0 is 5.
TEST_F(EnqueueSingles, equal_jobs_are_equal_however_they_are_spelt) {
  constexpr const char* kSpelt =
      R"([{"job_type": "noop", "payload": {"n": 1}, "priority": 5, "correlation_id": "c1"},
          {"job_type": "noop", "payload": {"n": 2}, "priority": 5.0, "correlation_id": null},
          {"job_type": "noop", "payload": {"n": 3}, "priority": 5, "queue": null},
          {"job_type": "noop", "payload": {"n": 4}, "priority": 5, "queue": "default",
           "traceparent": null}])";
  ServerSession long_way{database, kTenant, "service_role"};
  ServerSession short_way{database, kOther, "service_role"};
  enqueue_jobs(long_way, kSpelt);
  EXPECT_EQ(singles(short_way, kSpelt), "1:created 2:created 3:created 4:created");
  EXPECT_EQ(facts(kOther), facts(kTenant));
  EXPECT_EQ(evidence(kOther), evidence(kTenant));
}

TEST_F(EnqueueSingles, events_name_the_jobs_of_their_queue) {
  sql.run("select millrace.set_queue('side', '{}')");
  EXPECT_EQ(singles(sql, kMixed), "1:created 2:created 3:created 4:created");
  EXPECT_EQ(sql.value("select string_agg(f.payload ->> 'n', ',' order by f.seq) from "
                      "millrace.event e cross join lateral unnest(e.job_ids) j(id) join "
                      "millrace.job_fact f on f.job_id = j.id and f.queue_id = e.queue_id"),
            "1,2,3.10,4");
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'job.enqueued'"), 2);
}

// What a type demands of its payloads is demanded of its jobs, and of no others in the list.
TEST_F(EnqueueSingles, each_kind_has_the_keys_that_its_type_requires) {
  sql.run("select millrace.set_job_type('needy', '{\"required_keys\": [\"a\", \"b\"]}')");
  const auto list = [](const char* payload) {
    return fmt::format(R"([{{"job_type": "noop", "payload": {{"n": 1}}}},
                           {{"job_type": "needy", "payload": {{"a": 1, "b": 2}}}},
                           {{"job_type": "needy", "payload": {}}}])",
                       payload);
  };
  EXPECT_EQ(singles(sql, list(R"({"a": 1, "b": null})")), "1:created 2:created 3:created");
  const auto bad = list(R"({"a": 1})");
  const auto wanted = sql.refused("select millrace.enqueue_jobs($1::jsonb)", pg::params(bad));
  const auto told = sql.refused("select millrace.enqueue_singles($1::jsonb)", pg::params(bad));
  EXPECT_EQ(told.sqlstate, "MR003");
  EXPECT_EQ(told.message, wanted.message);
  EXPECT_EQ(jobs(), 3);
}

// Where jobs are claimed one by one, new ones lie in ready.
TEST_F(EnqueueSingles, a_lane_that_is_claimed_by_hand_gets_no_jobs_for_a_while) {
  constexpr const char* kTwo =
      R"([{"job_type": "noop", "payload": {"n": 1}}, {"job_type": "noop", "payload": {"n": 2}}])";
  const auto in_ready = [&] { return sql.number("select count(*) from millrace.ready"); };
  singles(sql, kTwo);
  EXPECT_EQ(in_ready(), 0);
  sql.run("update millrace.lane set by_hand_until = millrace.now() + interval '1 hour'");
  EXPECT_EQ(singles(sql, kTwo), "1:created 2:created");
  EXPECT_EQ(in_ready(), 2);
  pass(sql, "2 hours");
  EXPECT_EQ(singles(sql, kTwo), "1:created 2:created");
  EXPECT_EQ(in_ready(), 2);
  EXPECT_EQ(jobs(), 6);
  EXPECT_EQ(imbalance(sql), "");
}

TEST_F(EnqueueSingles, c14_wake_a_worker_that_waits_once) {
  constexpr const char* kOne = R"([{"job_type": "noop", "payload": {"n": 1}}])";
  Session listener(database);
  listener.run("listen millrace_wake");
  const auto heard = [&] {
    listener.run("select 1");
    return must(listener.connection().wait_notification(std::chrono::milliseconds(1))).has_value();
  };
  LaneWorker worker(sql);
  EXPECT_EQ(worker.claim_lanes(1).size(), 0U);  // Empty-handed: from now on it waits.
  EXPECT_EQ(singles(sql, kOne), "1:created");
  EXPECT_TRUE(heard());
  EXPECT_EQ(singles(sql, kOne), "1:created");
  EXPECT_FALSE(heard()) << "one wake-up is enough";
}

TEST_F(EnqueueSingles, each_row_names_the_job_of_its_place) {
  for (const auto row : sql.rows(
           "select e.ord, f.payload ->> 'n' from millrace.enqueue_singles((select "
           "jsonb_agg(jsonb_build_object('job_type', 'noop', 'payload', jsonb_build_object('n', "
           "i), 'priority', i % 3)) from generate_series(1, 20) i)) e join millrace.job_fact f "
           "using (job_id)")) {
    EXPECT_EQ(row.text(0), row.text(1));
  }
  EXPECT_EQ(jobs(), 20);
}

// What is not plain goes the long way, with all the others; what is wrong is told in its words.
TEST_F(EnqueueSingles, other_jobs_are_enqueued_or_refused_as_everywhere) {
  for (const auto* odd : {R"({"job_type": "noop", "payload": {"n": 1}, "delay_seconds": 600})",
                          R"({"job_type": "noop", "payload": {"n": 1}, "dedupe_key": "k"})",
                          R"({"job_type": "noop", "payload": {"n": 1, "estimated_tokens": 5}})",
                          R"({"job_type": "noop", "payload": {"n": 1}, "priority": 5.0})"}) {
    EXPECT_EQ(
        singles(sql, fmt::format(R"([{}, {{"job_type": "noop", "payload": {{"n": 2}}}}])", odd)),
        "1:created 2:created")
        << odd;
  }
  EXPECT_EQ(jobs(), 8);
  for (const auto* bad :
       {R"({"job_type": "unknown", "payload": {"n": 1}})", R"({"job_type": "noop", "payload": {}})",
        R"({"job_type": "noop"})", R"({"job_type": 5, "payload": {"n": 1}})",
        R"({"job_type": "noop", "payload": {"n": 1}, "queue": "nowhere"})",
        R"({"job_type": "noop", "payload": {"n": 1}, "queue": 7})",
        R"({"job_type": "noop", "payload": {"n": 1}, "priority": 1001})",
        R"({"job_type": "noop", "payload": {"n": 1}, "priority": "5"})",
        R"({"job_type": "noop", "payload": {"n": 1}, "correlation_id": {}})",
        R"({"job_type": "noop", "payload": [1]})", R"("noop")", "5"}) {
    const auto list = fmt::format(R"([{{"job_type": "noop", "payload": {{"n": 2}}}}, {}])", bad);
    const auto wanted = sql.refused("select millrace.enqueue_jobs($1::jsonb)", pg::params(list));
    const auto told = sql.refused("select millrace.enqueue_singles($1::jsonb)", pg::params(list));
    EXPECT_EQ(told.sqlstate, wanted.sqlstate) << bad;
    EXPECT_EQ(told.message, wanted.message) << bad;
  }
  EXPECT_EQ(jobs(), 8);
  EXPECT_EQ(singles(sql, "[]"), "(null)");
}

// Nobody gets around the depth of a queue, or an operator's switch.
TEST_F(EnqueueSingles, limits_of_a_queue_and_of_the_installation_hold) {
  sql.run("select millrace.set_queue('narrow', '{\"depth_max\": 3}')");
  const auto list = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += fmt::format(R"({}{{"job_type": "noop", "payload": {{"n": {}}}, "queue": "narrow"}})",
                          i == 0 ? "" : ",", i);
    }
    return "[" + text + "]";
  };
  EXPECT_EQ(sql.refused("select millrace.enqueue_singles($1::jsonb)", pg::params(list(4))).sqlstate,
            "MR008");
  EXPECT_EQ(jobs(), 0);
  EXPECT_EQ(singles(sql, list(3)), "1:created 2:created 3:created");
  EXPECT_EQ(sql.refused("select millrace.enqueue_singles($1::jsonb)", pg::params(list(1))).sqlstate,
            "MR008");
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  EXPECT_EQ(sql.refused("select millrace.enqueue_singles('{\"job_type\": \"noop\", \"payload\": "
                        "{\"n\": 1}}')")
                .sqlstate,
            "MR021");
}

// One bad job among many costs the others one statement, not a search for it.
TEST_F(EnqueueSingles, each_is_taken_or_told_what_is_wrong_with_it) {
  ServerSession service{database, kTenant, "service_role"};
  const std::vector<std::string> list = {
      R"({"job_type": "noop", "payload": {"n": 1}})",
      R"({"job_type": "no such type", "payload": {"n": 2}})",
      R"({"job_type": "noop", "payload": {"n": 1e999999}})",
      R"({"job_type": "noop", "payload": {"n": 4}, "dedupe_key": "k"})",
      R"({"job_type": "noop", "payload": {"n": 5}, "priority": 5000})"};
  pg::Params params;
  params.add_array(list);
  const auto rows = service.rows(
      "select e.ord, e.job_id is not null as made, coalesce(e.answer, e.code), e.message, e.hint "
      "from millrace.enqueue_each($1) e",
      std::move(params));
  ASSERT_EQ(rows.rows(), list.size());
  const std::vector<std::string> told = {"created", "MR002", "22003", "created", "MR005"};
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(rows[i].i32(0), static_cast<std::int32_t>(i) + 1);
    EXPECT_EQ(rows[i].text(2), told[i]) << list[i];
    EXPECT_EQ(rows[i].boolean(1), told[i] == "created");
  }
  EXPECT_EQ(jobs(), 2);
  const auto alone = service.refused("select millrace.enqueue_singles($1::jsonb)",
                                     pg::params("[" + list[1] + "]"));
  EXPECT_EQ(rows[1].text(3), alone.message);
  EXPECT_EQ(rows[1].text(4), alone.hint);
}

TEST_F(EnqueueSingles, each_of_none_is_none_and_of_too_many_is_refused) {
  EXPECT_EQ(sql.number("select count(*) from millrace.enqueue_each('{}')"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.enqueue_each(null)"), 0);
  EXPECT_EQ(
      sql.refused("select millrace.enqueue_each(array_fill('{}'::text, array[1001]))").sqlstate,
      "MR024");
}

// T-02, U-10: who may not enqueue may not do it this way either.
TEST_F(EnqueueSingles, u10_a_user_enqueues_nothing_directly) {
  User ada{database, kAda};
  EXPECT_EQ(ada.refused("select millrace.enqueue_singles('[]')").sqlstate, "42501");
  EXPECT_EQ(ada.refused("select millrace.enqueue_each('{}')").sqlstate, "42501");
}

}  // namespace
}  // namespace millrace::test
