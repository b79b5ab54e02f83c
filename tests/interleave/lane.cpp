#include "interleave/lane.h"

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

namespace millrace::test {
namespace {

// Only keeps a broken test from hanging.
constexpr std::chrono::seconds kPatience{30};
// How long an answer is waited for before the question whether it can come at all.
constexpr std::chrono::milliseconds kGlance{1};
constexpr const char* kTenant = "00000000-0000-0000-0000-00000000000a";

std::string file(const std::string& name) {
  std::ifstream in(std::string(MILLRACE_INTERLEAVE_DIR) + "/" + name);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + name);
  return text.str();
}

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

Lane::Lane(Functions functions) {
  director_.script(file("stage.sql"));
  director_.script(file("judge.sql"));
  // Planning and compiling anew would take longer than a case.
  for (Session* session : {&director_, &setter_, &a_, &b_}) {
    session->script("set jit = off; set plan_cache_mode = force_generic_plan");
  }
  setter_.run("set session_replication_role = replica");
  install(functions);
  build_worlds();
}

void Lane::install(Functions functions) {
  if (functions == Functions::as_they_are) return;
  // A function that is not volatile sees what its caller's statement sees: it has no boundaries.
  std::vector<FunctionText> texts;
  for (const auto row : director_.rows(
           "select p.proname, pg_get_functiondef(p.oid) from pg_proc p "
           "join pg_language l on l.oid = p.prolang "
           "where p.pronamespace = 'millrace'::regnamespace and l.lanname = 'plpgsql' "
           "and p.provolatile = 'v' and p.prorettype <> 'trigger'::regtype order by 1")) {
    texts.push_back({std::string(row.text(0)), std::string(row.text(1))});
  }
  // The clock stands still, and who calls is a setting: neither is looked up in a table.
  std::set<std::string> looking;
  for (const auto row : director_.rows(
           "select c.relname from pg_class c where c.relnamespace = 'millrace'::regnamespace "
           "and c.relkind in ('r', 'p', 'v') union "
           "select p.proname from pg_proc p where p.pronamespace = 'millrace'::regnamespace "
           "and p.provolatile <> 'i' and p.proname not in ('now', 'new_id', 'caller', 'actor', "
           "'tenant_scope', 'current_tenant', 'current_user_id', 'jwt_claims', 'claimed_tenant', "
           "'uuid_or_null')")) {
    looking.insert(std::string(row.text(0)));
  }
  auto bounded = with_boundaries(texts, looking);
  for (auto& function : bounded.functions) {
    try {
      director_.script(std::move(function.definition));
    } catch (const std::exception& error) {
      throw std::runtime_error(function.name + ": " + error.what());
    }
  }
  before_ = std::move(bounded.before);
}

void Lane::build_worlds() {
  for (Session* session : {&director_, &a_, &b_}) as_tenant(*session, kTenant);
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
  director_.run("select millrace_test.keep('empty')");
  changing_ =
      director_.value("select string_agg('millrace.' || name, ', ') from millrace_test.changing");
  for (const auto name : kWorlds) {
    set("empty");
    worlds_.emplace(name, build(name));
    director_.run(fmt::format("select millrace_test.keep('{}')", name));
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

void Lane::set(std::string_view world) {
  setter_.run(fmt::format("select millrace_test.set_{}()", world));
  // What earlier cases left dead would soon be most of what a scan sees.
  if (++sets_ % 100 == 0) setter_.run("vacuum " + changing_);
}

// A number is the boundary to stop at; until then A holds the lock that the director waits for.
void Lane::stop_at(const std::string& stop) {
  a_.run(
      "select set_config('millrace_test.stop', $1, false), "
      "set_config('millrace_test.passed', '0', false), "
      "set_config('millrace_test.trace', '', false), "
      "case when $1 ~ '^[0-9]+$' then pg_advisory_lock(7079, 1) end",
      pg::params(stop));
}

std::string Lane::run(Session& session, const std::string& sql) {
  const auto result = session.connection().query(sql);
  if (!result) return "error " + result.error().sqlstate;
  return result->empty() ? "nothing" : (*result)[0].opt_text(0).value_or("null");
}

std::future<std::string> Lane::start(Session& session, std::string sql) {
  return std::async(std::launch::async,
                    [this, &session, text = std::move(sql)] { return run(session, text); });
}

std::string Lane::run_to_boundary(std::string_view world, const Transition& a) {
  auto answer = run(a_, sql_of(world, a));
  // Still holding the first lock, it did not come to its boundary.
  const auto held = a_.value(
      "select pg_advisory_unlock(7079, 1) from pg_locks where locktype = 'advisory' "
      "and pid = pg_backend_pid() and classid = 7079 and objid = 1");
  return held == "t" ? "error boundary not reached" : answer;
}

std::vector<std::string> Lane::boundaries(std::string_view world, const Transition& a) {
  set(world);
  stop_at("trace");
  run(a_, sql_of(world, a));
  std::stringstream trace(a_.value("select current_setting('millrace_test.trace')"));
  std::vector<std::string> names;
  for (std::string name; trace >> name;) names.push_back(name);
  return names;
}

void Lane::look(Outcome& outcome) {
  const auto row = director_.rows("select state, wrong from millrace_test.judge()");
  outcome.state = row[0].text(0);
  outcome.wrong = row[0].text(1);
}

Outcome Lane::untouched(std::string_view world) {
  set(world);
  Outcome outcome;
  look(outcome);
  return outcome;
}

Outcome Lane::alone(std::string_view world, const Transition& transition) {
  set(world);
  stop_at("");
  Outcome outcome;
  outcome.a = run(a_, sql_of(world, transition));
  look(outcome);
  return outcome;
}

Outcome Lane::in_turn(std::string_view world, const Transition& a, const Transition& b,
                      bool a_first) {
  set(world);
  stop_at("");
  Outcome outcome;
  if (a_first) outcome.a = run(a_, sql_of(world, a));
  outcome.b = run(b_, sql_of(world, b));
  if (!a_first) outcome.a = run(a_, sql_of(world, a));
  look(outcome);
  return outcome;
}

// Whether B waits for A; false when it has ended.
bool Lane::waits(const std::future<std::string>& b) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (b.wait_for(kGlance) != std::future_status::ready) {
    if (director_.yes("select $1::int = any (pg_blocking_pids($2::int))",
                      pg::params(a_.connection().backend_pid(), b_.connection().backend_pid()))) {
      return true;
    }
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error("B neither ends nor waits for A");
    }
  }
  return false;
}

Outcome Lane::interleaved(std::string_view world, const Transition& a, const Transition& b,
                          std::size_t boundary) {
  set(world);
  Outcome outcome;
  if (boundary == 0) {
    stop_at("");
    must(a_.connection().begin());
    outcome.a = run(a_, sql_of(world, a));
    auto b_answer = start(b_, sql_of(world, b));
    outcome.waited = waits(b_answer);
    const auto committed = a_.connection().commit();
    if (!committed && !outcome.a.starts_with("error")) outcome.a = "error in commit";
    outcome.b = b_answer.get();
  } else {
    director_.run("select pg_advisory_lock(7079, 2)");
    stop_at(std::to_string(boundary));
    auto a_answer = std::async(std::launch::async, [&] { return run_to_boundary(world, a); });
    director_.run("select pg_advisory_lock(7079, 1), pg_advisory_unlock(7079, 1)");
    auto b_answer = start(b_, sql_of(world, b));
    outcome.waited = waits(b_answer);
    director_.run("select pg_advisory_unlock(7079, 2)");
    outcome.a = a_answer.get();
    outcome.b = b_answer.get();
  }
  look(outcome);
  return outcome;
}

std::string Lane::drain() { return director_.value("select coalesce(millrace_test.drain(), '')"); }

std::string Lane::repeat(std::string_view world) {
  const auto complete = std::ranges::find(transitions(), "complete", &Transition::name);
  return run(director_, sql_of(world, *complete));
}

std::string Lane::explain(const std::string& boundary) const {
  const auto colon = boundary.find(':');
  const auto found =
      before_.find({boundary.substr(0, colon), std::stoi(boundary.substr(colon + 1))});
  return found == before_.end() ? "" : found->second;
}

}  // namespace millrace::test
