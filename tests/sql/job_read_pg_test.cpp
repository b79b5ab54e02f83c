// Jobs as the API shows them: one by id, pages by filter, at a cost that does not grow with their
// number.
#include "sql/server_world.h"

namespace millrace::test {
namespace {

class JobRead : public EngineTest {
 protected:
  static std::string brief(Session& session, const std::string& id, const std::string& field) {
    return session.value("select millrace.job_status($1) ->> $2", pg::params(id, field));
  }
  struct Page {
    std::vector<std::string> ids;
    std::string next;
  };
  static Page list(Session& session, const std::string& filter, const std::string& before = "",
                   int limit = 50) {
    const auto text = session.value(
        "select millrace.list_jobs($1::jsonb, $2, $3)",
        pg::params(filter, limit,
                   before.empty() ? std::optional<std::string>() : std::optional(before)));
    Page page;
    for (const auto row :
         session.rows("select j ->> 'job_id' from json_array_elements($1::json -> 'jobs') j",
                      pg::params(text))) {
      page.ids.emplace_back(row.text(0));
    }
    page.next = session.value("select $1::json ->> 'next'", pg::params(text));
    return page;
  }
  // All pages.
  static std::vector<std::string> all(Session& session, const std::string& filter, int limit = 3) {
    std::vector<std::string> ids;
    std::string before;
    for (int i = 0; i < 1000; ++i) {
      auto page = list(session, filter, before, limit);
      ids.insert(ids.end(), page.ids.begin(), page.ids.end());
      if (page.next == "(null)") return ids;
      before = page.next;
    }
    ADD_FAILURE() << "the pages do not end";
    return ids;
  }
  std::vector<std::string> expected(const std::string& where) {
    std::vector<std::string> ids;
    for (const auto row :
         sql.rows("select job_id from millrace.jobs where " + where + " order by job_id desc")) {
      ids.emplace_back(row.text(0));
    }
    return ids;
  }
  void mixed_world() {
    Worker worker(sql);
    for (int i = 0; i < 4; ++i) enqueue(sql, kInReady);
    worker.complete(worker.take());
    worker.settle(worker.take(), "retry", R"({"error": {"error_type": "e", "message": "again"}})");
    worker.settle(worker.take(), "permanent",
                  R"({"error": {"error_type": "e", "message": "never"}})");
    worker.take();
    enqueue_many(sql, 5);
    enqueue(sql, R"({"delay_seconds": 600})");
    enqueue(sql, R"({"correlation_id": "c"})");
    const auto cancelled = enqueue(sql);
    sql.run("select millrace.cancel_jobs(array[$1::uuid])", pg::params(cancelled));
  }
};

// One answer for every place a job can lie in, and the same as the long way.
TEST_F(JobRead, a_brief_agrees_with_the_view_of_all_jobs) {
  mixed_world();
  Worker lanes(sql, "w2");
  sql.run("select * from millrace.claim_jobs($1, $2::uuid, 'default', 3, null, null, false, true)",
          pg::params(lanes.id(), lanes.process()));
  for (const auto row : sql.rows(
           "select j.job_id, j.status, j.attempt, j.delivery_count, j.queue, j.job_type, "
           "j.progress, "
           "coalesce(j.worker_id, '') as worker_id, coalesce(j.error ->> 'message', '') as message "
           "from millrace.jobs j")) {
    const std::string id(row.text(0));
    for (const auto* field :
         {"status", "attempt", "delivery_count", "queue", "job_type", "progress"}) {
      EXPECT_EQ(brief(sql, id, field), row.text(field)) << id << " " << field;
    }
    EXPECT_EQ(sql.value("select coalesce(millrace.job_status($1) #>> '{error,message}', '')",
                        pg::params(id)),
              row.text("message"))
        << row.text("status");
  }
}

// One shape: what a list says of a job is what the job says of itself, but for what can be large.
TEST_F(JobRead, a_list_says_of_each_job_what_its_brief_says) {
  mixed_world();
  const auto held = sql.value("select job_id from millrace.jobs where status = 'processing'");
  sql.run("select millrace.cancel_jobs(array[$1::uuid], null)", pg::params(held));
  EXPECT_EQ(sql.value("select string_agg(distinct k.key || ': ' || (j.job -> k.key)::text, ', ') "
                      "from jsonb_array_elements(millrace.list_jobs('{}', 1000) -> 'jobs') j(job) "
                      "cross join lateral (select millrace.job_status((j.job ->> 'job_id')::uuid)"
                      "::jsonb as brief) b cross join lateral jsonb_object_keys(b.brief) k(key) "
                      "where k.key not in ('result', 'progress_data') "
                      "and j.job -> k.key is distinct from b.brief -> k.key"),
            "(null)");
  EXPECT_TRUE(sql.yes("select (millrace.job_status($1) ->> 'cancel_requested_at') is not null",
                      pg::params(held)));
}

TEST_F(JobRead, dead_letters_of_one_kind_and_jobs_of_a_batch_are_listed) {
  mixed_world();
  const auto fingerprint =
      sql.value("select fingerprint from millrace.job_history where status = 'failed'");
  EXPECT_EQ(all(sql, fmt::format(R"({{"status": "failed", "fingerprint": "{}"}})", fingerprint)),
            expected("status = 'failed'"));
  EXPECT_EQ(all(sql, fmt::format(R"({{"queue": "default", "fingerprint": "{}"}})", fingerprint)),
            expected("status = 'failed'"));
  for (const auto* nothing : {R"({{"queue": "export", "fingerprint": "{}"}})",
                              R"({{"status": "completed", "fingerprint": "{}"}})",
                              R"({{"status": "failed", "fingerprint": "not {}"}})"}) {
    EXPECT_EQ(all(sql, fmt::format(fmt::runtime(nothing), fingerprint)), std::vector<std::string>{})
        << nothing;
  }
  const auto batch = sql.value(
      "select millrace.create_batch((select jsonb_agg(jsonb_build_object('job_type', 'noop', "
      "'payload', jsonb_build_object('n', i))) from generate_series(1, 7) i))");
  EXPECT_EQ(all(sql, fmt::format(R"({{"batch_id": "{}"}})", batch)),
            expected(fmt::format("batch_id = '{}'", batch)));
  EXPECT_EQ(sql.value("select total || ' ' || pending from millrace.list_batches()"), "7 7");
}

// Rows that come in front while somebody pages change nothing behind.
TEST_F(JobRead, new_jobs_do_not_shift_the_pages) {
  enqueue_many(sql, 4);
  const auto before = expected("true");
  const auto first = list(sql, "{}", "", 2);
  enqueue_many(sql, 3);
  const auto second = list(sql, "{}", first.next, 10);
  EXPECT_EQ(first.ids, std::vector<std::string>(before.begin(), before.begin() + 2));
  EXPECT_EQ(second.ids, std::vector<std::string>(before.begin() + 2, before.end()));
}

// T-02: a user's list is the user's.
TEST_F(JobRead, t02_users_tenants_and_services_see_what_is_theirs) {
  ServerSession service{database, kTenant, "service_role"};
  ServerSession other{database, kOther, "service_role"};
  const auto mine = service.value("select millrace.create_export_job($1, $1)", pg::params(kAda));
  const auto bobs = service.value("select millrace.create_export_job($1, $1)", pg::params(kBob));
  const auto theirs = other.value("select millrace.create_export_job($1, $1)", pg::params(kAda));
  User ada{database, kAda};
  using Ids = std::vector<std::string>;
  EXPECT_EQ(all(ada, "{}"), Ids{mine});
  // Whatever else they ask for.
  EXPECT_EQ(all(ada, fmt::format(R"({{"owner_id": "{}"}})", kBob)), Ids{mine});
  EXPECT_EQ(all(ada, R"({"status": "pending"})"), Ids{mine});
  EXPECT_EQ(all(ada, R"({"queue": "export"})"), Ids{mine});
  User elsewhere{database, kAda, kOther};
  EXPECT_EQ(all(elsewhere, "{}"), Ids{theirs});
  EXPECT_EQ(all(service, "{}"), (Ids{bobs, mine}));
  EXPECT_EQ(all(service, fmt::format(R"({{"owner_id": "{}"}})", kBob)), Ids{bobs});
  EXPECT_EQ(all(other, "{}"), Ids{theirs});
  for (const auto* call : {"select millrace.job_status($1)", "select millrace.job_detail($1)",
                           "select millrace.job_log_page($1)", "select millrace.get_result($1)"}) {
    EXPECT_EQ(ada.refused(call, pg::params(bobs)).sqlstate, "MR009") << call;
    EXPECT_EQ(ada.refused(call, pg::params(theirs)).sqlstate, "MR009") << call;
    EXPECT_EQ(service.refused(call, pg::params(theirs)).sqlstate, "MR009") << call;
    ada.run(call, pg::params(mine));
  }
}

// X-20: the own ones, at once or cooperatively.
TEST_F(JobRead, x20_a_user_cancels_the_own_jobs) {
  ServerSession service{database, kTenant, "service_role"};
  const auto mine = service.value("select millrace.create_export_job($1, $1)", pg::params(kAda));
  const auto bobs = service.value("select millrace.create_export_job($1, $1)", pg::params(kBob));
  User ada{database, kAda};
  EXPECT_EQ(ada.value("select string_agg(job_id || ' ' || answer, ', ' order by answer) from "
                      "millrace.cancel_mine("
                      "array[$1::uuid, $2::uuid])",
                      pg::params(mine, bobs)),
            fmt::format("{} cancelled, {} not_found", mine, bobs));
  EXPECT_EQ(status(sql, bobs), "pending");
  EXPECT_EQ(ada.value("select answer from millrace.cancel_mine(array[$1::uuid])", pg::params(mine)),
            "already_final");
}

TEST_F(JobRead, o13_log_lines_come_in_pages) {
  Worker worker(sql);
  enqueue(sql, kInReady);
  const auto delivery = worker.take();
  sql.run(
      "select millrace.append_logs($1, (select jsonb_agg(jsonb_build_object('job_id', $2::text, "
      "'token', $3::text, "
      "'message', 'line ' || i)) from generate_series(1, 5) i))",
      pg::params(worker.id(), delivery.id, delivery.token));
  const auto page = [&](const std::string& after) {
    return sql.value(
        "select string_agg(message, ',') || ' ' || max(log_seq) from millrace.job_log_page($1, $2, "
        "3)",
        pg::params(delivery.id, after));
  };
  const auto first = page("0");
  EXPECT_TRUE(first.starts_with("line 1,line 2,line 3 "));
  EXPECT_TRUE(page(first.substr(first.rfind(' ') + 1)).starts_with("line 4,line 5 "));
}

// --- Audit ---

TEST_F(JobRead, a10_the_audit_is_read_in_pages_of_the_own_tenant) {
  ServerSession api{database};
  ServerSession other{database, kOther};
  for (int i = 0; i < 5; ++i) {
    api.run("select millrace.log_audit_event('t', $1, 'UPDATE', null, '{}', 'r', 'clinical', $2)",
            pg::params(std::to_string(i), kAda));
  }
  other.run("select millrace.log_audit_event('t', 'theirs', 'UPDATE', null, '{}', 'r')");
  const auto page = [&](const std::string& args) {
    return api.value(
        fmt::format("select (a #>> '{{more}}') || ' ' || coalesce((select string_agg(i ->> "
                    "'record_id', ',') from "
                    "json_array_elements(a -> 'items') i), '') || '|' || (a ->> 'last_at') || '|' "
                    "|| (a ->> 'last_id') "
                    "from millrace.list_audit({}) a",
                    args));
  };
  const auto first = page("null, null, null, null, null, null, 2");
  EXPECT_TRUE(first.starts_with("true 4,3|")) << first;
  const auto at = first.substr(first.find('|') + 1, first.rfind('|') - first.find('|') - 1);
  const auto id = first.substr(first.rfind('|') + 1);
  EXPECT_TRUE(page(fmt::format("'{}', {}, null, null, null, null, 10", at, id))
                  .starts_with("false 2,1,0|"));
  EXPECT_TRUE(page("null, null, null, null, '3'").starts_with("false 3|"));
  EXPECT_TRUE(page(fmt::format("null, null, null, null, null, '{}'", kBob)).starts_with("false |"));
  EXPECT_TRUE(page("null, null, 'logged', 't', null, null, 1").starts_with("true 4|"));
}

}  // namespace
}  // namespace millrace::test
