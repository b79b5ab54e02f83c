// Batches: one transaction, counts that are exact, and a callback that happens exactly once.
#include "sql/engine.h"

namespace millrace::test {
namespace {

using Batch = EngineTest;

std::string jobs_json(int count) {
  std::string all = "[";
  for (int i = 0; i < count; ++i) {
    all += fmt::format(R"({}{{"job_type": "noop", "payload": {{"n": {}}}}})", i == 0 ? "" : ",", i);
  }
  return all + "]";
}

constexpr const char* kCallback = R"({"name": "import", "callback":
    {"job_type": "sleep", "payload": {"of": "import"}, "priority": 9}})";

std::string create(Session& sql, int count, const std::string& options = kCallback) {
  return sql.value("select millrace.create_batch($1::jsonb, $2::jsonb)",
                   pg::params(jobs_json(count), options));
}
std::string batch(Session& sql, const std::string& id, const std::string& field) {
  return sql.value("select millrace.get_batch($1::uuid) ->> $2", pg::params(id, field));
}
std::int64_t callbacks(Session& sql) {
  return sql.number("select count(*) from millrace.job_fact where payload ? 'of'");
}

TEST_F(Batch, g11_a_batch_is_one_transaction) {
  EXPECT_EQ(sql.refused("select millrace.create_batch($1::jsonb)",
                        pg::params(R"([{"job_type": "noop", "payload": {"n": 1}},
                                       {"job_type": "unheard_of", "payload": {"n": 1}}])"))
                .sqlstate,
            "MR002");
  EXPECT_EQ(sql.number("select count(*) from millrace.batch"), 0);
  EXPECT_EQ(sql.number("select count(*) from millrace.job_fact"), 0);
  EXPECT_EQ(sql.refused("select millrace.create_batch('[]')").sqlstate, "MR018");
  EXPECT_EQ(sql.refused("select millrace.create_batch('[]', '{\"colour\": 1}')").sqlstate, "MR018");
}

TEST_F(Batch, counts_are_exact_and_the_callback_learns_them) {
  const auto id = create(sql, 4);
  Worker worker(sql);
  const auto held = worker.claim(4);
  worker.complete(held[0]);
  worker.settle(held[1], "permanent");
  worker.settle(held[2], "retry");
  keep(sql);
  EXPECT_EQ(batch(sql, id, "pending"), "2") << "a retry has not ended";
  sql.run("select * from millrace.cancel_jobs(array[$1::uuid])", pg::params(held[2].id));
  keep(sql);
  EXPECT_EQ(batch(sql, id, "finished_at"), "(null)");
  EXPECT_EQ(callbacks(sql), 0);
  worker.complete(held[3]);
  keep(sql);
  EXPECT_EQ(batch(sql, id, "completed") + batch(sql, id, "failed") + batch(sql, id, "cancelled"),
            "211");
  EXPECT_NE(batch(sql, id, "finished_at"), "(null)");
  const auto callback = batch(sql, id, "callback_job_id");
  EXPECT_EQ(job(sql, callback, "job_type"), "sleep");
  EXPECT_EQ(job(sql, callback, "priority"), "9");
  EXPECT_EQ(
      sql.value(
          "select (payload - 'batch_id')::text from millrace.job_fact where job_id = $1::uuid",
          pg::params(callback)),
      R"({"of": "import", "total": 4, "failed": 1, "cancelled": 1, "completed": 2})");
}

TEST_F(Batch, callback_happens_exactly_once_under_concurrent_advance) {
  constexpr int kBatches = 8;
  for (int i = 0; i < kBatches; ++i) create(sql, 5);
  together(5, [&](int i, const std::atomic<bool>& failed) {
    Session mine(database);
    if (i < 3) {
      Worker worker(mine, fmt::format("w{}", i));
      while (!failed) {
        const auto held = worker.claim(3, {.types = "{noop}"});
        if (held.empty() &&
            mine.number("select count(*) from millrace.job_history") == kBatches * 5) {
          break;
        }
        for (const auto& delivery : held) worker.complete(delivery);
      }
    } else {
      while (!failed &&
             mine.number("select count(*) from millrace.batch where finished_at is null") > 0) {
        mine.run("select millrace.advance(3)");
      }
    }
  });
  keep(sql);
  EXPECT_EQ(callbacks(sql), kBatches);
  EXPECT_EQ(sql.number("select count(*) from millrace.batch where completed = 5 and "
                       "callback_job_id is not null"),
            kBatches);
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'batch.finished'"),
            kBatches);
}

TEST_F(Batch, an_advance_that_rolls_back_pays_later) {
  const auto id = create(sql, 1);
  Worker worker(sql);
  worker.complete(worker.take());
  must(sql.connection().begin());
  sql.run("select millrace.advance(100)");
  must(sql.connection().rollback());  // The keeper died.
  EXPECT_EQ(batch(sql, id, "finished_at"), "(null)");
  keep(sql);
  EXPECT_EQ(callbacks(sql), 1);
}

