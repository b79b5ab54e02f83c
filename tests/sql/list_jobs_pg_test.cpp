// The job list: every job once, newest first, by pages whose cost does not grow with what is there,
// in every status as the views say it, and of no other tenant.
#include "sql/engine.h"
#include "sql/lane_worker.h"

#include <map>
#include <set>

namespace millrace::test {
namespace {

constexpr const char* kTenant = "aaaaaaaa-0000-4000-8000-000000000001";

struct Page {
  std::vector<std::string> ids;
  std::optional<std::string> next;
};

class ListJobs : public EngineTest {
 protected:
  Page page(const std::string& filter, int limit = 50,
            const std::optional<std::string>& before = {}) {
    Page result;
    // In FROM it is called once; in the list of a subquery, once for every job it shows.
    const auto rows = sql.rows(
        "select p.page ->> 'next', j.job ->> 'job_id' from millrace.list_jobs($1::jsonb, $2::int, "
        "$3::uuid) p(page) left join lateral jsonb_array_elements(p.page -> 'jobs') with "
        "ordinality j(job, n) on true order by j.n",
        pg::params(filter, limit, before));
    for (const auto row : rows) {
      result.next = row.opt_text(0);
      if (!row.is_null(1)) result.ids.emplace_back(row.text(1));
    }
    return result;
  }
  // All pages after one another.
  std::vector<std::string> all(const std::string& filter, int limit = 50) {
    std::vector<std::string> ids;
    std::optional<std::string> before;
    do {
      const auto one = page(filter, limit, before);
      EXPECT_LE(one.ids.size(), static_cast<std::size_t>(limit));
      ids.insert(ids.end(), one.ids.begin(), one.ids.end());
      before = one.next;
    } while (before);
    return ids;
  }
  std::vector<std::string> seen(const std::string& condition) {
    std::vector<std::string> ids;
    for (const auto row : sql.rows("select job_id from millrace.jobs where " + condition +
                                   " order by job_id desc")) {
      ids.emplace_back(row.text(0));
    }
    return ids;
  }
  // Jobs in every place there is, twice over.
  void fill_every_place() {
    set_queue(sql, "default", R"({"key_concurrency_max": 1})");
    for (int i = 0; i < 2; ++i) {
      LaneWorker lanes(sql, fmt::format("l{}", i));
      Worker single(sql, fmt::format("s{}", i));
      enqueue_many(sql, 6);
      const auto held = lanes.claim_lanes(4);
      EXPECT_EQ(lanes.complete_claim({held[0], held[1]}), "1100");  // Completed, and held.
      lanes.settle(held[2], "retry");
      for (const char* outcome :
           {"ok", "retry", "blocked", "permanent", "cancelled", "throttled"}) {
        const auto id = enqueue(sql, kInReady, "sleep");
        Delivery taken;
        for (const auto& delivery : single.claim(100, {.types = "{sleep}"})) {
          if (delivery.id == id) taken = delivery;
        }
        single.settle(taken, outcome, R"({"error": {"error_type": "t", "message": "m"}})");
      }
      enqueue(sql, R"({"concurrency_key": "k"})", "sleep");  // One runs, one waits for it.
      single.claim(1, {.types = "{sleep}"});
      enqueue(sql, R"({"delay_seconds": 3600})");
      enqueue(sql, kInReady);
      enqueue(sql, R"({"correlation_id": "c", "queue": "default"})");
    }
    const auto gone = enqueue(sql);
    sql.run("select millrace.cancel_jobs(array[$1::uuid], 'unwanted')", pg::params(gone));
  }
};

TEST_F(ListJobs, shows_every_job_once_newest_first_in_pages_of_any_size) {
  fill_every_place();
  const auto expected = seen("true");
  ASSERT_GT(expected.size(), 25U);
  for (const int limit : {1, 2, 7, 50, 1000}) {
    EXPECT_EQ(all("{}", limit), expected) << "pages of " << limit;
  }
}

TEST_F(ListJobs, agrees_with_the_view_for_every_status) {
  fill_every_place();
  for (const char* status :
       {"pending", "processing", "retrying", "deferred", "completed", "failed", "cancelled"}) {
    const auto expected = seen(fmt::format("status = '{}'", status));
    EXPECT_FALSE(expected.empty()) << status;
    for (const int limit : {1, 3, 50}) {
      EXPECT_EQ(all(fmt::format(R"({{"status": "{}"}})", status), limit), expected)
          << status << " in pages of " << limit;
    }
  }
}

TEST_F(ListJobs, shows_of_each_job_what_the_view_shows) {
  fill_every_place();
  EXPECT_EQ(
      sql.value("select string_agg(distinct k.key || ': ' || (j.job -> k.key)::text || ' <> ' "
                "|| coalesce((v.row -> k.key)::text, 'nothing'), ', ') "
                "from jsonb_array_elements(millrace.list_jobs('{}', 1000) -> 'jobs') j(job) "
                "join lateral (select to_jsonb(w) as row from millrace.jobs w where w.job_id "
                "= (j.job ->> 'job_id')::uuid) v on true cross join lateral "
                "jsonb_object_keys(j.job) k(key) where k.key not in ('job_name', 'parent_id', "
                "'cancel_requested_at') and j.job -> k.key "
                "is distinct from v.row -> k.key"),
      "(null)");
}

TEST_F(ListJobs, takes_filters_together) {
  fill_every_place();
  EXPECT_EQ(all(R"({"job_type": "sleep", "status": "completed"})"),
            seen("job_type = 'sleep' and status = 'completed'"));
  EXPECT_EQ(all(R"({"correlation_id": "c"})"), seen("correlation_id = 'c'"));
  EXPECT_EQ(all(R"({"queue": "default", "job_type": "noop"})"), seen("job_type = 'noop'"));
  EXPECT_TRUE(all(R"({"queue": "nobody_has_made_it"})").empty());
  const auto batch = sql.value("select millrace.open_batch()");
  const auto in_batch = enqueue(sql, fmt::format(R"({{"batch_id": "{}"}})", batch));
  EXPECT_EQ(all(fmt::format(R"({{"batch_id": "{}"}})", batch)), std::vector{in_batch});
}

TEST_F(ListJobs, t02_shows_nothing_of_another_tenant) {
  enqueue_many(sql, 3);
  as_tenant(sql, kTenant);
  const auto mine = enqueue(sql);
  for (const char* filter : {"{}", R"({"status": "pending"})", R"({"queue": "default"})"}) {
    EXPECT_EQ(all(filter, 2), std::vector{mine}) << filter;
  }
}

// What ended badly comes from an index of its own for each tenant.
TEST_F(ListJobs, t02_shows_the_failures_of_the_own_tenant_only) {
  Worker worker(sql);
  std::map<std::string, std::vector<std::string>> failed;
  for (int i = 0; i < 6; ++i) {
    const std::string tenant = i % 2 == 0 ? kTenant : "";
    as_tenant(sql, tenant);
    const auto id = enqueue(sql, kInReady);
    as_tenant(sql, "");
    worker.settle(worker.take(), i < 4 ? "permanent" : "cancelled");
    if (i < 4) failed[tenant].insert(failed[tenant].begin(), id);
  }
  EXPECT_EQ(all(R"({"status": "failed"})", 1).size(), 4U);
  as_tenant(sql, kTenant);
  EXPECT_EQ(all(R"({"status": "failed"})", 1), failed[kTenant]);
  EXPECT_EQ(all(R"({"status": "cancelled"})").size(), 1U);
}

TEST_F(ListJobs, a_redriven_job_is_shown_where_it_lies_now) {
  Worker worker(sql);
  const auto id = enqueue(sql, kInReady);
  worker.settle(worker.take(), "permanent");
  EXPECT_EQ(all(R"({"status": "failed"})"), std::vector{id});
  sql.run(
      "select millrace.redrive_jobs(jsonb_build_object('job_ids', jsonb_build_array($1::text)))",
      pg::params(id));
  EXPECT_TRUE(all(R"({"status": "failed"})").empty());
  EXPECT_EQ(all(R"({"status": "pending"})"), std::vector{id});
}

// P: constant cost at any number of jobs: a page looks at so many and no more.
TEST_F(ListJobs, a_page_that_finds_nothing_ends_and_says_where_to_go_on) {
  for (int i = 0; i < 3; ++i) enqueue_many(sql, 5000);
  const auto odd = sql.value("select job_id from millrace.job_fact order by job_id limit 1");
  sql.run("alter table millrace.job_fact disable trigger all");
  sql.run("update millrace.job_fact set correlation_id = 'odd' where job_id = $1", pg::params(odd));
  const auto first = page(R"({"correlation_id": "odd"})");
  EXPECT_TRUE(first.ids.empty());
  ASSERT_TRUE(first.next.has_value());
  EXPECT_EQ(all(R"({"correlation_id": "odd"})"), std::vector{odd});
}

// However many jobs have failed, and whoever they belong to.
TEST_F(ListJobs, c15_a_page_of_failures_reads_a_page_of_them) {
  enqueue_many(sql, 5000);
  sql.script("set session_replication_role = replica");
  // Those that completed are newer: whoever looks for the others among all passes over them.
  sql.run(
      "insert into millrace.job_history (job_id, generation, tenant_id, queue_id, type_id, status, "
      "finished_at, attempt, delivery_count, crash_count, snooze_count, fingerprint) "
      "select f.job_id, 1, case when f.n % 100 = 0 then $1 else f.tenant_id end, f.queue_id, "
      "f.type_id, case when f.n <= 2500 then 'failed' else 'completed' end::millrace.job_status, "
      "now(), 1, 1, 0, 0, case when f.n <= 2500 then 'p' || f.n % 50 end "
      "from (select x.*, row_number() over (order by x.job_id) as n from millrace.job_fact x) f",
      pg::params(kTenant));
  sql.run(
      "update millrace.job_fact f set lane_id = null, tenant_id = h.tenant_id from "
      "millrace.job_history h where h.job_id = f.job_id");
  // PostgreSQL counts a row that an index led to at that index, and nothing at its table.
  const auto fetched = [&] {
    return sql.number(
        "select sum(pg_stat_get_xact_tuples_fetched(c.oid)) from pg_class c "
        "where c.relname like 'job_history%' and c.relkind = 'i'");
  };
  const auto read = [&](const std::string& tenant, const std::string& filter) {
    as_tenant(sql, tenant);
    sql.script("begin");
    const auto before = fetched();
    EXPECT_EQ(page(filter, 20).ids.size(), 20U) << filter;
    const auto rows = fetched() - before;
    sql.script("commit");
    return rows;
  };
  // Fifty candidates, what each is now, and the twenty that are shown.
  for (const auto* filter : {R"({"status": "failed"})", R"({"fingerprint": "p7"})"}) {
    const auto rows = read("", filter);
    EXPECT_GE(rows, 20) << filter << ": nothing was counted";
    EXPECT_LE(rows, 150) << filter;
  }
  const auto rows = read(kTenant, R"({"status": "failed"})");
  EXPECT_GE(rows, 20) << "nothing was counted";
  EXPECT_LE(rows, 150);
}

TEST_F(ListJobs, wrong_filters_are_refused_by_name) {
  const std::map<std::string, std::string> wrong{
      {R"({"state": "failed"})", "'state' must be text"},
      {R"({"status": "done"})", "status must be one of pending"},
      {R"({"status": 1})", "'status' must be text"},
      {R"({"batch_id": "7"})", "batch_id must be a uuid"},
      {R"([])", "p_filter must be a JSON object"}};
  for (const auto& [filter, message] : wrong) {
    const auto error = sql.refused("select millrace.list_jobs($1::jsonb)", pg::params(filter));
    EXPECT_EQ(error.sqlstate, "MR024");
    EXPECT_THAT(error.message, ::testing::HasSubstr(message));
  }
  for (const char* limit : {"0", "1001", "null"}) {
    EXPECT_EQ(sql.refused(fmt::format("select millrace.list_jobs('{{}}', {})", limit)).sqlstate,
              "MR024");
  }
}

}  // namespace
}  // namespace millrace::test
