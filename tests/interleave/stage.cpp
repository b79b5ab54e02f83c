#include "interleave/stage.h"

#include <chrono>
#include <fstream>
#include <sstream>

namespace millrace::test {
namespace {

// Only keeps a broken test from hanging.
constexpr std::chrono::seconds kPatience{30};
// How long an answer is waited for before the question whether it can come at all.
constexpr std::chrono::milliseconds kGlance{1};

std::string file(const std::string& name) {
  std::ifstream in(std::string(MILLRACE_INTERLEAVE_DIR) + "/" + name);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + name);
  return text.str();
}

std::future<std::string> start(Session& session, const std::string& sql) {
  return std::async(std::launch::async, [&session, sql] { return Stage::run(session, sql); });
}

}  // namespace

Stage::Stage(Functions functions, const std::vector<std::string>& scripts,
             const std::set<std::string>& only) {
  director_.script(file("stage.sql"));
  for (const auto& script : scripts) director_.script(file(script));
  // Planning and compiling anew would take longer than a case.
  for (Session* session : {&director_, &setter_, &a_, &b_}) {
    session->script("set jit = off; set plan_cache_mode = force_generic_plan");
  }
  setter_.run("set session_replication_role = replica");
  if (functions == Functions::with_boundaries) install(only);
  changing_ =
      director_.value("select string_agg('millrace.' || name, ', ') from millrace_test.changing");
}

void Stage::install(const std::set<std::string>& only) {
  // A function that is not volatile sees what its caller's statement sees: it has no boundaries.
  std::vector<FunctionText> texts;
  for (const auto row : director_.rows(
           "select p.proname, pg_get_functiondef(p.oid) from pg_proc p "
           "join pg_language l on l.oid = p.prolang "
           "where p.pronamespace = 'millrace'::regnamespace and l.lanname = 'plpgsql' "
           "and p.provolatile = 'v' and p.prorettype <> 'trigger'::regtype order by 1")) {
    std::string name(row.text(0));
    if (!only.empty() && !only.contains(name)) continue;
    texts.push_back({std::move(name), std::string(row.text(1))});
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

void Stage::keep(std::string_view world) {
  director_.run(fmt::format("select millrace_test.keep('{}')", world));
}

void Stage::set(std::string_view world) {
  setter_.run(fmt::format("select millrace_test.set_{}()", world));
  // What earlier cases left dead would soon be most of what a scan sees.
  if (++sets_ % 100 == 0) setter_.run("vacuum " + changing_);
}

// A number is the boundary to stop at; until then A holds the lock that the director waits for.
void Stage::stop_at(const std::string& stop) {
  a_.run(
      "select set_config('millrace_test.stop', $1, false), "
      "set_config('millrace_test.passed', '0', false), "
      "set_config('millrace_test.trace', '', false), "
      "case when $1 ~ '^[0-9]+$' then pg_advisory_lock(7079, 1) end",
      pg::params(stop));
}

std::string Stage::run(Session& session, const std::string& sql) {
  const auto result = session.connection().query(sql);
  if (!result) return "error " + result.error().sqlstate;
  return result->empty() ? "nothing" : (*result)[0].opt_text(0).value_or("null");
}

std::string Stage::run_to_boundary(const std::string& sql) {
  auto answer = run(a_, sql);
  // Still holding the first lock, it did not come to its boundary.
  const auto held = a_.value(
      "select pg_advisory_unlock(7079, 1) from pg_locks where locktype = 'advisory' "
      "and pid = pg_backend_pid() and classid = 7079 and objid = 1");
  return held == "t" ? "error boundary not reached, " + answer : answer;
}

std::vector<std::string> Stage::boundaries(std::string_view world, const std::string& a) {
  set(world);
  stop_at("trace");
  run(a_, a);
  std::stringstream trace(a_.value("select current_setting('millrace_test.trace')"));
  std::vector<std::string> names;
  for (std::string name; trace >> name;) names.push_back(name);
  return names;
}

std::string Stage::alone(std::string_view world, const std::string& a) {
  set(world);
  stop_at("");
  return run(a_, a);
}

Met Stage::in_turn(std::string_view world, const std::string& a, const std::string& b,
                   bool a_first) {
  set(world);
  stop_at("");
  Met met;
  if (a_first) met.a = run(a_, a);
  met.b = run(b_, b);
  if (!a_first) met.a = run(a_, a);
  return met;
}

// Whether B waits for A; false when it has ended.
bool Stage::waits(const std::future<std::string>& b) {
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

Met Stage::interleaved(std::string_view world, const std::string& a, const std::string& b,
                       std::size_t boundary) {
  set(world);
  Met met;
  if (boundary == 0) {
    stop_at("");
    must(a_.connection().begin());
    met.a = run(a_, a);
    auto b_answer = start(b_, b);
    met.waited = waits(b_answer);
    const auto committed = a_.connection().commit();
    if (!committed && !met.a.starts_with("error")) met.a = "error in commit";
    met.b = b_answer.get();
  } else {
    director_.run("select pg_advisory_lock(7079, 2)");
    stop_at(std::to_string(boundary));
    auto a_answer = std::async(std::launch::async, [&] { return run_to_boundary(a); });
    director_.run("select pg_advisory_lock(7079, 1), pg_advisory_unlock(7079, 1)");
    auto b_answer = start(b_, b);
    met.waited = waits(b_answer);
    director_.run("select pg_advisory_unlock(7079, 2)");
    met.a = a_answer.get();
    met.b = b_answer.get();
  }
  return met;
}

std::string Stage::explain(const std::string& boundary) const {
  const auto colon = boundary.find(':');
  const auto found =
      before_.find({boundary.substr(0, colon), std::stoi(boundary.substr(colon + 1))});
  return found == before_.end() ? "" : found->second;
}

}  // namespace millrace::test