TEST_F(Batch, callback_on_completed_needs_every_member_to_complete) {
  const std::string options = R"({"callback_on": "completed",
                                  "callback": {"job_type": "noop", "payload": {"of": "x"}}})";
  const auto good = create(sql, 2, options);
  const auto bad = create(sql, 2, options);
  Worker worker(sql);
  const auto held = worker.claim(4);
  worker.complete(held[0]);
  worker.complete(held[1]);
  worker.complete(held[2]);
  worker.settle(held[3], "permanent");
  keep(sql);
  EXPECT_NE(batch(sql, good, "callback_job_id"), "(null)");
  EXPECT_EQ(batch(sql, bad, "callback_job_id"), "(null)");
  EXPECT_NE(batch(sql, bad, "finished_at"), "(null)");
  EXPECT_EQ(callbacks(sql), 1);
}

TEST_F(Batch, an_open_batch_grows_until_it_is_sealed) {
  const auto id = sql.value("select millrace.open_batch($1::jsonb)", pg::params(kCallback));
  const auto member = fmt::format(R"({{"batch_id": "{}"}})", id);
  enqueue(sql, member);
  Worker worker(sql);
  worker.complete(worker.take());
  keep(sql);
  EXPECT_EQ(callbacks(sql), 0) << "more may come";
  enqueue(sql, member);
  sql.run("select millrace.seal_batch($1::uuid)", pg::params(id));
  sql.run("select millrace.seal_batch($1::uuid)", pg::params(id));  // Harmless.
  EXPECT_EQ(sql.refused("select millrace.enqueue_job('noop', '{\"n\": 1}', $1::jsonb)",
                        pg::params(member))
                .sqlstate,
            "MR018");
  keep(sql);
  EXPECT_EQ(callbacks(sql), 0);
  worker.complete(worker.take());
  keep(sql);
  EXPECT_EQ(callbacks(sql), 1);
  keep(sql);
  EXPECT_EQ(callbacks(sql), 1);
}

TEST_F(Batch, sealing_after_the_last_member_has_ended_finishes_the_batch) {
  const auto id = sql.value("select millrace.open_batch($1::jsonb)", pg::params(kCallback));
  enqueue(sql, fmt::format(R"({{"batch_id": "{}"}})", id));
  Worker worker(sql);
  worker.complete(worker.take());
  keep(sql);
  sql.run("select millrace.seal_batch($1::uuid)", pg::params(id));
  keep(sql);
  EXPECT_EQ(callbacks(sql), 1);
  sql.run("select millrace.seal_batch($1::uuid)", pg::params(id));
  keep(sql);
  EXPECT_EQ(callbacks(sql), 1) << "a batch finishes once, whoever looks at it again";
}

TEST_F(Batch, a_callback_refused_for_the_moment_is_made_later) {
  const auto id = create(sql, 1);
  Worker worker(sql);
  worker.complete(worker.take());
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'false')");
  sql.run("select millrace.advance(100)");
  EXPECT_EQ(batch(sql, id, "completed"), "1");
  EXPECT_EQ(batch(sql, id, "finished_at"), "(null)");
  sql.run("select millrace.set_config_value('system.enqueue_enabled', 'true')");
  keep(sql);
  EXPECT_EQ(callbacks(sql), 1);
  EXPECT_EQ(batch(sql, id, "completed"), "1") << "counted once";
}

TEST_F(Batch, a_callback_that_became_impossible_finishes_the_batch_and_says_so) {
  const auto id = create(sql, 1);
  sql.run("select millrace.set_job_type('sleep', '{\"enabled\": false}')");
  Worker worker(sql);
  worker.complete(worker.take());
  keep(sql);
  EXPECT_NE(batch(sql, id, "finished_at"), "(null)");
  EXPECT_EQ(sql.number("select count(*) from millrace.event where kind = 'batch.callback_failed'"),
            1);
}

TEST_F(Batch, a_bad_callback_is_refused_when_the_batch_is_made) {
  EXPECT_EQ(
      sql.refused("select millrace.open_batch('{\"callback\": {\"job_type\": \"unheard_of\"}}')")
          .sqlstate,
      "MR002");
  EXPECT_EQ(sql.refused("select millrace.open_batch('{\"callback_on\": \"never\"}')").sqlstate,
            "MR018");
}

TEST_F(Batch, a_redriven_member_is_not_counted_again) {
  const auto id = create(sql, 1);
  Worker worker(sql);
  worker.settle(worker.take(), "permanent");
  keep(sql);
  ASSERT_EQ(batch(sql, id, "failed"), "1");
  sql.run("select * from millrace.redrive_jobs('{}')");
  keep(sql);
  for (const auto& delivery : worker.claim(10)) worker.complete(delivery);
  keep(sql);
  EXPECT_EQ(batch(sql, id, "completed") + batch(sql, id, "failed"), "01");
  EXPECT_EQ(callbacks(sql), 1);
}

TEST_F(Batch, i08_a_batch_of_another_tenant_does_not_exist) {
  as_tenant(sql, "aaaaaaaa-0000-4000-8000-000000000001");
  const auto id = sql.value("select millrace.open_batch($1::jsonb)", pg::params(kCallback));
  as_tenant(sql, "bbbbbbbb-0000-4000-8000-000000000002");
  for (const char* call :
       {"select millrace.get_batch($1::uuid)", "select millrace.seal_batch($1::uuid)",
        "select millrace.enqueue_job('noop', '{\"n\": 1}', "
        "jsonb_build_object('batch_id', $1::text))"}) {
    EXPECT_EQ(sql.refused(call, pg::params(id)).sqlstate, "MR018") << call;
  }
}

}  // namespace
}  // namespace millrace::test
