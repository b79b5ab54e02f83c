// The engine as a test speaks it: enqueue, a worker that claims and settles, the clock, the
// keeper's duties, and the question whether the books balance.
//
// Everything goes through the SQL protocol on the Session given; tables are only looked at. Times
// pass by moving the test clock, never by waiting.
#pragma once

#include "sql/session.h"

#include <atomic>
#include <barrier>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace millrace::test {

class EngineTest : public ::testing::Test {
 protected:
  TestDatabase database;
  Session sql{database};
};

// --- Producing ---

struct Enqueued {
  std::string id;
  std::string answer;  // created or duplicate.
};

inline std::string enqueue(Session& sql, const std::string& options = "{}",
                           const std::string& type = "noop") {
  return sql.value("select millrace.enqueue_job($1, '{\"n\": 1}', $2::jsonb)",
                   pg::params(type, options));
}

inline std::vector<Enqueued> enqueue_jobs(Session& sql, const std::string& jobs) {
  std::vector<Enqueued> all;
  for (const auto row : sql.rows("select job_id, answer from millrace.enqueue_jobs($1::jsonb) "
                                 "order by ord",
                                 pg::params(jobs))) {
    all.push_back({std::string(row.text(0)), std::string(row.text(1))});
  }
  return all;
}

// Options of jobs that do not wait in a lane.
inline constexpr const char* kInReady = R"({"max_attempts": 25})";

// `count` jobs of type noop that differ only in payload.n.
inline std::vector<std::string> enqueue_many(Session& sql, int count,
                                             const std::string& options = "{}") {
  std::vector<std::string> ids;
  for (const auto row : sql.rows(
           "select millrace.enqueue_array('noop', array(select jsonb_build_object('n', i) from "
           "generate_series(1, $1::int) i), $2::jsonb)",
           pg::params(count, options))) {
    ids.emplace_back(row.text(0));
  }
  return ids;
}

// A queue of the test's own, with the type noop moved to it.
inline void set_queue(Session& sql, const std::string& queue, const std::string& policy) {
  sql.run("select millrace.set_queue($1, $2::jsonb)", pg::params(queue, policy));
}

inline void as_tenant(Session& sql, const std::string& tenant) {
  sql.run("select set_config('millrace.tenant_id', $1, false)", pg::params(tenant));
}

// --- Working ---

struct Delivery {
  std::string id;
  std::string token;
  std::string tenant;
  std::string mark;
  std::int64_t priority = 0;
  std::int64_t attempt = 0;
  std::int64_t delivery = 0;
};

struct ClaimOptions {
  std::string queue = "default";
  std::optional<std::string> types{};  // An array literal such as {noop,sleep}.
  std::optional<std::string> marks{};
  bool alone = false;
};

// Of workers that must outlive a few hours of the test clock, and of one that dies soon.
inline constexpr const char* kLongLived = R"({"lease_ms": 86400000})";
inline constexpr const char* kShortLived = R"({"lease_ms": 30000})";

class Worker {
 public:
  explicit Worker(Session& sql, std::string id = "w1", const std::string& info = kLongLived)
      : sql_(&sql), id_(std::move(id)) {
    process_ = sql_->value("select millrace.register_worker($1, $2::jsonb)", pg::params(id_, info));
  }

  const std::string& id() const { return id_; }
  const std::string& process() const { return process_; }

  std::vector<Delivery> claim(int limit = 1, const ClaimOptions& options = {}) {
    std::vector<Delivery> all;
    for (const auto row :
         sql_->rows("select job_id, token, tenant_id, mark, priority, attempt, delivery_count "
                    "from millrace.claim_jobs($1, $2::uuid, $3, $4::int, $5::text[], $6::jsonb, "
                    "$7::boolean)",
                    pg::params(id_, process_, options.queue, limit, options.types, options.marks,
                               options.alone))) {
      all.push_back({std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                     std::string(row.text(3)), row.i64(4), row.i64(5), row.i64(6)});
    }
    return all;
  }
  // The next job, which must be there.
  Delivery take(const ClaimOptions& options = {}) {
    auto claimed = claim(1, options);
    if (claimed.size() != 1) throw std::runtime_error("there was no job to claim");
    return claimed[0];
  }

  // The answer. `more` holds further fields of the settlement.
  std::string settle(const Delivery& delivery, const std::string& outcome,
                     const std::string& more = "{}") {
    return sql_->value(
        "select answer from millrace.settle_jobs($1, jsonb_build_array(jsonb_build_object("
        "'job_id', $2::text, 'token', $3::text, 'outcome', $4::text) || $5::jsonb))",
        pg::params(id_, delivery.id, delivery.token, outcome, more));
  }
  std::string complete(const Delivery& delivery) {
    return sql_->value(
        "select answer from millrace.complete_jobs($1, array[$2::uuid], array[$3::uuid])",
        pg::params(id_, delivery.id, delivery.token));
  }
  bool beat() {
    return sql_->yes("select (millrace.beat_worker($1, $2::uuid) ->> 'alive')::boolean",
                     pg::params(id_, process_));
  }

 private:
  Session* sql_;
  std::string id_;
  std::string process_;
};

inline std::vector<std::string> ids_of(const std::vector<Delivery>& deliveries) {
  std::vector<std::string> ids;
  for (const auto& delivery : deliveries) ids.push_back(delivery.id);
  return ids;
}

