#include "interleave/lane.h"

namespace millrace::test {
namespace {

constexpr const char* kTenant = "00000000-0000-0000-0000-00000000000a";

bool in_lane(std::string_view world) {
  return world.ends_with("lane") || world.ends_with("claimed") || world.ends_with("forsaken");
}

std::string queue_of(std::string_view world) {
  if (in_lane(world)) return world.starts_with("limited") ? "m" : "l";
  return world.starts_with("shared") ? "o" : "q";
}

void replace(std::string& text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

Lane::Lane(Functions functions) : stage_(functions, {"judge.sql"}) { build_worlds(); }

void Lane::build_worlds() {
  for (Session* session : {&director_, &stage_.a(), &stage_.b()}) as_tenant(*session, kTenant);
  stop_clock(director_);
  // What waits is due at once, so that whatever may follow does.
  set_queue(director_, "q",
            R"({"backoff_base": 0, "backoff_cap": 0, "reclaim_jitter": 0, "concurrency_max": 1})");
  set_queue(director_, "o",
            R"({"backoff_base": 0, "backoff_cap": 0, "reclaim_jitter": 0, )"
            R"("concurrency_max": 2, "key_concurrency_max": 1})");
  director_.run(R"(select millrace.set_limit('p', 'e', '{"concurrent_requests": 1, )"
                R"("requests_per_minute": null, "breaker_threshold": 100}'))");
  director_.run(R"(select millrace.set_job_type('work', '{"queue": "q", "provider": "p:e"}'))");
  director_.run(R"(select millrace.set_job_type('free', '{"queue": "o"}'))");
  set_queue(director_, "l", R"({"backoff_base": 0, "backoff_cap": 0, "reclaim_jitter": 0})");
  director_.run(R"(select millrace.set_job_type('plain', '{"queue": "l"}'))");
  director_.run(R"(select millrace.set_limit('p', 'two', '{"concurrent_requests": 2, )"
                R"("requests_per_minute": null, "breaker_threshold": 100}'))");
  set_queue(director_, "m", R"({"backoff_base": 0, "backoff_cap": 0, "reclaim_jitter": 0})");
  director_.run(R"(select millrace.set_job_type('bound', '{"queue": "m", "provider": "p:two"}'))");
  stage_.keep("empty");
  for (const auto name : kWorlds) {
    stage_.set("empty");
    worlds_.emplace(name, build(name));
    stage_.keep(name);
  }
}

std::string Lane::enqueue(const std::string& type, const std::string& options) {
  return director_.value("select millrace.enqueue_job($1, '{\"n\": 1}', $2::jsonb)",
                         pg::params(type, options));
}

// J and its neighbours, before anything has happened to them.
std::string Lane::enqueue_world(std::string_view name) {
  const std::string limits =
      fmt::format(R"("max_attempts": {}, "run_timeout_seconds": 60)", name == "last" ? 1 : 5);
  if (in_lane(name)) {
    const std::string type = name.starts_with("limited") ? "bound" : "plain";
    auto job = enqueue(type, R"({"job_name": "J"})");
    enqueue(type, R"({"job_name": "K"})");
    return job;
  }
  if (name.starts_with("shared")) {
    auto job = enqueue(
        "free", R"({"job_name": "J", "dedupe_key": "k", "concurrency_key": "c", )" + limits + "}");
    enqueue("free", R"({"job_name": "X", "concurrency_key": "c"})");
    enqueue("free", R"({"job_name": "Y"})");
    enqueue("free", R"({"job_name": "Z"})");
    return job;
  }
  const auto batch = director_.value("select millrace.open_batch('{}')");
  auto job = enqueue("work", R"({"job_name": "J", "dedupe_key": "k", "serial_key": "s", )" +
                                 fmt::format(R"("batch_id": "{}", )", batch) + limits + "}");
  enqueue("work", R"({"job_name": "N", "serial_key": "s"})");
  enqueue(
      "work",
      fmt::format(R"({{"job_name": "D", "after": {{"jobs": ["{}"], "on_failure": "run"}}}})", job));
  director_.run("select millrace.seal_batch($1::uuid)", pg::params(batch));
  director_.run("select millrace_test.settle_down()");
  return job;
}

// The token of J; where it is not held, one that was never given.
std::string Lane::claim_lane(const Worker& worker, std::string_view name) {
  if (name.ends_with("lane")) return "11111111-2222-8333-8444-555500020000";
  auto token = director_.value(
      "select token from millrace.claim_jobs('w', $1::uuid, $2, 10, p_ranges => true) "
      "where job_id is null",
      pg::params(worker.process(), queue_of(name)));
  if (name.ends_with("forsaken")) pass(director_, "31 seconds");
  return token;
}

Lane::World Lane::build(std::string_view name) {
  const auto queue = queue_of(name);
  const auto job = enqueue_world(name);
  Worker worker(director_, "w", R"({"lease_ms": 30000, "supervisor_id": "s"})");
  if (in_lane(name)) return {job, claim_lane(worker, name), worker.process(), queue};
  const auto delivery = worker.take({.queue = queue});
  if (delivery.id != job) throw std::runtime_error("another job came first");
  if (name == "ready" || name == "fading" || name == "shared_ready") {
    worker.settle(delivery, "handback");
  }
  if (name == "reheld") {
    worker.settle(delivery, "handback");
    worker.take({.queue = queue});
  }
  if (name == "waiting") worker.settle(delivery, "retry");
  if (name == "dead") worker.settle(delivery, "permanent");
  if (name == "fading" || name == "lost" || name == "last") pass(director_, "31 seconds");
  for (int i = 0; name == "overdue" && i < 4; ++i) {
    pass(director_, "25 seconds");
    worker.beat();
  }
  director_.run("select millrace_test.settle_down()");
  return {job, delivery.token, worker.process(), queue};
}

std::string Lane::sql_of(std::string_view world, const Transition& transition) const {
  const auto& of = worlds_.find(world)->second;
  std::string sql(transition.sql);
  replace(sql, "@J", of.job);
  replace(sql, "@T", of.token);
  replace(sql, "@P", of.process);
  replace(sql, "@Q", of.queue);
  return sql;
}

void Lane::look(Outcome& outcome) {
  const auto row = director_.rows("select state, wrong from millrace_test.judge()");
  outcome.state = row[0].text(0);
  outcome.wrong = row[0].text(1);
}

std::vector<std::string> Lane::boundaries(std::string_view world, const Transition& a) {
  return stage_.boundaries(world, sql_of(world, a));
}

Outcome Lane::untouched(std::string_view world) {
  stage_.set(world);
  Outcome outcome;
  look(outcome);
  return outcome;
}

Outcome Lane::alone(std::string_view world, const Transition& transition) {
  Outcome outcome;
  outcome.a = stage_.alone(world, sql_of(world, transition));
  look(outcome);
  return outcome;
}

Outcome Lane::outcome_of(Met met) {
  Outcome outcome;
  outcome.a = std::move(met.a);
  outcome.b = std::move(met.b);
  outcome.waited = met.waited;
  look(outcome);
  return outcome;
}

Outcome Lane::in_turn(std::string_view world, const Transition& a, const Transition& b,
                      bool a_first) {
  return outcome_of(stage_.in_turn(world, sql_of(world, a), sql_of(world, b), a_first));
}

Outcome Lane::interleaved(std::string_view world, const Transition& a, const Transition& b,
                          std::size_t boundary) {
  return outcome_of(stage_.interleaved(world, sql_of(world, a), sql_of(world, b), boundary));
}

std::string Lane::drain() { return director_.value("select coalesce(millrace_test.drain(), '')"); }

std::string Lane::repeat(std::string_view world) {
  const auto complete = std::ranges::find(transitions(), "complete", &Transition::name);
  return Stage::run(director_, sql_of(world, *complete));
}

}  // namespace millrace::test
