// LimitWorld: a database with one provider limit "p:e" (provider 'p', endpoint 'e') and a clock
// that the test moves. Time stands still at 2026-05-01 12:00:00 UTC until advance() is called.
#pragma once

#include "sql/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::test {

class LimitWorld : public ::testing::Test {
 protected:
  LimitWorld() {
    db_.run("update millrace.test_clock set frozen_at = '2026-05-01 12:00Z', shift = '0'");
    limit(R"({"requests_per_minute": null, "concurrent_requests": null})");
  }

  void limit(std::string_view values) {
    db_.run("select millrace.set_limit('p', 'e', $1::jsonb)", pg::params(values));
  }
  void override_limit(std::string_view values, std::string_view ttl = {}) {
    pg::Params params;
    params.add(values);
    if (ttl.empty()) {
      params.add_null();
    } else {
      params.add(ttl);
    }
    db_.run("select millrace.override_limit('p', 'e', $1::jsonb, 'test', $2::interval)",
            std::move(params));
  }
  void advance(std::string_view by) {
    db_.run("update millrace.test_clock set shift = shift + $1::interval", pg::params(by));
  }
  bool acquire(std::int64_t tokens = 1) {
    return db_.yes("select millrace.acquire_api_capacity('p', 'e', $1::integer)",
                   pg::params(tokens));
  }
  // How many of `times` requests are granted.
  std::int64_t acquire_many(std::int64_t times, std::int64_t tokens = 1) {
    return db_.number(
        "select count(*) from (select millrace.acquire_api_capacity('p', 'e', $2::integer) as ok"
        "  from generate_series(1, $1::integer) offset 0) a where a.ok",
        pg::params(times, tokens));
  }
  void release(std::int64_t estimate) {
    db_.run("select millrace.release_api_capacity('p', 'e', $1::integer)", pg::params(estimate));
  }
  void release(std::int64_t estimate, std::int64_t actual) {
    db_.run("select millrace.release_api_capacity('p', 'e', $1::integer, $2::integer)",
            pg::params(estimate, actual));
  }
  // A column of the provider's row, or of millrace.limits_overview().
  std::string row(std::string_view column) {
    return db_.value(fmt::format(
        "select l.{} from millrace.api_rate_limits l where l.provider_name = 'p'", column));
  }
  std::string overview(std::string_view column) {
    return db_.value(fmt::format(
        "select l.{} from millrace.limits_overview() l where l.provider_name = 'p'", column));
  }
  std::string used() {  // Requests and tokens in the minute and in the hour.
    return db_.value(
        "select format('%s/%s %s/%s', l.used_requests_minute, l.used_tokens_minute,"
        "              l.used_requests_hour, l.used_tokens_hour)"
        "  from millrace.limits_overview() l where l.provider_name = 'p'");
  }
  std::string room() {  // Requests and tokens that may be granted now.
    return db_.value(
        "select format('%s %s', r.requests, r.tokens) from millrace.api_rate_limits l,"
        "       millrace.capacity_room(l.provider_id) r where l.provider_name = 'p'");
  }

  // A job of a type bound to the provider, leased to worker 'w' with a new token, with its slot.
  // Returns its id.
  std::string start_job(std::int64_t estimate = 1) {
    bind_type();
    const auto job = db_.value(
        "insert into millrace.lease (job_id, tenant_id, queue_id, type_id, priority, flags, "
        "generation,"
        "    attempt, delivery_count, crash_count, suspect_count, snooze_count, born_at, token,"
        "    worker_id, leased_at, renewed_at, lease_until, ready_seq)"
        " select millrace.new_id(), millrace.current_tenant(), t.queue_id, t.type_id, 5, 0, 1, 0, "
        "1, 0, 0,"
        "    0, millrace.now(), gen_random_uuid(), 'w', millrace.now(), millrace.now(),"
        "    millrace.now() + interval '1 hour', 0"
        "   from millrace.job_type t where t.job_type = 'bound' returning job_id");
    db_.run(
        "select millrace.capacity_take(millrace.provider_of(l.type_id), array[l.job_id],"
        "    array[l.token], 'w', array[$2::bigint], l.lease_until)"
        "  from millrace.lease l where l.job_id = $1::uuid",
        pg::params(job, estimate));
    return job;
  }
  // What settling does: the lease goes, the providers learn the outcome.
  void settle(const std::string& job, std::string_view outcome, std::string_view actual = "null",
              std::string_view until = "null", std::string_view reason = "null") {
    db_.run(fmt::format(
        "with l as (delete from millrace.lease where job_id = '{}' returning job_id, token, "
        "type_id)"
        " select millrace.capacity_settle(array[l.job_id], array[l.token], array[l.type_id],"
        "    array['{}'], array[{}::bigint], array[({})::timestamptz], array[{}::text]) from l",
        job, outcome, actual, until, reason));
  }
  void bind_type() {
    db_.run(
        "insert into millrace.job_type (job_type, queue_id, provider_name, api_endpoint)"
        " select 'bound', q.queue_id, 'p', 'e' from millrace.queue q where q.queue = 'default'"
        " on conflict (job_type) do nothing");
  }

  TestDatabase database_;
  Session db_{database_};
};

}  // namespace millrace::test