// --- Time and the keeper ---

inline void pass(Session& sql, const std::string& interval) {
  sql.run("update millrace.test_clock set shift = shift + $1::interval", pg::params(interval));
}
// From now on only pass() moves the clock.
inline void stop_clock(Session& sql) {
  sql.run("update millrace.test_clock set frozen_at = clock_timestamp()");
}

// The keeper's duties, round after round, until nothing moves. (A job that waits for any of
// several, one of which has ended badly, is looked at in every round.)
inline void keep(Session& sql) {
  for (int round = 0; round < 8; ++round) {
    if (sql.number("select millrace.reclaim(1000) + millrace.promote_due(1000) + "
                   "millrace.expire_waiting(1000) + millrace.advance(1000)") == 0) {
      break;
    }
  }
}

// --- Looking ---

inline std::string job(Session& sql, const std::string& id, const std::string& field) {
  return sql.value("select millrace.get_job($1::uuid) ->> $2", pg::params(id, field));
}
inline std::string status(Session& sql, const std::string& id) { return job(sql, id, "status"); }

// Empty when every live job lies in exactly one place, the counters say what the places hold, and
// enqueued = completed + failed + cancelled + live; else what is wrong.
inline std::string imbalance(Session& sql) {
  return sql.value(R"(
    with place as (
      select job_id, queue_id, tenant_id,
             case place when 'history' then status when 'lease' then 'leased' else place end as place
        from millrace.job_place),
    real as (
      select q.queue, p.tenant_id, count(*) as enqueued,
             count(*) filter (where p.place = 'ready') as ready,
             count(*) filter (where p.place = 'delayed') as delayed,
             count(*) filter (where p.place = 'leased') as leased,
             count(*) filter (where p.place = 'completed') as completed,
             count(*) filter (where p.place = 'failed') as failed,
             count(*) filter (where p.place = 'cancelled') as cancelled
        from place p join millrace.queue q on q.queue_id = p.queue_id group by 1, 2)
    select coalesce(string_agg(w.what, '; '), '') from (
      select format('job %s is in %s places', f.job_id, count(p.job_id)) as what
        from millrace.job_fact f left join place p on p.job_id = f.job_id
       group by f.job_id having count(p.job_id) <> 1
      union all
      select format('%s: counters say %s, the tables %s', coalesce(r.queue, c.queue), c, r)
        from real r full join millrace.queue_counts() c
          on c.queue = r.queue and c.tenant_id = r.tenant_id
       where (coalesce(c.enqueued, 0), coalesce(c.ready, 0), coalesce(c.delayed, 0),
              coalesce(c.leased, 0), coalesce(c.completed, 0), coalesce(c.failed, 0),
              coalesce(c.cancelled, 0), coalesce(c.live, 0))
             is distinct from
             (coalesce(r.enqueued, 0), coalesce(r.ready, 0), coalesce(r.delayed, 0),
              coalesce(r.leased, 0), coalesce(r.completed, 0), coalesce(r.failed, 0),
              coalesce(r.cancelled, 0),
              coalesce(r.ready, 0) + coalesce(r.delayed, 0) + coalesce(r.leased, 0))) w)");
}

// Number of live jobs and where: "ready 2, delayed 0, leased 1".
inline std::string places(Session& sql) {
  return sql.value(
      "select format('ready %s, delayed %s, leased %s', count(*) filter (where place = 'ready'), "
      "count(*) filter (where place = 'delayed'), count(*) filter (where place = 'lease')) "
      "from millrace.job_place");
}

// --- Together ---

// Stop: holds a session inside a statement, after its snapshot was taken, where the statement reads
// (or locks) the first row of a table: a row policy of the test waits there.
class Stop {
 public:
  // `command` is select, or update for rows that are locked.
  Stop(const TestDatabase& database, const std::string& table, const std::string& command)
      : gate_(database) {
    gate_.run("select pg_advisory_lock(4711)");
    gate_.script(fmt::format(R"(
      create function public.stop_here() returns boolean language plpgsql volatile as $$
      begin
        if current_setting('test.stops', true) = 'on' then
          perform pg_advisory_xact_lock_shared(4711);
        end if;
        return true;
      end $$;
      alter table millrace.{0} enable row level security, force row level security;
      create policy test_open on millrace.{0} using (true);
      create policy test_stop on millrace.{0} as restrictive for {1} using (public.stop_here());)",
                             table, command));
  }
  void stops(Session& sql) { sql.run("select set_config('test.stops', 'on', false)"); }
  void wait_until_stopped() {
    while (
        !gate_.yes("select exists (select from pg_locks where locktype = 'advisory' "
                   "and objid = 4711 and not granted)")) {
    }
  }
  void go_on() { gate_.run("select pg_advisory_unlock(4711)"); }

 private:
  Session gate_;
};

// Runs work(0) … work(count - 1) on threads of their own that start at the same moment. The first
// exception fails the test; work that loops until others have done something also ends when
// `failed` is true.
inline void together(int count,
                     const std::function<void(int, const std::atomic<bool>& failed)>& work) {
  std::barrier start(count);
  std::atomic<bool> failed = false;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        try {
          work(i, failed);
        } catch (...) {
          errors[static_cast<std::size_t>(i)] = std::current_exception();
          failed = true;
        }
      });
    }
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace millrace::test
